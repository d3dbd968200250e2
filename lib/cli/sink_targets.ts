/**
 * Sinks as the dialer wants them: variables expanded, addresses taken apart.
 *
 * @module
 */
import { parseHostPort } from "../config/address.ts";
import { expand } from "../config/expand.ts";
import type { SinkSettings } from "../model/settings.ts";
import type { SinkTarget } from "../transport/sink_link.ts";

/** What became of the configured sinks. */
export interface SinkTargets {
  readonly targets: readonly SinkTarget[];
  /** Sinks that cannot be dialled, and why. */
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
}

/** Expands the sinks of a configuration with the environment of this process. */
export function sinkTargets(sinks: readonly SinkSettings[]): SinkTargets {
  const targets: SinkTarget[] = [];
  const unusable: { name: string; reason: string }[] = [];
  for (const sink of sinks) {
    const target = targetOf(sink);
    if (typeof target === "string") unusable.push({ name: sink.name, reason: target });
    else targets.push(target);
  }
  return { targets, unusable };
}

function targetOf({ name, address, headers, heartbeat }: SinkSettings): SinkTarget | string {
  const expanded: Record<string, string> = {};
  for (const [key, value] of Object.entries({ ...headers, "": address })) {
    const expansion = expand(value);
    if (!expansion.ok) return `${expansion.message}; ${expansion.hint}`;
    expanded[key] = expansion.text;
  }
  const { "": at, ...plain } = expanded;
  const place = parseHostPort(at!);
  if (place === undefined) return `${at} is not host:port`;
  return { name, ...place, headers: plain, heartbeat };
}
