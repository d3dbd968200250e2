/**
 * Looks at files again and again. Events of the file system would come sooner, but a FIFO that appears
 * in a watched folder can hold up whoever ends the watch, and certificates and tokens are in no hurry.
 *
 * @module
 */

/** What is watched. */
export interface ContentWatchOptions {
  /** How often it is looked. Milliseconds. */
  readonly poll: number;
  /** Compares contents. Calls do not overlap. Must not reject. */
  readonly look: () => Promise<void>;
}

/** Watches until it is disposed of, which waits for a look under way. */
export class ContentWatch implements AsyncDisposable {
  readonly #options: ContentWatchOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(options: ContentWatchOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Looks now, or once more where it is being looked. Resolves when that is done. */
  look(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#looking !== undefined) this.#again = true;
    this.#looking ??= this.#run();
    return this.#looking;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      await this.#options.look();
    } while (this.#again && !this.#closed);
    this.#looking = undefined;
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.look();
      if (!this.#closed) this.#schedule();
    }, this.#options.poll);
  }
}
