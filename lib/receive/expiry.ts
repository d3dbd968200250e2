/**
 * A time that runs while someone is away.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";

const DAY = 86_400_000;

/** Calls back once a time is over, unless it is stopped before. */
export class Expiry {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #expired: () => void;
  #stop: AbortController | undefined;

  /** `signal` ends it for good. `expired` must not throw. */
  constructor(clock: Clock, signal: AbortSignal, expired: () => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#expired = expired;
  }

  /** Runs until this time (milliseconds since the epoch) in place of any other. */
  start(until: number): void {
    this.stop();
    const stop = this.#stop = new AbortController();
    void this.#run(until, AbortSignal.any([stop.signal, this.#signal]));
  }

  /** Runs no more. */
  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #run(until: number, signal: AbortSignal): Promise<void> {
    // A timer cannot be set for more than 24 days.
    for (let left; (left = until - this.#clock.now()) > 0 && !signal.aborted;) {
      await this.#clock.sleep(Math.min(left, DAY), signal);
    }
    if (!signal.aborted) this.#expired();
  }
}
