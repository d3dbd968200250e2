/**
 * What is remembered of a source that dials us from one of its streams to the next.
 *
 * @module
 */
import { DIAL_BACKOFF } from "./backoff.ts";
import { Retries } from "./pace.ts";

/** After so many streams in a row that ended at the same collection it is not asked for again. */
const STREAMS_LOST = 3;

/** So often a stream from elsewhere may take the place of a live one within {@link CONTESTED_FOR}: a source that lost its network may. */
const MOST_TAKEOVERS = 5;

/** Milliseconds. */
const CONTESTED_FOR = 60_000;

/** A collection at which the source ended its streams is asked for again after this time, where other causes are as likely. Milliseconds. */
const DOUBTED_FOR = 60_000;

/** The same where nothing else can have been the cause, or where it happened again and again. */
const SURE_FOR = 3_600_000;

/** How a stream ended. */
export interface StreamEnd {
  /** Whether the source ended it, and had not answered about every collection that it was asked for. */
  readonly abrupt: boolean;
  /** Where the source ended it soon after it was asked for one collection: that one, not answered. */
  readonly unanswered?: string;
}

/** What is remembered of one source. Times in milliseconds of the caller's clock. */
export class SourceMemory {
  /** Its attempts to have saved what could not be. */
  readonly unsaved: Retries = new Retries(DIAL_BACKOFF);
  /** Whether its name was proved once. */
  proven = false;
  #address: string | undefined;
  /** The collection at which its last streams ended, and how many did. */
  #lost: { readonly collection: string; readonly times: number } | undefined;
  /** Streams in a row that the source ended before it had answered everything. */
  #abrupt = 0;
  /** Collections that it may not serve. */
  readonly #doubts = new Map<string, Doubt>();
  #takeovers: readonly number[] = [];
  #turnedAway = -Infinity;

  /** Whether to ask for one collection at a time: the source has ended its last streams without answering all. */
  get cautious(): boolean {
    return this.#abrupt >= STREAMS_LOST;
  }

  /** Collections not to ask for before these times. */
  get skip(): ReadonlyMap<string, number> {
    return new Map([...this.#doubts].map(([collection, { until }]) => [collection, until]));
  }

  /** The source has answered about a collection, so it serves that. */
  answered(collection: string): void {
    this.#doubts.delete(collection);
  }

  /** A stream is over. */
  end({ abrupt, unanswered }: StreamEnd, now: number): void {
    this.#abrupt = abrupt ? this.#abrupt + 1 : 0;
    if (unanswered === undefined) this.#lost = undefined;
    else if (this.#doubts.has(unanswered)) { // it was asked for again
      this.#lost = undefined;
      this.#doubt(unanswered, now);
    } else {
      const times = this.#lost?.collection === unanswered ? this.#lost.times + 1 : 1;
      this.#lost = { collection: unanswered, times };
    }
  }

  /**
   * A stream is opened from this address and port: its last streams may tell of a collection that the
   * source does not serve. Istio's own library gives a stream up at one, without a word where it
   * dialled; but its next stream comes by the same connection, as it would not had the network failed.
   */
  learn(address: string, now: number): void {
    const same = this.#address === address;
    this.#address = address;
    const lost = this.#lost;
    if (lost === undefined || (!same && lost.times < STREAMS_LOST)) return;
    this.#lost = undefined;
    this.#doubt(lost.collection, now, same ? SURE_FOR : DOUBTED_FOR);
  }

  /**
   * Whether a stream from elsewhere may take the place of the live one: not where two sources of one
   * name have kept doing that to each other, and then not as long as it keeps trying.
   */
  takesOver(now: number): boolean {
    this.#takeovers = this.#takeovers.filter((at) => now - at < CONTESTED_FOR);
    if (this.#takeovers.length >= MOST_TAKEOVERS || now - this.#turnedAway < CONTESTED_FOR) {
      this.#turnedAway = now;
      return false;
    }
    this.#takeovers = [...this.#takeovers, now];
    return true;
  }

  /** Each time the doubt lasts twice as long. */
  #doubt(collection: string, now: number, least = DOUBTED_FOR): void {
    const before = this.#doubts.get(collection)?.lasts ?? 0;
    const lasts = Math.min(SURE_FOR, Math.max(least, 2 * before));
    this.#doubts.set(collection, { until: now + lasts, lasts });
  }
}

interface Doubt {
  readonly until: number;
  /** Milliseconds. */
  readonly lasts: number;
}
