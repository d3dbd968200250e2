/**
 * `envoy` as written → settings, and what is odd about them.
 *
 * @module
 */
import { isLoopback } from "../model/loopback.ts";
import type { Service } from "../model/service.ts";
import type { EnvoySettings } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Problem } from "./problem.ts";
import type { SettingsInput } from "./schema.ts";
import { warning } from "./settings_checks.ts";

/** What Envoys are told. */
export function normaliseEnvoy(
  input: SettingsInput["envoy"],
  fallback?: EnvoySettings,
): EnvoySettings {
  if (input === undefined && fallback !== undefined) return fallback;
  return {
    bind: input?.bind ?? DEFAULTS.envoyBind,
    portOffset: input?.portOffset ?? DEFAULTS.portOffset,
    trustedCa: input?.trustedCa ?? DEFAULTS.trustedCa,
  };
}

/** Largest port. */
const MOST_PORT = 65535;

/** What is to be said of a service in the light of `envoy`; the path starts at the service. */
export interface EnvoyProblem {
  /** Index into the list given. */
  readonly service: number;
  readonly problem: Problem;
}

/** Ports that no listener can have once `portOffset` is added. */
export function checkListenerPorts(
  { portOffset }: EnvoySettings,
  services: readonly Pick<Service, "ports">[],
): EnvoyProblem[] {
  if (portOffset === 0) return [];
  return services.flatMap(({ ports }, service) =>
    ports.flatMap(({ number }, index) => {
      if (number + portOffset <= MOST_PORT) return [];
      const message = `port ${number} and \`envoy.portOffset\` (${portOffset}) come to ` +
        `${number + portOffset}, which is no port: Envoys get no listener for it`;
      const hint = `choose an offset of at most ${MOST_PORT - number}, or another port`;
      const found = warning("config/port-offset", ["ports", index], message, hint);
      return [{ service, problem: found }];
    })
  );
}

/** An Envoy that listens off loopback forwards for everybody. */
export function checkEnvoy(input: SettingsInput["envoy"]): Problem[] {
  const bind = input?.bind;
  if (bind === undefined || isLoopback(bind)) return [];
  const message = `Envoys listen on ${bind}, where other machines may reach them: such an Envoy ` +
    "is an open proxy to every service";
  const hint = "bind to loopback, or let a firewall keep others out";
  return [warning("config/security", ["envoy", "bind"], message, hint)];
}
