/**
 * Saves the set of one source, the newest only, one save after the other.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import type { SourceSet } from "./received.ts";

/** How long after a failure it is tried again, if nothing new comes before. Milliseconds. */
const RETRY = 30_000;

/** What a saver works with. */
export interface SetSaverOptions {
  /** What is in the store already. */
  readonly saved: SourceSet;
  readonly clock: Clock;
  /** Ends waiting for another try. */
  readonly signal: AbortSignal;
  /** Saves a set. Rejects where that fails. */
  readonly save: (set: SourceSet) => Promise<void>;
  /** Told of each failure. Must not throw. */
  readonly failed: (error: unknown) => void;
}

/** Saves what it is given last, again and again until it is saved. */
export class SetSaver {
  readonly #options: SetSaverOptions;
  #set: SourceSet;
  #saved: SourceSet;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #error: string | undefined;

  constructor(options: SetSaverOptions) {
    this.#options = options;
    this.#set = this.#saved = options.saved;
  }

  /** Whether this very set was the last to be saved. */
  holds(set: SourceSet): boolean {
    return this.#saved === set;
  }

  /** Why the last save failed; undefined once one succeeds. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Saves the set, or one given later, after a save that runs. Does not reject: see {@link error}. */
  save(set: SourceSet): Promise<void> {
    this.#set = set;
    if (this.#running === undefined) return this.#running = this.#run();
    return this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#running = this.#run();
    });
  }

  /** Resolves when no save runs. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    const set = this.#set;
    try {
      await this.#options.save(set);
      this.#saved = set;
      this.#error = undefined;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
      this.#options.failed(error);
      void this.#again(set);
    }
    this.#running = undefined;
  }

  /** Tries once more after a while, unless something else was to be saved meanwhile. */
  async #again(set: SourceSet): Promise<void> {
    const { clock, signal } = this.#options;
    await clock.sleep(RETRY, signal);
    if (!signal.aborted && this.#set === set && !this.holds(set)) void this.save(set);
  }
}
