/**
 * What a person who saved a file wants to know: that every peer has the change. One line a change,
 * however many peers there are; a peer that does not answer is said once and then waited for apart, so
 * that it holds up the news of no other change.
 *
 * @module
 */
import { type Clock, systemClock } from "../rollout/clock.ts";
import type { SessionObserver } from "../transport/session.ts";

/** How a change fared with the peers connected. */
export interface Summary {
  readonly acks: number;
  readonly nacks: number;
  /** Pushes whose stream ended before an answer came. */
  readonly lost: number;
  /** Pushes that have gone unanswered for too long; there will be another summary when they no longer are. */
  readonly waiting: number;
  /** Whether this is of those that had been waited for. */
  readonly late: boolean;
  /** From the change noticed to the last answer. Milliseconds. */
  readonly slowest: number;
}

/** How answers are summed up. Times in milliseconds. */
export interface SummaryOptions {
  readonly clock?: Clock;
  /** How long a push may go unanswered before the others are reported without it. Default 10 s. */
  readonly patience?: number;
  /** How long to wait, once all is answered, for pushes of the same change that are still to begin. Default 50 ms. */
  readonly settle?: number;
}

const NONE: Summary = { acks: 0, nacks: 0, lost: 0, waiting: 0, late: false, slowest: 0 };

/** Pushes whose answers are summed up together. */
class Batch {
  /** When each was sent, by peer and type. */
  readonly outstanding = new Map<string, number>();
  summary = NONE;

  /** Counts what became of a push; false if it is not of this batch. */
  settle(push: string, add: Partial<Summary>): boolean {
    if (!this.outstanding.delete(push)) return false;
    const { acks, nacks, lost, slowest } = this.summary;
    this.summary = {
      ...this.summary,
      acks: acks + (add.acks ?? 0),
      nacks: nacks + (add.nacks ?? 0),
      lost: lost + (add.lost ?? 0),
      slowest: Math.max(slowest, add.slowest ?? 0),
    };
    return true;
  }
}

/**
 * Counts answers to pushes that carry a change. `say` is called when all of them have come, and, where
 * one is missing for too long, before that as well. Disposing it ends its timers.
 */
export function summariseAcks(
  say: (summary: Summary) => void,
  options: SummaryOptions = {},
): SessionObserver & Disposable {
  return new AckSummary(say, options);
}

class AckSummary implements SessionObserver, Disposable {
  readonly #say: (summary: Summary) => void;
  readonly #clock: Clock;
  readonly #patience: number;
  readonly #settle: number;
  readonly #end = new AbortController();
  #current = new Batch();
  /** What was too late to be waited for. */
  #late = new Batch();
  /** Types of which a push is on its way, by session. */
  readonly #types = new Map<number, Set<string>>();
  #watching = false;
  #settling = false;

  constructor(say: (summary: Summary) => void, options: SummaryOptions) {
    this.#say = say;
    this.#clock = options.clock ?? systemClock;
    this.#patience = options.patience ?? 10_000;
    this.#settle = options.settle ?? 50;
  }

  opened(): void {}

  cut(): void {}

  paced(): void {}

  overdue(): void {}

  sent: SessionObserver["sent"] = ({ key }, { type }, { change }) => {
    if (!change) return;
    const types = this.#types.get(key) ?? new Set();
    this.#types.set(key, types.add(type));
    const push = nameOf(key, type);
    if (this.#late.outstanding.has(push)) return;
    this.#current.outstanding.delete(push);
    this.#current.outstanding.set(push, this.#clock.now());
    void this.#watch();
  };

  event: SessionObserver["event"] = ({ key }, event, latency = 0) => {
    if (event.kind === "ack") this.#answered(key, event.type, { acks: 1, slowest: latency });
    else if (event.kind === "nack") {
      this.#answered(key, event.type, { nacks: 1, slowest: latency });
    }
  };

  closed: SessionObserver["closed"] = ({ key }) => {
    for (const type of [...this.#types.get(key) ?? []]) this.#answered(key, type, { lost: 1 });
  };

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  #answered(key: number, type: string, add: Partial<Summary>): void {
    const types = this.#types.get(key);
    if (types?.delete(type) !== true) return;
    if (types.size === 0) this.#types.delete(key);
    const push = nameOf(key, type);
    if (this.#current.settle(push, add)) void this.#conclude();
    else if (this.#late.settle(push, add) && this.#late.outstanding.size === 0) {
      this.#say({ ...this.#late.summary, late: true });
      this.#late = new Batch();
    }
  }

  /** Says what there is once nothing is outstanding any more and stays so for a moment. */
  async #conclude(): Promise<void> {
    if (this.#current.outstanding.size > 0 || this.#settling) return;
    this.#settling = true;
    await this.#clock.sleep(this.#settle, this.#end.signal);
    this.#settling = false;
    const { outstanding, summary } = this.#current;
    if (this.#end.signal.aborted || outstanding.size > 0 || summary === NONE) return;
    this.#current = new Batch();
    this.#say(summary);
  }

  /** Sees to it that no push is waited for too long. */
  async #watch(): Promise<void> {
    if (this.#watching) return;
    this.#watching = true;
    const { signal } = this.#end;
    // The first is the oldest: each was put at the end when it was sent.
    for (let [oldest] = this.#current.outstanding.values(); oldest !== undefined;) {
      await this.#clock.sleep(oldest + this.#patience - this.#clock.now(), signal);
      if (signal.aborted) break;
      this.#setAside();
      [oldest] = this.#current.outstanding.values();
    }
    this.#watching = false;
  }

  /** Moves what is too late to where it is waited for apart, and says how things stand. */
  #setAside(): void {
    const { outstanding, summary } = this.#current;
    const before = this.#clock.now() - this.#patience;
    const late = [...outstanding].filter(([, sentAt]) => sentAt <= before);
    if (late.length === 0) return;
    for (const [push, sentAt] of late) {
      outstanding.delete(push);
      this.#late.outstanding.set(push, sentAt);
    }
    this.#current.summary = NONE;
    this.#say({ ...summary, waiting: late.length });
  }
}

function nameOf(key: number, type: string): string {
  return `${key} ${type}`;
}
