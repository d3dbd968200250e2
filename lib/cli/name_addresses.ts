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

/** How names are looked up. */
export interface FindOptions {
  /** Looks one name up; rejects where there is no address. */
  readonly look: (host: string) => Promise<readonly string[]>;
  readonly signal: AbortSignal;
  /** Called before each with how many are looked up or waited for already. */
  readonly onNext: (done: number, all: number) => void;
}

/** Looks each name up, a few at a time, none longer than 10 s. Rejects with the signal's reason alone. */
export async function findAddresses(
  names: Iterable<string>,
  { look, signal, onNext }: FindOptions,
): Promise<FoundAddresses> {
  const left = [...new Set(names)].sort();
  const all = left.length;
  const found = new Map<string, readonly string[]>();
  const failed = new Map<string, string>();
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const host = name;
      onNext(all - left.length - 1, all);
      try {
        const addresses = await new NameLookUp(() => look(host), systemClock).find(signal);
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
