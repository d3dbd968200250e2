/**
 * Saves the set of one source, the newest only, one save after the other.
 *
 * @module
 */
import type { SourceSet } from "./received.ts";

/** What a saver works with. */
export interface SetSaverOptions {
  /** Saves a set. Rejects where that fails. */
  readonly save: (set: SourceSet) => Promise<void>;
  /** Told of each failure. Must not throw. */
  readonly failed: (error: unknown) => void;
}

/** Saves what it is given last. */
export class SetSaver {
  readonly #options: SetSaverOptions;
  #set: SourceSet | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #error: string | undefined;

  constructor(options: SetSaverOptions) {
    this.#options = options;
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
    try {
      await this.#options.save(this.#set!);
      this.#error = undefined;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
      this.#options.failed(error);
    }
    this.#running = undefined;
  }
}
