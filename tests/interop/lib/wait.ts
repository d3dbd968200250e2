/**
 * Waiting for what a test expects, on machines that may be slow: always for a condition, never for a
 * time, and with a deadline that says what was seen last.
 *
 * @module
 */

/** How long to wait unless a test says otherwise. Generous: it passes only where something is broken. Milliseconds. */
export const DEADLINE = 60_000;

/** How to wait. Milliseconds. */
export interface WaitOptions {
  readonly deadline?: number;
  readonly every?: number;
}

/** A condition did not come true in time. */
export class WaitError extends Error {
  override readonly name = "WaitError";
}

/** Thrown by an attempt that no other can follow: waiting ends at once. */
export class HopelessError extends Error {
  override readonly name = "HopelessError";
}

/**
 * Calls `attempt` until it neither throws nor gives undefined or false, and gives what it gave. Rejects
 * with a {@link WaitError}, whose cause is what the last attempt threw, once the deadline is over, or
 * with a {@link HopelessError} that it threw.
 */
export async function until<T>(
  what: string,
  attempt: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const { deadline = DEADLINE, every = 50 } = options;
  const end = performance.now() + deadline;
  while (true) {
    let cause: unknown;
    try {
      const value = await attempt();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      if (error instanceof HopelessError) throw error;
      cause = error;
    }
    if (performance.now() >= end) {
      const seen = cause === undefined ? "" : `; last: ${describe(cause)}`;
      throw new WaitError(`waited ${deadline} ms in vain: ${what}${seen}`, { cause });
    }
    await pause(every);
  }
}

/** Resolves after that many milliseconds. Proves nothing; only for pacing and for watching that nothing happens. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
