/**
 * How many files and sockets this process may have open.
 *
 * @module
 */

/**
 * Room left for everything that is no connection of a peer: share of the limit, and at least so many.
 * The runtime accepts up to 128 at once before any of them can be turned away.
 */
const [RESERVE, LEAST_RESERVE] = [0.1, 128 + 64];

/** A cap is never below this, whatever the limit. */
const LEAST_CAP = 16;

/**
 * How many connections may be accepted at most so that the process does not run out of files. Infinity
 * where the limit is not known: reading it takes all permissions, and Linux.
 */
export function connectionsThatFit(limits: () => string = readLimits): number {
  const limit = openFiles(limits);
  if (limit === Infinity) return Infinity;
  return Math.max(LEAST_CAP, Math.floor(limit - Math.max(LEAST_RESERVE, limit * RESERVE)));
}

function openFiles(limits: () => string): number {
  let text: string;
  try {
    text = limits();
  } catch {
    return Infinity;
  }
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  return soft === undefined || soft === "unlimited" ? Infinity : Number(soft);
}

function readLimits(): string {
  return Deno.readTextFileSync("/proc/self/limits");
}
