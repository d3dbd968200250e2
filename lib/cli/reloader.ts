/**
 * Keeps what is published in step with the files: one load at a time, whatever asks for it.
 *
 * @module
 */
import type { ConfigLoader } from "../config/loader.ts";
import type { LoadResult } from "../config/messages.ts";
import type { Finding } from "../model/finding.ts";
import type { Publisher } from "../rollout/publisher.ts";

/** How the last load went, for status and metrics. Times in milliseconds. */
export interface ReloadState {
  /** Since the epoch. */
  readonly at: number;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
}

/** What a reloader works with. */
export interface ReloaderOptions {
  readonly loader: Pick<ConfigLoader, "load">;
  readonly publisher: Pick<Publisher, "take">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of each load, after the publisher took it. Must not throw. */
  readonly onLoaded: (result: LoadResult, state: ReloadState) => void;
}

/** Loads when asked; requests that come while a load runs become one further load. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #state: ReloadState | undefined;
  #lastId = -1;
  /** What last came with line and column. It may overtake the load that it is of. */
  #placed: { readonly id: number; readonly findings: readonly Finding[] } | undefined;
  #running: Promise<void> | undefined;
  #wanted: number | undefined;

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** How the last load went. */
  get state(): ReloadState | undefined {
    return this.#state;
  }

  /**
   * Loads, or makes sure that a load begins after now. `changedAt`: when the change was noticed,
   * milliseconds since the epoch. Rejects with an AbortError when the loader is closed meanwhile.
   */
  reload(changedAt: number): Promise<void> {
    this.#wanted = Math.min(changedAt, this.#wanted ?? changedAt);
    return this.#running ??= this.#run().finally(() => this.#running = undefined);
  }

  /**
   * Takes the findings of a load with line and column. Whether they are of the last load taken; those
   * of one that is still to be taken become part of its state.
   */
  place(id: number, findings: readonly Finding[]): boolean {
    this.#placed = { id, findings };
    if (id !== this.#lastId || this.#state === undefined) return false;
    this.#state = { ...this.#state, findings };
    return true;
  }

  async #run(): Promise<void> {
    while (this.#wanted !== undefined) {
      const changedAt = this.#wanted;
      this.#wanted = undefined;
      const { loader } = this.#options;
      const result = await loader.load();
      try {
        this.#take(result, changedAt);
      } catch (error) {
        // Changes that do not fit what the publisher has: what does not matter then is how that came about.
        if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
        this.#take(await loader.load({ full: true }), changedAt);
      }
    }
  }

  #take(result: LoadResult, changedAt: number): void {
    const { publisher, now, onLoaded } = this.#options;
    publisher.take(result, { changedAt, full: result.full, causes: result.causes });
    this.#lastId = result.id;
    this.#state = {
      at: now(),
      ok: result.ok,
      durationMs: result.stats.totalMs,
      findings: this.#placed?.id === result.id ? this.#placed.findings : result.findings,
    };
    onLoaded(result, this.#state);
  }
}
