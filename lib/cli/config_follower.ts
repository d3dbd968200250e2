/**
 * Follows the files of the configuration: loads them in a worker when they change, hands what changed
 * to the publisher, and says what is wrong with them.
 *
 * @module
 */
import { ConfigLoader } from "../config/loader.ts";
import type { LoadResult, Seed } from "../config/messages.ts";
import { ConfigWatcher, type WatchTimes } from "../config/watch.ts";
import { watchInWorker } from "../config/watch_worker.ts";
import { explain, type Log } from "../log.ts";
import type { Settings } from "../model/settings.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Publisher } from "../rollout/publisher.ts";
import { FindingLog } from "./finding_log.ts";
import { logLoad } from "./load_log.ts";
import { Reloader, type ReloadState } from "./reloader.ts";
import type { WorkerRole } from "./worker.ts";

/** What following works with. */
export interface ConfigFollowerOptions {
  /** File or folder, absolute. */
  readonly config: string;
  readonly workerUrl: string;
  readonly log: Log;
  readonly publisher: Publisher;
  /** What is published, as the last good configuration. */
  readonly seed: () => Seed | undefined;
  /** Settings in effect; undefined before any are. */
  readonly settings: () => Settings | undefined;
  /** Whether anything is published. */
  readonly serving: () => boolean;
  /** Told of each load. Must not throw. */
  readonly loaded: (ok: boolean) => void;
}

/** Until the configuration says otherwise. */
const FIRST_TIMES: WatchTimes = { quiet: 100, max: 1000, poll: 5000 };

/** Keeps the publisher in step with the files. Nothing happens before the first load. Disposing it ends its workers. */
export class ConfigFollower implements AsyncDisposable {
  readonly #options: ConfigFollowerOptions;
  readonly #loader: ConfigLoader;
  readonly #reloader: Reloader;
  readonly #watcher: ConfigWatcher;
  readonly #findings: FindingLog;

  constructor(options: ConfigFollowerOptions) {
    this.#options = options;
    const { config, log, publisher, seed } = options;
    this.#findings = new FindingLog(log);
    this.#loader = new ConfigLoader({
      config,
      createWorker: () => this.#worker("load"),
      seed,
      onPositions: ({ id, findings }) => {
        if (this.#reloader.place(id, findings)) this.#findings.say(findings);
      },
    });
    this.#reloader = new Reloader({
      loader: this.#loader,
      publisher,
      now: systemClock.now,
      onLoaded: (result, state) => this.#loaded(result, state),
    });
    this.#watcher = new ConfigWatcher({
      ...FIRST_TIMES,
      onChange: (since) => this.reload(since),
      probe: () => this.#loader.probe(),
      watchFs: watchInWorker({ createWorker: () => this.#worker("watch") }),
      onError: (error) => {
        const fields = { error: explain(error) };
        log.logger("config").warn("files are compared now and then, no events come", fields);
      },
    });
  }

  /** How the last load went. */
  get state(): ReloadState | undefined {
    return this.#reloader.state;
  }

  /** The first load. Rejects with an AbortError when disposed meanwhile. */
  first(): Promise<void> {
    return this.#reloader.reload(systemClock.now());
  }

  /** Loads, whether or not a file seems to have changed; `changedAt`: milliseconds since the epoch. Does not reject. */
  async reload(changedAt: number): Promise<void> {
    try {
      await this.#reloader.reload(changedAt);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return; // we are stopping
      this.#options.log.logger("config").error("loading failed", { error: explain(error) });
    }
  }

  /** Resolves when what is wrong with the files has been said. */
  settled(): Promise<void> {
    return this.#findings.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watcher = this.#watcher[Symbol.asyncDispose](); // waits for a load, which the loader ends
    await this.#loader[Symbol.asyncDispose]();
    await watcher;
    this.#findings[Symbol.dispose]();
  }

  #loaded(result: LoadResult, state: ReloadState): void {
    const { log, settings, serving, loaded } = this.#options;
    const inEffect = settings();
    if (inEffect === undefined && result.settings !== undefined) {
      log.configure(result.settings.log); // the first lines are in the form asked for, too
    }
    loaded(result.ok);
    logLoad(log, result, state, serving());
    const { push, watch } = result.settings ?? inEffect ?? {};
    this.#watcher.update(
      result.watch,
      push && watch && { quiet: push.quiet, max: push.max, poll: watch.poll },
    );
    this.#findings.take(state.findings);
  }

  #worker(name: WorkerRole): Worker {
    return new Worker(this.#options.workerUrl, { type: "module", name });
  }
}
