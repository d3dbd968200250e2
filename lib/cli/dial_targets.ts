/**
 * Whom we dial, as the transport wants it: nothing left to expand, paths absolute.
 *
 * @module
 */
import { expandDial } from "../config/expand_dial.ts";
import type { Proxy } from "../config/proxy.ts";
import type { DialSettings, PullSettings, SinkSettings } from "../model/settings.ts";
import { basicAuthorization } from "../transport/connect_proxy.ts";
import type { DialTarget } from "../transport/dial_target.ts";
import type { PullTarget } from "../transport/pull_link.ts";
import type { SinkTarget } from "../transport/sink_link.ts";

/** What became of those that are configured. */
export interface Targets<T> {
  readonly targets: readonly T[];
  /** Those that cannot be dialled, and why. */
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
}

/** Sinks, with the environment of this process; `folder`, absolute, is where relative paths start. */
export function sinkTargets(sinks: readonly SinkSettings[], folder: string): Targets<SinkTarget> {
  return targetsOf(sinks, ({ name }) => name, folder, (sink, target) => {
    const { name, heartbeat, collections, wave } = sink;
    return { ...target, name, heartbeat, collections, wave };
  });
}

/** Servers to pull from, likewise. */
export function pullTargets(pulls: readonly PullSettings[], folder: string): Targets<PullTarget> {
  return targetsOf(pulls, ({ url }) => url, folder, ({ url, namespaces }, target) => {
    return { ...target, url, namespaces };
  });
}

function targetsOf<S extends DialSettings, T>(
  all: readonly S[],
  nameOf: (settings: S) => string,
  folder: string,
  make: (settings: S, target: DialTarget) => T,
): Targets<T> {
  const targets: T[] = [];
  const unusable: { name: string; reason: string }[] = [];
  for (const settings of all) {
    const expanded = expandDial(settings, { folder });
    if (!expanded.ok) {
      unusable.push({ name: nameOf(settings), reason: `${expanded.message}; ${expanded.hint}` });
      continue;
    }
    const { proxy, ...dial } = expanded.dial;
    targets.push(make(settings, proxy === undefined ? dial : { ...dial, proxy: proxyOf(proxy) }));
  }
  return { targets, unusable };
}

/** A proxy as it is dialled: with what it is asked with, where it wants credentials. */
export function proxyOf({ host, port, credentials }: Proxy): NonNullable<DialTarget["proxy"]> {
  if (credentials === undefined) return { host, port };
  return { host, port, authorization: basicAuthorization(credentials.user, credentials.password) };
}
