/**
 * Keeps a noisy event from filling the log.
 *
 * @module
 */

/** How much is let through. */
export interface ThrottleOptions {
  /** One event a key is let through in this time. Milliseconds. */
  readonly period: number;
  /** Keys remembered; the one longest unheard of is forgotten first. Default 1,000. */
  readonly keys?: number;
  /** The clock, in milliseconds. Default: a monotonic one. */
  readonly now?: () => number;
}

interface Entry {
  readonly since: number;
  suppressed: number;
}

/** Lets one event a key through in each period and counts the others. */
export class Throttle {
  readonly #entries = new Map<string, Entry>();
  readonly #period: number;
  readonly #keys: number;
  readonly #now: () => number;

  constructor(options: ThrottleOptions) {
    this.#period = options.period;
    this.#keys = options.keys ?? 1_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Calls `say` if this key's turn has come, with the number of events that went unsaid since it was
   * last called.
   */
  run(key: string, say: (suppressed: number) => void): void {
    const now = this.#now();
    const entry = this.#entries.get(key);
    if (entry !== undefined && now - entry.since < this.#period) {
      entry.suppressed++;
      return;
    }
    this.#entries.delete(key);
    this.#entries.set(key, { since: now, suppressed: 0 });
    if (this.#entries.size > this.#keys) {
      this.#entries.delete(this.#entries.keys().next().value!);
    }
    say(entry?.suppressed ?? 0);
  }

  /** Keys remembered. */
  get size(): number {
    return this.#entries.size;
  }
}
