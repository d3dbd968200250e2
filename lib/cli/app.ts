/**
 * The running program: every part, put together. Serves what the store has before any configuration is
 * read, then keeps in step with the files.
 *
 * @module
 */
import { AdminListenError } from "../admin/http.ts";
import { makeSeed } from "../config/seed.ts";
import type { Log } from "../log.ts";
import type { Settings } from "../model/settings.ts";
import type { Resolver } from "../protocol/resolve.ts";
import type { SourceStore } from "../receive/received.ts";
import { systemClock } from "../rollout/clock.ts";
import { Publisher, type PublisherEvent } from "../rollout/publisher.ts";
import { Hub, type Publication } from "../snapshot/hub.ts";
import type { SnapshotStore } from "../snapshot/store.ts";
import { ConnectionRoom } from "../transport/connection_room.ts";
import { ListenError } from "../transport/listener.ts";
import { takesFromUs } from "../transport/pull_node.ts";
import { Sender } from "../transport/sender.ts";
import { ServingState } from "../transport/serving_state.ts";
import type { SinkStatus } from "../transport/sink_dialer.ts";
import type { Dial } from "../transport/sink_link.ts";
import { ClientCertificates, clientUses } from "./client_certificates.ts";
import { collectionsFor } from "./collections.ts";
import { ConfigFollower } from "./config_follower.ts";
import { dialWith, resolveHost } from "./dialling.ts";
import { Front } from "./front.ts";
import { Intake } from "./intake.ts";
import { observe, type Observing } from "./observing.ts";
import { Office } from "./office.ts";
import { Outlet } from "./outlet.ts";
import { logPorts } from "./port_log.ts";
import { RestartNeeds } from "./restart_needs.ts";
import { logTokenProblems, logUndialable } from "./source_log.ts";
import { folderOf } from "./store_place.ts";
import { Uniting } from "./uniting.ts";
import { openOnes, refuseIdle } from "./waiting_port.ts";

/** What the program is started with. */
export interface AppOptions {
  /** File or folder, absolute. */
  readonly config: string;
  readonly store: SnapshotStore;
  /** Where the sets of other sources are kept. */
  readonly sources: SourceStore;
  readonly workerUrl: string;
  readonly log: Log;
}

/** Neither the configuration nor the store gives anything to serve. The findings say why. */
export class NothingToServeError extends Error {
  override readonly name = "NothingToServeError";
}

/** How long peers may take to notice that we go. Milliseconds. */
const DRAIN = 3000;

/** The running program. Disposing it drains it, within 5 s. */
export class App implements AsyncDisposable {
  readonly #options: AppOptions;
  readonly #log: Log;
  readonly #folder: string;
  readonly #hub = new Hub();
  readonly #publisher: Publisher;
  readonly #files: ConfigFollower;
  /** Of all ports that peers and sources dial. */
  readonly #room = new ConnectionRoom();
  readonly #sender = new Sender({ now: () => performance.now() });
  readonly #serving = new ServingState();
  readonly #front: Front;
  readonly #outlet: Outlet;
  readonly #intake: Intake;
  readonly #office: Office;
  readonly #observing: Observing;
  readonly #restartNeeds: RestartNeeds;
  readonly #dial: Dial = dialWith(() => this.#settings!.limits);
  readonly #uniting: Uniting;
  readonly #clientCertificates = new ClientCertificates(systemClock);
  #settings: Settings | undefined;
  /** As configured; what is fixed at the start may differ from what is in effect. */
  #configured: Settings | undefined;

  /** Puts the parts together; nothing runs before {@link App.start}. */
  constructor(options: AppOptions) {
    const { log } = options;
    this.#options = options;
    this.#log = log;
    this.#folder = folderOf(options.config);
    this.#restartNeeds = new RestartNeeds(log.logger("config"));
    this.#uniting = new Uniting(log);
    this.#office = this.#makeOffice();
    this.#observing = observe(log, this.#office.metrics, this.#hub);
    this.#hub.subscribe(() => this.#serving.set(true));
    this.#publisher = this.#makePublisher();
    this.#files = new ConfigFollower({
      ...options,
      publisher: this.#publisher,
      seed: () => {
        const snapshot = this.#hub.current?.snapshot;
        return snapshot && makeSeed(snapshot.services, snapshot.settings);
      },
      settings: () => this.#settings,
      serving: () => this.#hub.current !== undefined,
      loaded: (ok) => this.#office.metrics.reloaded(ok),
    });
    this.#front = new Front({
      ...this.#portOptions("listen"),
      log,
      hub: this.#hub,
      sender: this.#sender,
      observer: this.#observing.sessions,
      collections: () => this.#collections(),
      state: this.#serving,
    });
    this.#outlet = this.#makeOutlet();
    this.#intake = this.#makeIntake();
  }

  /** Loads the configuration now, whether or not a file seems to have changed. Does not reject. */
  reload(): Promise<void> {
    return this.#files.reload(systemClock.now());
  }

  /** Where sinks and clients can dial us. */
  get addresses(): readonly string[] {
    return openOnes(this.#front.ports);
  }

  /** Where sources can dial us. */
  get receiving(): readonly string[] {
    return openOnes(this.#intake.ports);
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
    return this.#outlet.status();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#serving.set(false);
    await Promise.all([
      this.#files[Symbol.asyncDispose](),
      this.#outlet[Symbol.asyncDispose](),
      this.#front.drain(DRAIN),
      this.#intake[Symbol.asyncDispose](),
      this.#office[Symbol.asyncDispose](),
      this.#publisher[Symbol.asyncDispose](),
    ]);
    await this.#front[Symbol.asyncDispose]();
    this.#sender[Symbol.dispose]();
    this.#observing[Symbol.dispose]();
    this.#uniting[Symbol.dispose]();
  }

  /**
   * Starts, once. Rejects with a {@link NothingToServeError} where there is neither a usable
   * configuration nor a stored snapshot, with a ListenError where a port cannot be had, and with an
   * AbortError when disposed meanwhile.
   */
  async start(): Promise<void> {
    await this.#restore();
    await this.#files.first();
    await this.#publisher.idle();
    const current = this.#hub.current;
    if (current === undefined) {
      await this.#files.settled();
      throw new NothingToServeError("there is nothing to serve: see the findings above");
    }
    await this.#apply(current.snapshot.settings);
    this.#hub.subscribe(({ snapshot }) => this.#reconfigure(snapshot.settings));
    this.#reconfigure(this.#hub.current!.snapshot.settings); // what came while ports were opened
  }

  /** Serves what the store has, and takes into effect what it has of other sources. */
  async #restore(): Promise<void> {
    const stored = await this.#publisher.restore();
    {
      using _ = this.#publisher.pause(); // all sources go out as one
      await this.#intake.load(stored?.snapshot);
      this.#uniting.settle();
    }
    // A source may have been told that something is kept before a snapshot had it: nobody is to see less.
    await this.#publisher.idle();
    if (stored === undefined) return;
    // The configuration may name other ports by now: then these need not be had.
    try {
      await this.#apply(stored.snapshot.settings);
    } catch (error) {
      if (!(error instanceof ListenError || error instanceof AdminListenError)) throw error;
      this.#log.logger("listener").warn(error.message);
    }
  }

  /** Puts settings into effect at start, those too that are fixed from then on. */
  async #apply(settings: Settings): Promise<void> {
    this.#configured = settings;
    this.#applyLive(settings);
    await this.#front.open(settings);
    await this.#intake.open(settings);
    refuseIdle({ listen: this.#front.ports, receive: this.#intake.ports }, settings);
    await this.#office.open(settings);
    this.#restartNeeds.applied(settings);
  }

  /** Puts settings into effect that may change at any time, and says which may not. */
  #reconfigure(settings: Settings): void {
    if (this.#configured === settings) return;
    this.#configured = settings;
    // Who we are and who may give us what change at a start only, for those who have met us.
    const { instance, receive } = this.#settings!;
    const { receive: _, ...live } = settings;
    this.#applyLive({ ...live, instance, ...(receive && { receive }) });
    this.#restartNeeds.configured(settings);
  }

  #applyLive(settings: Settings): void {
    this.#settings = settings;
    this.#log.configure(settings.log);
    this.#outlet.configure(settings);
    this.#clientCertificates.configure(clientUses(settings, this.#folder));
    this.#intake.configure(settings);
    if (this.#uniting.configure(settings.receive)) this.#publisher.reunited();
  }

  #collections(): Resolver {
    return collectionsFor(this.#settings!.unknownCollection);
  }

  #makeOffice(): Office {
    return new Office({
      hub: this.#hub,
      store: this.#options.store,
      publisher: () => this.#publisher,
      reload: () => this.#files.state,
      sessions: () => this.#front.sessions.list(),
      sinks: () => this.sinks,
      ports: () => ({ listen: this.#front.ports, receive: this.#intake.ports }),
      clientCertificates: () => this.#clientCertificates.list(),
      sources: () => this.#intake.statuses(this.#publisher.status().heldParts ?? []),
      events: () => this.#observing.events,
      findings: () => [
        ...this.#uniting.findings(),
        ...this.#options.sources.findings(),
        ...this.#front.findings(),
      ],
      connections: () => this.#front.connections,
      pushLoop: () => this.#sender.state,
      warn: (message) => this.#log.logger("admin").warn(message),
    });
  }

  #makePublisher(): Publisher {
    const { store } = this.#options;
    const tell = (event: PublisherEvent) => {
      if (event.kind === "restored") this.#log.configure(event.stored.snapshot.settings.log);
      if (event.kind === "released" && event.why === "confirmed" && event.part !== undefined) {
        this.#intake.sources.confirmed(event.part);
      }
      this.#observing.publisher(event);
      if (event.kind === "published") this.#uniting.say();
    };
    return new Publisher({
      hub: this.#hub,
      store,
      clock: systemClock,
      unite: this.#uniting.unite,
      onEvent: tell,
    });
  }

  #portOptions(use: "listen" | "receive") {
    const ports = logPorts(this.#log, use);
    return { folder: this.#folder, hooks: this.#observing.listeners, ports, room: this.#room };
  }

  #makeIntake(): Intake {
    const { sources, workerUrl } = this.#options;
    return new Intake({
      ...this.#portOptions("receive"),
      store: sources,
      workerUrl,
      sender: this.#sender,
      offer: (name, collections, options) => this.#publisher.offer(name, collections, options),
      pause: () => this.#publisher.pause(),
      allowed: (name, namespaces) => {
        if (this.#uniting.allow(name, namespaces)) this.#publisher.reunited();
      },
      onEvent: this.#observing.sources,
      observer: this.#observing.receiver,
      pullObserver: this.#observing.pulls,
      undialable: logUndialable(this.#log, "pull"),
      tokenProblem: logTokenProblems(this.#log),
      state: this.#serving,
      dial: this.#dial,
      resolve: resolveHost,
      serves: (node, address) => takesFromUs(this.#front.sessions.list(), node, address),
    });
  }

  #makeOutlet(): Outlet {
    return new Outlet({
      log: this.#log,
      folder: this.#folder,
      sessions: this.#front.sessions,
      dial: this.#dial,
      observer: this.#observing.links,
      instance: () => this.#settings!.instance,
      collections: () => this.#collections(),
    });
  }
}
