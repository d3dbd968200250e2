/**
 * Looks at files again and again, and sooner when the file system says that something happened. Events
 * are hints of whatever kind: a swapped symlink (Kubernetes' `..data`) comes as none in particular.
 *
 * @module
 */

/** What is watched. */
export interface ContentWatchOptions {
  /** Where events may come from; those that do not exist are looked for again at each poll. */
  readonly folders: readonly string[];
  /** How often it is looked without an event. Milliseconds. */
  readonly poll: number;
  /** Compares contents. Calls do not overlap. Must not reject. */
  readonly look: () => Promise<void>;
}

/** After an event it is looked when this much time has passed, since files come in pairs. Milliseconds. */
const QUIET = 100;

/** Watches until it is disposed of, which waits for a look under way. */
export class ContentWatch implements AsyncDisposable {
  readonly #options: ContentWatchOptions;
  readonly #watchers = new Map<string, Deno.FsWatcher>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(options: ContentWatchOptions) {
    this.#options = options;
    this.#arm();
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
    clearTimeout(this.#quiet);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
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
      this.#arm();
      await this.look();
      if (!this.#closed) this.#schedule();
    }, this.#options.poll);
  }

  #arm(): void {
    for (const folder of this.#options.folders) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = Deno.watchFs(folder, { recursive: false });
        this.#watchers.set(folder, watcher);
        void this.#follow(folder, watcher);
      } catch {
        // not there, or the system's watches are used up: polling has to do
      }
    }
  }

  async #follow(folder: string, watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const { kind } of watcher) {
        if (kind === "access") continue; // our own looking
        this.#quiet ??= setTimeout(() => {
          this.#quiet = undefined;
          void this.look();
        }, QUIET);
      }
    } catch {
      // the folder is gone; the next poll arms anew
    }
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
  }
}
