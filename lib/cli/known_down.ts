/**
 * Which of those whom we dial are known not to be reached, so that each is said once.
 *
 * @module
 */

/** Who fails no more, and is not up either, is dialled no more: after this long beyond its next attempt. Milliseconds. */
const FORGET_AFTER = 600_000;

/** Those that are down. Those that nobody dials any more, as replicas that went, are forgotten. */
export class KnownDown {
  readonly #now: () => number;
  /** Until when each is remembered, in the order of their last failures. */
  readonly #until = new Map<string, number>();

  /** `now`: milliseconds, only differences count. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that it was not reached, to be dialled again after `retryInMs`; whether that was known. */
  failed(who: string, retryInMs: number): boolean {
    const now = this.#now();
    for (const [one, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(one);
    }
    const known = this.#until.delete(who);
    this.#until.set(who, now + retryInMs + FORGET_AFTER);
    return known;
  }

  /** It is reached. */
  up(who: string): void {
    this.#until.delete(who);
  }

  /** How many are remembered. */
  get size(): number {
    return this.#until.size;
  }
}
