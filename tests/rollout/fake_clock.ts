/** A clock that stands until it is moved. */
import { setImmediate } from "node:timers";
import type { Clock } from "../../lib/rollout/clock.ts";

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that stands until it is moved. Begins at 1,000,000. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  /** Number of those that wait. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper: Sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", sleeper.wake);
    });
  }

  /** Moves on by `ms`, waking sleepers in their order; each sees the time it asked for. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#sleepers].sort((a, b) => a.until - b.until);
      if (next === undefined || next.until > end) break;
      this.#now = next.until;
      next.wake();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets everything that is ready run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
