/**
 * Everything that other sources give us: who dials our ResourceSink, whom we pull from, and the
 * registry of what they gave.
 *
 * @module
 */
import type { StatusSource } from "../admin/status.ts";
import type { PullSettings, Settings } from "../model/settings.ts";
import { JudgeWorker } from "../receive/judge_worker.ts";
import type { SourceStore } from "../receive/received.ts";
import type { SourceEvent } from "../receive/source_events.ts";
import { type SourceRules, Sources, type SourcesOptions } from "../receive/sources.ts";
import type { HeldCandidate } from "../rollout/publishing.ts";
import type { Collections } from "../rollout/parts.ts";
import { systemClock } from "../rollout/clock.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Sender } from "../transport/sender.ts";
import type { PullContext, PullObserver } from "../transport/pull_link.ts";
import { Pulls } from "../transport/puller.ts";
import { pullTargets } from "./dial_targets.ts";
import type { OpenPort } from "./listeners.ts";
import { sourceStatuses } from "./source_status.ts";
import { ReceiverDoor, type ReceiverDoorOptions } from "./receiver_door.ts";

/** What the intake works with. */
export interface IntakeOptions extends Omit<ReceiverDoorOptions, "registry" | "judge"> {
  readonly store: SourceStore;
  /** Puts what a source gives into effect; `Publisher.offer` does. */
  readonly offer: SourcesOptions["offer"];
  readonly pause: SourcesOptions["pause"];
  /** Told which namespaces a source may fill. */
  readonly allowed: SourcesOptions["allowed"];
  readonly onEvent: (event: SourceEvent) => void;
  readonly workerUrl: string;
  readonly sender: Sender;
  readonly dial: PullContext["dial"];
  readonly resolve: PullContext["resolve"];
  readonly pullObserver: PullObserver;
  /** Whether a client with this node id takes from us now, at this IP address. */
  readonly serves: NonNullable<PullContext["serves"]>;
  /** Told, whenever settings are put into effect, of the pulls that their settings do not let be dialled. Must not throw. */
  readonly undialable: (all: readonly { readonly name: string; readonly reason: string }[]) => void;
}

/** Takes what other sources give. Disposing it ends all streams. */
export class Intake implements AsyncDisposable {
  readonly sources: Sources;
  readonly #options: IntakeOptions;
  readonly #judge: JudgeWorker;
  readonly #door: ReceiverDoor;
  #pulls: { readonly instance: string; readonly pulls: Pulls } | undefined;
  /** What is pulled from, as last configured. */
  #configured: readonly PullSettings[] = [];

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.sources = new Sources({
      store: options.store,
      clock: systemClock,
      offer: options.offer,
      pause: options.pause,
      allowed: options.allowed,
      onEvent: options.onEvent,
    });
    const { workerUrl } = options;
    this.#judge = new JudgeWorker({
      createWorker: () => new Worker(workerUrl, { type: "module", name: "judge" }),
    });
    const { judge } = this.#judge;
    this.#door = new ReceiverDoor({ ...options, registry: this.sources, judge });
  }

  /** Ports that sources can dial. */
  get ports(): readonly OpenPort[] {
    return this.#door.ports;
  }

  /** Where each source stands; `held`: sets of sources that wait for a person. */
  statuses(held: readonly HeldCandidate[]): readonly StatusSource[] {
    return sourceStatuses({
      known: this.sources.status(),
      streams: this.#door.streams,
      pulls: this.#pulls?.pulls.status() ?? [],
      held,
    });
  }

  /** Puts into effect what is stored of sources. `restored` is what is served meanwhile. */
  async load(restored: Snapshot | undefined): Promise<void> {
    if (restored !== undefined) this.sources.configure(rulesOf(restored.settings));
    const { collections = NOTHING, origins = NOTHING } = restored ?? {};
    await this.sources.load({ served: collections, origins });
  }

  /** Puts settings into effect that may change at any time: whom to pull from, and who may fill what. */
  configure(settings: Settings): void {
    const { pull } = settings;
    this.sources.configure(rulesOf(settings));
    this.#configured = pull;
    const { targets, unusable } = pullTargets(pull, this.#options.folder);
    this.#options.undialable(unusable);
    this.#pullsOf(settings.instance)?.configure(targets);
  }

  /** Opens the port that sources dial, if there is to be one, and no other. Rejects with a ListenError that names the setting to change. */
  async open(settings: Settings): Promise<void> {
    await this.#door.open(settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#pulls?.pulls[Symbol.asyncDispose](),
      this.#door[Symbol.asyncDispose](),
    ]);
    await this.#judge[Symbol.asyncDispose]();
    await this.sources[Symbol.asyncDispose]();
  }

  /** Under another name, servers would see another client: then everyone is dialled anew. */
  #pullsOf(instance: string): Pulls | undefined {
    if (this.#pulls?.instance === instance) return this.#pulls.pulls;
    if (this.#pulls === undefined && this.#configured.length === 0) return undefined;
    void this.#pulls?.pulls[Symbol.asyncDispose]();
    const { sender, dial, resolve, pullObserver, serves } = this.#options;
    const pulls = new Pulls({
      registry: this.sources,
      judge: this.#judge.judge,
      sender,
      dial,
      resolve,
      observer: pullObserver,
      clock: systemClock,
      random: Math.random,
      instance,
      serves,
    });
    this.#pulls = { instance, pulls };
    return pulls;
  }
}

function rulesOf({ receive, pull }: Settings): SourceRules {
  return { ...(receive === undefined ? {} : { receive }), pull };
}

const NOTHING: Collections = new Map();
