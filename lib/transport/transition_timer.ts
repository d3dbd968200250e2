/**
 * Ends transitions that a client does not answer in time: its routes must not stay old for ever since
 * it refuses a cluster.
 *
 * @module
 */
import type { TransitionStatus } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";

/** How long a client may take from one set of clusters to the next. Milliseconds. */
export const TRANSITION_LIMIT = 10_000;

/** What the timer works with. */
export interface TransitionTimerOptions {
  readonly clock: Clock;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** Ends the transition of this number. Must not throw. */
  readonly expire: (transition: number) => void;
}

/** Watches the transitions of one stream. */
export class TransitionTimer {
  readonly #options: TransitionTimerOptions;
  /** The transition under way and when it began. */
  #current: { readonly number: number; readonly since: number } | undefined;
  #watching = false;

  constructor(options: TransitionTimerOptions) {
    this.#options = options;
  }

  /** When the transition under way began. Milliseconds since the epoch; undefined: none is. */
  get since(): number | undefined {
    return this.#current?.since;
  }

  /** Takes what is under way now. To be called whenever that may have changed. */
  note(transition: TransitionStatus | undefined): void {
    if (transition?.number === this.#current?.number) return;
    this.#current = transition === undefined
      ? undefined
      : { number: transition.number, since: this.#options.clock.now() };
    if (this.#current !== undefined && !this.#watching) void this.#watch();
  }

  /** One sleeper a stream, whatever number of transitions come and go meanwhile. */
  async #watch(): Promise<void> {
    const { clock, signal, expire } = this.#options;
    this.#watching = true;
    while (this.#current !== undefined && !signal.aborted) {
      const { number, since } = this.#current;
      await clock.sleep(since + TRANSITION_LIMIT - clock.now(), signal);
      if (signal.aborted || this.#current?.number !== number) continue;
      this.#current = undefined;
      expire(number);
    }
    this.#watching = false;
  }
}
