/**
 * `envoy` as written → settings, and what is odd about them.
 *
 * @module
 */
import { isLoopback } from "../model/loopback.ts";
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

/** An Envoy that listens off loopback forwards for everybody. */
export function checkEnvoy(input: SettingsInput["envoy"]): Problem[] {
  const bind = input?.bind;
  if (bind === undefined || isLoopback(bind)) return [];
  const message = `Envoys listen on ${bind}, where other machines may reach them: such an Envoy ` +
    "is an open proxy to every service";
  const hint = "bind to loopback, or let a firewall keep others out";
  return [warning("config/security", ["envoy", "bind"], message, hint)];
}
