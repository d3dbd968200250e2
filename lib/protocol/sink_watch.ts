/**
 * One collection that we ask a source for: its pushes, and the answers that they get in their order.
 *
 * @module
 */
import type { Status } from "../wire/messages.ts";

/** What a push says besides its resources. */
export interface SinkPush {
  /** The collection. */
  readonly type: string;
  readonly nonce: string;
  /** `system_version_info`. */
  readonly version: string;
  readonly incremental: boolean;
}

/** The answer to a push: an ACK, or with `error` a NACK. */
export interface SinkAnswer {
  readonly nonce: string;
  readonly error?: Status;
}

/** What is known of one collection of a stream, for status. */
export interface SinkWatchStatus {
  readonly collection: string;
  /** Whether it was asked for yet. */
  readonly requested: boolean;
  /** Version of the last push that was accepted. */
  readonly version?: string;
  /** Pushes that wait for their answer. */
  readonly unanswered: number;
  readonly acks: number;
  readonly nacks: number;
  readonly lastNack?: string;
  /** When the last push came. Milliseconds since the epoch. */
  readonly lastPushAt?: number;
  /** It is not asked for before this time, since earlier streams ended at it. Milliseconds since the epoch. */
  readonly askedAgainAt?: number;
}

/** Pushes of one collection that may wait for their answers; a source that keeps the protocol has one. */
const MOST_UNANSWERED = 4;

interface Waiting {
  readonly nonce: string;
  readonly version: string;
  /** Whether it is what {@link Watch.wantsAll} asked for. */
  readonly all: boolean;
  answer?: SinkAnswer;
}

/** A collection of one stream. */
export class Watch {
  readonly collection: string;
  /** Whether the request that asks for it was written. */
  asked = false;
  /** Whether all there is was asked for and has not come yet, so that a difference is of no use. */
  wantsAll = false;
  /** In the order in which they came. */
  readonly #waiting: Waiting[] = [];
  #version: string | undefined;
  #acks = 0;
  #nacks = 0;
  #lastNack: string | undefined;
  #lastPushAt: number | undefined;

  constructor(collection: string) {
    this.collection = collection;
  }

  /** Takes a push that came at `at`, in milliseconds since the epoch; false if too many wait already. */
  take({ nonce, version, incremental }: SinkPush, at: number): boolean {
    if (this.#waiting.length >= MOST_UNANSWERED) return false;
    const all = this.wantsAll && !incremental;
    if (all) this.wantsAll = false;
    this.#waiting.push({ nonce, version, all });
    this.#lastPushAt = at;
    return true;
  }

  /** Notes what became of the oldest push with this nonce; false if none is unsettled. */
  settle(nonce: string, error: Status | undefined): boolean {
    const push = this.#waiting.find((one) => one.nonce === nonce && one.answer === undefined);
    if (push === undefined) return false;
    push.answer = error === undefined ? { nonce } : { nonce, error };
    if (error !== undefined && push.all) this.wantsAll = true;
    return true;
  }

  /** Answers whose turn it is. They count as given. */
  answers(): SinkAnswer[] {
    const answers: SinkAnswer[] = [];
    while (this.#waiting[0]?.answer !== undefined) {
      const { answer, version } = this.#waiting.shift()!;
      answers.push(answer!);
      if (answer!.error === undefined) {
        this.#acks++;
        this.#version = version;
      } else {
        this.#nacks++;
        this.#lastNack = answer!.error.message;
      }
    }
    return answers;
  }

  /** What is known of it. */
  status(): SinkWatchStatus {
    return {
      collection: this.collection,
      requested: this.asked,
      ...(this.#version === undefined ? {} : { version: this.#version }),
      unanswered: this.#waiting.length,
      acks: this.#acks,
      nacks: this.#nacks,
      ...(this.#lastNack === undefined ? {} : { lastNack: this.#lastNack }),
      ...(this.#lastPushAt === undefined ? {} : { lastPushAt: this.#lastPushAt }),
    };
  }
}
