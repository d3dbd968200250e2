/**
 * How this process reaches those that it dials: the system's look-up of names, and a clock.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import type { LimitSettings } from "../model/settings.ts";
import { dialTarget } from "../transport/dial_target.ts";
import type { Dial } from "../transport/sink_link.ts";

/** The addresses behind a name, as the system finds them. Rejects where it finds none. */
export async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Dials whomever it is told to; `limits` are those of the moment. */
export function dialWith(limits: () => LimitSettings): Dial {
  return (target, address, path, { signal }) =>
    dialTarget(target, address, path, {
      signal,
      now: () => performance.now(),
      maxReceive: limits().message,
    });
}
