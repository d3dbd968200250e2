/**
 * Notices that the configuration may have changed. Events of the file system are taken as hints, of
 * whatever kind; where they fail to come, polling by content makes up for them.
 *
 * @module
 */
import { findWatchTargets, type WatchTargets } from "./watch_targets.ts";

/** What is used of a `Deno.FsWatcher`. */
export interface FsEvents extends AsyncIterable<{ readonly paths: readonly string[] }> {
  close(): void;
  /** Whether events come from now on; false once it is clear that none will. Absent: they do at once. */
  readonly ready?: Promise<boolean>;
}

/** When changes are reported. Milliseconds. */
export interface WatchTimes {
  /** A change is reported when nothing more has happened for this long. */
  readonly quiet: number;
  /** But never later than this. */
  readonly max: number;
  /** How often `probe` is asked. */
  readonly poll: number;
}

/** How a configuration is watched. */
export interface WatcherOptions extends WatchTimes {
  /**
   * Something may have changed; `since` is when it was first seen, in milliseconds since the epoch.
   * Calls do not overlap.
   */
  readonly onChange: (since: number) => Promise<void> | void;
  /** Whether there is a change to be loaded. Without it every poll is a change. */
  readonly probe?: () => Promise<boolean>;
  /** Events are not to be had, for example since the system's watches are used up, or a call back failed; polling goes on. */
  readonly onError?: (error: unknown) => void;
  /**
   * Where events come from, each folder for itself: `watchInWorker`. Never `Deno.watchFs` in this
   * thread, whose closing never ends where a FIFO appeared in a folder.
   */
  readonly watchFs: (folders: string[]) => FsEvents;
}

/** Events that fail again and again are tried at least this often. Milliseconds. */
const MAX_REST = 600_000;

/** Watches a configuration. Nothing happens before {@link ConfigWatcher.update}. */
export class ConfigWatcher implements AsyncDisposable {
  readonly #options: WatcherOptions;
  #times: WatchTimes;
  #paths: readonly string[] = [];
  #events: FsEvents | undefined;
  #identity = "";
  #error = "";
  /** How often events failed since any came; the next attempt has to wait the longer. */
  #failures = 0;
  #failedAt = 0;
  #pollTimer: ReturnType<typeof setTimeout> | undefined;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the change that is waiting was first seen; undefined: none is. */
  #since: number | undefined;
  #isRunning = false;
  #isDue = false;
  #isClosed = false;
  /** Everything that still runs; each ends by itself. */
  readonly #tasks = new Set<Promise<void>>();
  #arming: Promise<void> = Promise.resolve();

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#times = options;
  }

  /** What to watch from now on: files and folders, absolute, whether they exist or not. */
  update(paths: readonly string[], times?: WatchTimes): void {
    if (this.#isClosed) return;
    this.#paths = paths;
    if (times !== undefined) this.#times = times;
    this.#schedulePoll();
    this.#arm();
  }

  /** Ends watching; waits for a call of `onChange` that is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#pollTimer);
    clearTimeout(this.#quietTimer);
    this.#disarm();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  /** Sets up events anew where folders are others than before. */
  #arm(): void {
    this.#arming = this.#arming.then(async () => {
      const targets = await findWatchTargets(this.#paths);
      const isArmed = this.#events !== undefined && targets.identity === this.#identity;
      if (this.#isClosed || isArmed || this.#isResting(targets)) return;
      this.#disarm();
      // Whatever happened until now came without an event.
      if (await this.#open(targets) && await this.#hasChanged()) this.#notice();
    });
    this.#track(this.#arming);
  }

  /** Gives whether events come from now on. */
  async #open({ folders, identity, concerns }: WatchTargets): Promise<boolean> {
    this.#identity = identity;
    try {
      const events: FsEvents = this.#options.watchFs([...folders]);
      this.#events = events;
      this.#track(this.#follow(events, concerns));
      if (!(await (events.ready ?? true)) || this.#events !== events) return false;
      this.#error = "";
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** Events failed: the first time they are tried again at the next poll, then more and more rarely. */
  #fail(error: unknown): void {
    this.#report(error);
    this.#failures++;
    this.#failedAt = performance.now();
  }

  /** Whether it is too early to try events again; other folders are always worth it. */
  #isResting({ identity }: WatchTargets): boolean {
    if (this.#failures === 0 || identity !== this.#identity) return false;
    const wait = Math.min((2 ** (this.#failures - 1) - 1) * this.#times.poll, MAX_REST);
    return performance.now() - this.#failedAt < wait;
  }

  #disarm(): void {
    const events = this.#events;
    this.#events = undefined;
    try {
      events?.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // it has ended by itself
    }
  }

  async #follow(events: FsEvents, concerns: WatchTargets["concerns"]): Promise<void> {
    try {
      for await (const { paths } of events) {
        if (this.#events !== events) return;
        this.#failures = 0;
        // An event without a path says that events were lost.
        if (paths.length === 0 || paths.some(concerns)) this.#notice();
      }
    } catch (error) {
      if (this.#events === events) this.#fail(error);
    }
    if (this.#events === events) this.#events = undefined; // the next poll opens others
  }

  /** Once for each kind of error, not at every poll. */
  #report(error: unknown): void {
    const text = String(error);
    // What is called back fails as a matter of course once everything is being closed.
    if (this.#isClosed || text === this.#error) return;
    this.#error = text;
    this.#options.onError?.(error);
  }

  #schedulePoll(): void {
    clearTimeout(this.#pollTimer);
    if (this.#isClosed) return;
    this.#pollTimer = setTimeout(() => this.#track(this.#poll()), this.#times.poll);
  }

  async #poll(): Promise<void> {
    this.#arm();
    // What waits is reported anyway.
    if (this.#since === undefined && !this.#isRunning && await this.#hasChanged()) {
      // No event told of it, so none may come any more: others are opened when it has been reported.
      if (this.#since === undefined) this.#disarm();
      this.#notice();
    }
    this.#schedulePoll();
  }

  async #hasChanged(): Promise<boolean> {
    const { probe } = this.#options;
    try {
      return probe === undefined || await probe();
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  /** Something may have changed: waits until it is quiet, then reports. */
  #notice(): void {
    if (this.#isClosed) return;
    const now = Date.now();
    this.#since ??= now;
    const { quiet, max } = this.#times;
    const wait = Math.max(0, Math.min(quiet, this.#since + max - now));
    clearTimeout(this.#quietTimer);
    this.#quietTimer = setTimeout(() => this.#fire(), wait);
  }

  #fire(): void {
    if (this.#isRunning) this.#isDue = true;
    else this.#track(this.#run());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do {
      this.#isDue = false;
      const since = this.#since ?? Date.now();
      this.#since = undefined;
      try {
        await this.#options.onChange(since);
      } catch (error) {
        this.#report(error);
      }
    } while (this.#isDue && !this.#isClosed);
    this.#isRunning = false;
    this.#arm();
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task);
    task.finally(() => this.#tasks.delete(task));
  }
}
