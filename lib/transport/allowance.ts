/**
 * A token bucket: how many of something a peer may do at once and per second.
 *
 * @module
 */

/** How many at once, and how many a second after that. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** A bucket of tokens that fills again with time. The clock is the caller's. */
export class Allowance {
  readonly #rate: Rate;
  #tokens: number;
  #at: number | undefined;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** Takes one token; false where there is none. `now` in milliseconds. */
  spend(now: number): boolean {
    const elapsed = Math.max(0, now - (this.#at ?? now));
    this.#at = now;
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + elapsed * perSecond / 1000);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Fills the bucket. */
  refill(): void {
    this.#tokens = this.#rate.burst;
  }
}
