/**
 * News that someone else can bring about as often as he likes: said a few times, then once in a while,
 * and the last of it always, so that what is said last is what holds.
 *
 * @module
 */
import { type Clock, systemClock } from "../rollout/clock.ts";

/** How much is said. */
export interface LatestNewsOptions {
  readonly clock?: Clock;
  /** A topic that was said more than a few times is said once in this time. Milliseconds; default 10 s. */
  readonly period?: number;
  /** Topics told apart at one time; what is beyond is one topic together. Default 2,000. */
  readonly topics?: number;
}

/** So often a topic may be said in one period before it has to wait: coming, going, coming again, going again. */
const AT_ONCE = 4;

/** What is told together where there are too many topics. */
const OTHERS = "";

interface Topic {
  readonly since: number;
  said: number;
  unsaid: number;
  /** Says the newest of what has not been said. */
  latest?: (unsaid: number) => void;
}

/** Says news by topic. Disposing it ends what waits to be said. */
export class LatestNews implements Disposable {
  readonly #clock: Clock;
  readonly #period: number;
  readonly #most: number;
  readonly #end = new AbortController();
  /** In the order of their beginning. */
  readonly #topics = new Map<string, Topic>();

  constructor({ clock = systemClock, period = 10_000, topics = 2000 }: LatestNewsOptions = {}) {
    this.#clock = clock;
    this.#period = period;
    this.#most = topics;
  }

  /**
   * Calls `say` now, or later unless there is newer news of this topic by then; with how much of the
   * topic went unsaid before it. `say` must not throw.
   */
  tell(topic: string, say: (unsaid: number) => void): void {
    const now = this.#clock.now();
    this.#forget(now);
    const key = this.#topics.has(topic) || this.#topics.size < this.#most ? topic : OTHERS;
    const known = this.#topics.get(key) ?? { since: now, said: 0, unsaid: 0 };
    this.#topics.set(key, known);
    if (known.said < AT_ONCE) {
      known.said++;
      return say(0);
    }
    known.latest = say;
    if (++known.unsaid === 1) void this.#sayLater(key, known, now);
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  async #sayLater(key: string, topic: Topic, now: number): Promise<void> {
    const left = topic.since + this.#period - now;
    await this.#clock.sleep(Math.min(left, this.#period), this.#end.signal);
    if (this.#end.signal.aborted) return;
    this.#topics.delete(key);
    this.#topics.set(key, { since: this.#clock.now(), said: AT_ONCE, unsaid: 0 });
    topic.latest?.(topic.unsaid - 1);
  }

  /** Lets go of topics of which nothing was heard for a period, or that are of before the clock was set back. */
  #forget(now: number): void {
    for (const [key, { since, unsaid }] of this.#topics) {
      if (since <= now && now - since < this.#period) return;
      if (unsaid === 0) this.#topics.delete(key);
    }
  }
}
