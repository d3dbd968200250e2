/**
 * Settings as earlier releases stored them, in today's shape.
 *
 * @module
 */
import type { ListenSettings, Settings, SinkSettings } from "../model/settings.ts";

/** What format 2 had: no Envoys. */
type Settings2 = Omit<Settings, "envoy">;

/** What format 1 had: no receiver, no TLS, no rules for peers. */
type Settings1 = Omit<Settings2, "listen" | "sinks" | "peers" | "pull" | "receive"> & {
  readonly listen: readonly Pick<ListenSettings, "address">[];
  readonly sinks: readonly Pick<SinkSettings, "name" | "address" | "headers" | "heartbeat">[];
};

/** Settings of a file of this format, with what was added since as it then was by itself; those of today's format as they are. */
export function upgradeSettings(settings: Settings, format: number): Settings {
  if (format >= 3) return settings;
  return fromFormat2(format === 1 ? fromFormat1(settings as Settings1) : settings);
}

function fromFormat2(settings: Settings2): Settings {
  const trustedCa = "/etc/ssl/certs/ca-certificates.crt";
  return { ...settings, envoy: { bind: "127.0.0.1", portOffset: 0, trustedCa } };
}

function fromFormat1(settings: Settings1): Settings2 {
  return {
    ...settings,
    // Plaintext was all there was, wherever it listened: it goes on to serve those who dial there.
    listen: settings.listen.map((listen) => ({ ...listen, allow: [], insecure: true })),
    sinks: settings.sinks.map((sink) => ({ ...sink, collections: [], wave: 1 })),
    peers: [],
    pull: [],
  };
}
