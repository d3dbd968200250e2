/**
 * Pushes that were good and could not be saved. No source sends again what was refused, whatever the
 * code, as long as the stream lives; all do when they come back. So unless later pushes make up for
 * it, the stream is to end.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import type { Retries } from "./pace.ts";

/** What {@link Unsaved} works with. */
export interface UnsavedOptions {
  readonly clock: Clock;
  /** Makes the source come again ever later; outlives the stream. */
  readonly retries: Retries;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** The stream is to end. */
  readonly end: (reason: string) => void;
}

/** The pushes of one stream that could not be saved. */
export class Unsaved {
  readonly #options: UnsavedOptions;
  readonly #collections = new Set<string>();
  #waiting: AbortController | undefined;

  constructor(options: UnsavedOptions) {
    this.#options = options;
  }

  /** The last push of this collection could not be saved. */
  add(collection: string, why: string): void {
    this.#collections.add(collection);
    if (this.#waiting !== undefined) return;
    const { clock, retries, signal, end } = this.#options;
    this.#waiting = new AbortController();
    const either = AbortSignal.any([this.#waiting.signal, signal]);
    clock.sleep(retries.fail(clock.now()), either).then(() => {
      if (!either.aborted) end(`come again: ${why}`);
    });
  }

  /** The last push of this collection is saved. */
  delete(collection: string): void {
    this.#collections.delete(collection);
    if (this.#collections.size > 0) return;
    this.#waiting?.abort();
    this.#waiting = undefined;
  }
}
