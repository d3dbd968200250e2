/**
 * Who has seen what, among the honest peers of several Pinnaces.
 *
 * @module
 */
import type { Pinnace } from "../interop/lib/pinnace.ts";
import type { Process } from "../interop/lib/process.ts";
import type { Witness } from "./honest_edge.ts";

/** A Pinnace with the honest peers that it serves. */
export interface Served {
  readonly pinnace: Pinnace;
  /** Of the process that must live through it all. */
  readonly pid: number;
  readonly honest: Process;
}

/** How many honest peers there are in such a process. */
export const HONEST_PEERS = 5;

/** Whether it is still the same process. */
export function isAlive({ pinnace, pid }: Served): boolean {
  return pinnace.process.ended === undefined && pinnace.process.pid === pid;
}

/** Reads what all honest peers say they have seen. `all` may grow before anything is asked. */
export function witnessOf(all: readonly Served[]): Witness {
  const seen = new Map<string, number>();
  const read = new Map<Served, number>();
  const missing = (revision: string) => HONEST_PEERS * all.length - (seen.get(revision) ?? 0);
  return {
    haveSeen: (revision) => {
      for (const one of all) {
        const { objects } = one.honest;
        for (const { saw } of objects.slice(read.get(one) ?? 0)) {
          if (typeof saw === "string") seen.set(saw, (seen.get(saw) ?? 0) + 1);
        }
        read.set(one, objects.length);
      }
      return all.length > 0 && missing(revision) <= 0;
    },
    missing,
    alive: () => all.every(isAlive),
  };
}
