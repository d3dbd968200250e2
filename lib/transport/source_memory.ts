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

/** How a stream ended. */
export interface StreamEnd {
  /** Whether the source ended it, and had not answered about every collection that it was asked for. */
  readonly abrupt: boolean;
  /** Where one collection is asked for at a time and the source ended it: the one that was not answered. */
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
  #takeovers: readonly number[] = [];
  #turnedAway = -Infinity;

  /** Whether to ask for one collection at a time: the source has ended its last streams without answering all. */
  get cautious(): boolean {
    return this.#abrupt >= STREAMS_LOST;
  }

  /** A stream is over. */
  end({ abrupt, unanswered }: StreamEnd): void {
    this.#abrupt = abrupt ? this.#abrupt + 1 : 0;
    if (unanswered === undefined) this.#lost = undefined;
    else {
      const times = this.#lost?.collection === unanswered ? this.#lost.times + 1 : 1;
      this.#lost = { collection: unanswered, times };
    }
  }

  /**
   * A stream is opened from this address and port. Gives the collection that the source does not
   * serve, if its last streams tell. Istio's own library gives a stream up at one, without a word
   * where it dialled; but its next stream comes by the same connection, as it would not had the
   * network failed.
   */
  learn(address: string): string | undefined {
    const same = this.#address === address;
    this.#address = address;
    const lost = this.#lost;
    if (lost === undefined || (!same && lost.times < STREAMS_LOST)) return undefined;
    this.#lost = undefined;
    return lost.collection;
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
}
