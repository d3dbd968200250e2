/**
 * Collections that a source does not have, as it showed by ending its stream at them.
 *
 * @module
 */

/** One is asked for again after this time: the source may have learned it since. Milliseconds. */
const FORGET_AFTER = 3_600_000;

/** Remembers collections for an hour. */
export class NotAskedFor {
  readonly #now: () => number;
  readonly #since = new Map<string, number>();

  /** `now`: milliseconds; only differences count. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The source ended a stream at this collection. */
  add(type: string): void {
    this.#since.set(type, this.#now());
  }

  /** Those not to be asked for now. */
  list(): ReadonlySet<string> {
    const now = this.#now();
    for (const [type, at] of this.#since) if (now - at >= FORGET_AFTER) this.#since.delete(type);
    return new Set(this.#since.keys());
  }
}
