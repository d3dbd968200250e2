/**
 * The running program: every part, put together. Serves what the store has before any configuration is
 * read, then keeps in step with the files.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { ConfigLoader } from "../config/loader.ts";
import type { LoadResult } from "../config/messages.ts";
import { makeSeed } from "../config/seed.ts";
import { ConfigWatcher, type WatchTimes } from "../config/watch.ts";
import { explain, type Log } from "../log.ts";
import type { Settings, UnknownCollection } from "../model/settings.ts";
import { collectionResolver, type Resolver } from "../protocol/resolve.ts";
import { systemClock } from "../rollout/clock.ts";
import { Publisher } from "../rollout/publisher.ts";
import { Hub, type Publication } from "../snapshot/hub.ts";
import type { SnapshotStore } from "../snapshot/store.ts";
import { dialStream } from "../transport/dial.ts";
import { Sender } from "../transport/sender.ts";
import { Sessions } from "../transport/sessions.ts";
import { SinkDialer, type SinkStatus } from "../transport/sink_dialer.ts";
import { summariseAcks } from "./ack_summary.ts";
import { linkObservers, listenerHooks, observers } from "./both.ts";
import { Doors } from "./doors.ts";
import { meterLinks, meterListeners, meterPublisher, meterSessions } from "./metering.ts";
import { Office } from "./office.ts";
import { FindingLog } from "./finding_log.ts";
import {
  logLinks,
  logListeners,
  logPublisher,
  logSessions,
  logSummaries,
  logUnresolved,
} from "./observer.ts";
import { RestartNeeds } from "./restart_needs.ts";
import { Reloader, type ReloadState } from "./reloader.ts";
import { sinkTargets } from "./sink_targets.ts";

/** What the program is started with. */
export interface AppOptions {
  /** File or folder, absolute. */
  readonly config: string;
  readonly store: SnapshotStore;
  readonly workerUrl: string;
  readonly log: Log;
}

/** Neither the configuration nor the store gives anything to serve. The findings say why. */
export class NothingToServeError extends Error {
  override readonly name = "NothingToServeError";
}

/** What MCP collections stand for, by how unknown ones are answered. */
const COLLECTIONS: Readonly<Record<UnknownCollection, Resolver>> = {
  empty: collectionResolver({ unknownCollection: "empty" }),
  error: collectionResolver({ unknownCollection: "error" }),
};

/** Until the configuration says otherwise. */
const FIRST_TIMES: WatchTimes = { quiet: 100, max: 1000, poll: 5000 };

/** How long peers may take to notice that we go. Milliseconds. */
const DRAIN = 3000;

/** The running program. Disposing it drains it, within 5 s. */
export class App implements AsyncDisposable {
  readonly #log: Log;
  readonly #hub = new Hub();
  readonly #publisher: Publisher;
  readonly #reloader: Reloader;
  readonly #loader: ConfigLoader;
  readonly #watcher: ConfigWatcher;
  readonly #sender = new Sender({ now: () => performance.now() });
  readonly #sessions: Sessions;
  readonly #dialer: SinkDialer;
  readonly #doors: Doors;
  readonly #office: Office;
  readonly #findings: FindingLog;
  readonly #restartNeeds: RestartNeeds;
  #settings: Settings | undefined;

  /** Puts the parts together; nothing runs before {@link App.start}. */
  constructor(options: AppOptions) {
    const { log, store } = options;
    this.#log = log;
    this.#findings = new FindingLog(log);
    this.#restartNeeds = new RestartNeeds(log.logger("config"));
    this.#office = new Office({
      hub: this.#hub,
      store,
      publisher: () => this.#publisher,
      reload: () => this.#reloader.state,
      sessions: () => this.#sessions.list(),
      sinks: () => this.sinks,
      addresses: () => this.addresses,
      connections: () => this.#doors.connections,
      pushLoop: () => this.#sender.state,
      warn: (message) => log.logger("admin").warn(message),
    });
    const { metrics } = this.#office;
    const [say, count] = [logPublisher(log), meterPublisher(metrics)];
    this.#publisher = new Publisher({
      hub: this.#hub,
      store,
      clock: systemClock,
      onEvent: (event) => {
        if (event.kind === "restored") log.configure(event.stored.snapshot.settings.log);
        say(event);
        count(event);
      },
    });
    this.#loader = new ConfigLoader({
      config: options.config,
      createWorker: () => new Worker(options.workerUrl, { type: "module" }),
      seed: () => {
        const snapshot = this.#hub.current?.snapshot;
        return snapshot && makeSeed(snapshot.services, snapshot.settings);
      },
      onPositions: ({ id, findings }) => {
        if (this.#reloader.place(id, findings)) this.#findings.say(findings);
      },
    });
    this.#reloader = new Reloader({
      loader: this.#loader,
      publisher: this.#publisher,
      now: systemClock.now,
      onLoaded: (result, state) => this.#loaded(result, state),
    });
    this.#watcher = new ConfigWatcher({
      ...FIRST_TIMES,
      onChange: (since) => this.#reloadSince(since),
      probe: () => this.#loader.probe(),
      onError: (error) => {
        const fields = { error: explain(error) };
        log.logger("config").warn("files are compared now and then, no events come", fields);
      },
    });
    this.#sessions = new Sessions({
      targets: this.#hub,
      sender: this.#sender,
      observer: observers(
        meterSessions(metrics),
        logSessions(log),
        summariseAcks(logSummaries(log)),
      ),
      clock: systemClock,
    });
    this.#dialer = this.#makeDialer();
    this.#doors = new Doors({
      hooks: listenerHooks(meterListeners(metrics), logListeners(log)),
      sessions: this.#sessions,
      collections: () => this.#collections(),
    });
  }

  /** Loads the configuration now, whether or not a file seems to have changed. Does not reject. */
  reload(): Promise<void> {
    return this.#reloadSince(systemClock.now());
  }

  /** Where sinks and clients can dial us. */
  get addresses(): readonly string[] {
    return this.#doors.addresses;
  }

  /** Where the admin listener is. */
  get admin(): string | undefined {
    return this.#office.address;
  }

  /** What is served. */
  get publication(): Publication | undefined {
    return this.#hub.current;
  }

  /** Where each dial-out stands. */
  get sinks(): readonly SinkStatus[] {
    return this.#dialer.status();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watcher = this.#watcher[Symbol.asyncDispose](); // waits for a load, which the loader ends
    await this.#loader[Symbol.asyncDispose]();
    await Promise.all([
      watcher,
      this.#dialer[Symbol.asyncDispose](),
      this.#doors.drain(DRAIN),
      this.#office[Symbol.asyncDispose](),
      this.#publisher[Symbol.asyncDispose](),
    ]);
    this.#findings[Symbol.dispose]();
    this.#sessions[Symbol.dispose]();
    this.#sender[Symbol.dispose]();
  }

  /**
   * Starts, once. Rejects with a {@link NothingToServeError} where there is neither a usable
   * configuration nor a stored snapshot, with a ListenError where a port cannot be had, and with an
   * AbortError when disposed meanwhile.
   */
  async start(): Promise<void> {
    const stored = await this.#publisher.restore();
    if (stored !== undefined) {
      // The configuration may name other ports by now: then these need not be had.
      await this.#apply(stored.snapshot.settings).catch((error) => {
        this.#log.logger("listener").warn(String(error.message ?? error));
      });
    }
    await this.#reloader.reload(systemClock.now());
    await this.#publisher.idle();
    const current = this.#hub.current;
    if (current === undefined) {
      await this.#findings.settled();
      throw new NothingToServeError("there is nothing to serve: see the findings above");
    }
    await this.#apply(current.snapshot.settings);
    this.#hub.subscribe(({ snapshot }) => this.#reconfigure(snapshot.settings));
    this.#reconfigure(this.#hub.current!.snapshot.settings); // what came while ports were opened
  }

  async #reloadSince(changedAt: number): Promise<void> {
    try {
      await this.#reloader.reload(changedAt);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return; // we are stopping
      this.#log.logger("config").error("loading failed", { error: explain(error) });
    }
  }

  /** Puts settings into effect at start, those too that are fixed from then on. */
  async #apply(settings: Settings): Promise<void> {
    this.#settings = settings;
    this.#applyLive(settings);
    await this.#doors.open(settings);
    await this.#office.open(settings);
    this.#restartNeeds.applied(settings);
  }

  /** Puts settings into effect that may change at any time, and says which may not. */
  #reconfigure(settings: Settings): void {
    if (this.#settings === settings) return;
    this.#settings = settings;
    this.#applyLive(settings);
    this.#restartNeeds.configured(settings);
  }

  #applyLive(settings: Settings): void {
    this.#log.configure(settings.log);
    const { targets, unusable } = sinkTargets(settings.sinks);
    for (const { name, reason } of unusable) {
      this.#log.logger("sink").error("the sink cannot be dialled", { sink: name, reason });
    }
    this.#dialer.configure(targets);
  }

  #loaded(result: LoadResult, state: ReloadState): void {
    if (this.#settings === undefined && result.settings !== undefined) {
      this.#log.configure(result.settings.log); // the first lines are in the form asked for, too
    }
    this.#office.metrics.reloaded(result.ok);
    const logger = this.#log.logger("config");
    const { files, filesParsed, services } = result.stats;
    const fields = { files, filesParsed, services, ms: Math.round(state.durationMs) };
    if (result.ok) logger.info("loaded", fields);
    else {
      const { kept } = result;
      const held = kept.length === 0 ? {} : { kept: kept.join(" ") };
      logger.warn(`loaded with errors; ${this.#consequence(result)}`, { ...fields, ...held });
    }
    const { push, watch } = result.settings ?? this.#settings ?? {};
    this.#watcher.update(
      result.watch,
      push && watch && { quiet: push.quiet, max: push.max, poll: watch.poll },
    );
    this.#findings.take(state.findings);
  }

  #consequence({ usable, kept }: LoadResult): string {
    if (usable && kept.length > 0) return "the last good content of these files stays";
    if (usable) return "what is refused is not served";
    return this.#hub.current === undefined
      ? "nothing of it can be used"
      : "what is published stays";
  }

  /** One resolver for all streams, so that they share what is made from nothing. */
  #collections(): Resolver {
    return COLLECTIONS[this.#settings!.unknownCollection];
  }

  #makeDialer(): SinkDialer {
    return new SinkDialer({
      sessions: this.#sessions,
      clock: systemClock,
      random: Math.random,
      resolver: () => this.#collections(),
      resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
      dial: (address, path, options) =>
        dialStream(address, path, {
          ...options,
          now: () => performance.now(),
          maxReceive: this.#settings!.limits.message,
        }),
      observer: linkObservers(meterLinks(this.#office.metrics), logLinks(this.#log)),
      unresolved: logUnresolved(this.#log),
    });
  }
}
