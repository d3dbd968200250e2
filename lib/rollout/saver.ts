/**
 * Saves snapshots one after the other, the newest only, and goes on trying while it fails; nobody
 * waits for it longer than they say.
 *
 * @module
 */
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { SaveReport, SnapshotStore } from "../snapshot/store.ts";
import type { Clock } from "./clock.ts";

/** Pause after the first failure, doubled at each further one up to `max`. Milliseconds. */
const RETRY = { first: 1_000, max: 60_000 };

/** How long a last save may take at the end. Milliseconds. */
const CLOSE_WITHIN = 2_000;

/** What came of a save in the time it was given. `slow`: it is still running, or waits behind one that is. */
export type SaveOutcome = "saved" | "failed" | "slow";

/** How saving stands. Times in milliseconds since the epoch. */
export interface SaverStatus {
  /** The newest snapshot known to be in the store. */
  readonly saved?: { readonly id: string; readonly at: number };
  /** The save that runs. */
  readonly running?: { readonly id: string; readonly since: number };
  /** Failures without a success since the first of them. */
  readonly failing?: {
    readonly since: number;
    readonly failures: number;
    readonly message: string;
    /** When the next try is due, if none runs. */
    readonly retryAt?: number;
  };
}

/** Told what saving comes to. Must not throw. */
export interface SaverHooks {
  saved(id: string, report: SaveReport & { readonly ms: number }): void;
  saveFailed(id: string, error: unknown, failing: NonNullable<SaverStatus["failing"]>): void;
}

interface Job {
  readonly snapshot: Snapshot;
  readonly settle: (outcome: SaveOutcome) => void;
}

/** Saves the newest snapshot asked for. At most one save runs, at most one waits. */
export class Saver implements AsyncDisposable {
  readonly #store: SnapshotStore;
  readonly #clock: Clock;
  readonly #hooks: SaverHooks;
  readonly #end = new AbortController();
  #wake = new AbortController();
  #closing = false;
  /** Newest snapshot that is not saved; stays while its save runs. */
  #wanted: Job | undefined;
  #looping = false;
  #loop = Promise.resolve();
  #status: SaverStatus = {};

  constructor(store: SnapshotStore, clock: Clock, hooks: SaverHooks) {
    this.#store = store;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** How saving stands. */
  get status(): SaverStatus {
    return this.#status;
  }

  /** Takes note of what is in the store already. */
  note(id: string, at: number): void {
    this.#status = { ...this.#status, saved: { id, at } };
  }

  /** Saves the snapshot in place of any that waits; what has come of it after `budget` milliseconds at most. */
  async save(snapshot: Snapshot, budget: number): Promise<SaveOutcome> {
    const { promise, resolve } = Promise.withResolvers<SaveOutcome>();
    this.#wanted = { snapshot, settle: resolve };
    this.#wake.abort();
    if (!this.#looping) this.#loop = this.#run();
    const done = new AbortController();
    const late = this.#clock.sleep(budget, done.signal).then((): SaveOutcome => "slow");
    const outcome = await Promise.race([promise, late]);
    done.abort();
    return outcome;
  }

  async #run(): Promise<void> {
    this.#looping = true;
    while (this.#wanted !== undefined && !this.#end.signal.aborted) {
      const job = this.#wanted;
      const outcome = await this.#try(job);
      if (outcome === "saved" && this.#wanted === job) this.#wanted = undefined;
      job.settle(outcome);
      if (outcome === "saved" || this.#wanted !== job) continue;
      if (this.#closing) break;
      await this.#pause();
    }
    this.#looping = false;
  }

  async #try({ snapshot }: Job): Promise<SaveOutcome> {
    const since = this.#clock.now();
    const { failing, saved } = this.#status;
    const before = { ...(saved && { saved }), ...(failing && { failing: noRetry(failing) }) };
    this.#status = { ...before, running: { id: snapshot.id, since } };
    try {
      const report = await this.#store.save(snapshot, { signal: this.#end.signal });
      const at = this.#clock.now();
      this.#status = { saved: { id: snapshot.id, at } };
      this.#hooks.saved(snapshot.id, { ...report, ms: at - since });
      return "saved";
    } catch (error) {
      if (!this.#end.signal.aborted) this.#fail(snapshot, error, before);
      return "failed";
    }
  }

  #fail(snapshot: Snapshot, error: unknown, before: SaverStatus): void {
    const failures = (before.failing?.failures ?? 0) + 1;
    const now = this.#clock.now();
    const failing = {
      since: before.failing?.since ?? now,
      failures,
      message: error instanceof Error ? error.message : String(error),
      retryAt: now + backoff(failures),
    };
    this.#status = { ...before, failing };
    this.#hooks.saveFailed(snapshot.id, error, failing);
  }

  /** Waits for the next try; a newer snapshot, or the end, cuts it short. */
  async #pause(): Promise<void> {
    this.#wake = new AbortController();
    await this.#clock.sleep(backoff(this.#status.failing?.failures ?? 1), this.#wake.signal);
  }

  /** Tries what is not saved once more, for 2 s at most; then gives up. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    this.#wake.abort();
    const done = new AbortController();
    await Promise.race([this.#loop, this.#clock.sleep(CLOSE_WITHIN, done.signal)]);
    done.abort();
    this.#end.abort(new DOMException("the program ends", "AbortError"));
  }
}

function noRetry(
  { since, failures, message }: NonNullable<SaverStatus["failing"]>,
): NonNullable<SaverStatus["failing"]> {
  return { since, failures, message };
}

function backoff(failures: number): number {
  return Math.min(RETRY.max, RETRY.first * 2 ** Math.min(failures - 1, 16));
}
