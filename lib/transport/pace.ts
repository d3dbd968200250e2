/**
 * Keeps two sides from spinning: of what happens again and again, each next time comes later.
 *
 * @module
 */
import { type Backoff, backoffDelay } from "./backoff.ts";

/** Paces one thing that should not happen often. The clock is the caller's. */
export class Pace {
  readonly #bounds: Backoff;
  #times = 0;
  #last = -Infinity;

  constructor(bounds: Backoff) {
    this.#bounds = bounds;
  }

  /**
   * How long to wait before it may happen now, in milliseconds: the first time not at all, and from
   * then on ever longer after the time before. After a quiet time it is the first time again.
   */
  delay(now: number): number {
    const { most } = this.#bounds;
    if (now - this.#last > 2 * most) this.#times = 0;
    const pause = this.#times === 0 ? 0 : backoffDelay(this.#times, 0, this.#bounds);
    const at = this.#times === 0 ? now : Math.max(now, this.#last + pause);
    this.#times++;
    this.#last = at;
    return at - now;
  }

  /** The next time is the first. */
  reset(): void {
    this.#times = 0;
  }
}

/** Counts attempts that failed, each of which makes the pause before the next longer. The clock is the caller's. */
export class Retries {
  readonly #bounds: Backoff;
  #failed = 0;
  #last = -Infinity;

  constructor(bounds: Backoff) {
    this.#bounds = bounds;
  }

  /** An attempt failed now; gives the pause before the next, in milliseconds. After a quiet time it is the first again. */
  fail(now: number): number {
    if (now - this.#last > 2 * this.#bounds.most) this.#failed = 0;
    this.#last = now;
    return backoffDelay(++this.#failed, 0, this.#bounds);
  }
}
