/**
 * The addresses of DNS names, looked up once.
 *
 * @module
 */
import { systemClock } from "../rollout/clock.ts";
import { NameLookUp } from "../transport/name_look_up.ts";
import type { Addresses } from "../view/served_service.ts";

/** Look-ups at once. */
const AT_ONCE = 8;

/** What looking names up came to. */
export interface FoundAddresses {
  readonly addresses: Addresses;
  /** By name, why it has no address; in the order of names. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Looks each name up, a few at a time, none longer than 10 s. Rejects with the signal's reason alone. */
export async function findAddresses(
  names: Iterable<string>,
  resolve: (host: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<FoundAddresses> {
  const left = [...new Set(names)].sort();
  const found = new Map<string, readonly string[]>();
  const failed = new Map<string, string>();
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const host = name;
      try {
        const addresses = await new NameLookUp(() => resolve(host), systemClock).find(signal);
        found.set(host, addresses.toSorted());
      } catch (error) {
        signal.throwIfAborted();
        failed.set(host, error instanceof Error ? error.message : String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    addresses: { get: (host) => found.get(host) },
    failures: new Map([...failed].sort(([a], [b]) => a < b ? -1 : 1)),
  };
}
