/**
 * How this process reaches those that it dials: the system's look-up of names, and a clock.
 *
 * @module
 */
import type { LimitSettings } from "../model/settings.ts";
import { dialTarget } from "../transport/dial_target.ts";
import { systemLookUps } from "../transport/shared_look_ups.ts";
import type { Dial } from "../transport/sink_link.ts";

/** The addresses behind a name, as the system finds them; an IP address is its own. Rejects where it finds none. */
export function resolveHost(host: string): Promise<readonly string[]> {
  return systemLookUps.find(host);
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
