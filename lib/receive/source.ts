/**
 * One source: what it has given, whether it is connected, and how its set is saved.
 *
 * @module
 */
import type { Clock } from "../rollout/clock.ts";
import type { Judgement, SourceSet, StoredSource } from "./received.ts";
import type { SourceConnection, SourceIntroduction, Taken } from "./registry.ts";
import { Expiry } from "./expiry.ts";
import type { OfferOptions } from "../rollout/publishing.ts";
import { countOf, limitTo } from "./limit_set.ts";
import type { SourceEvent, SourceStatus } from "./source_events.ts";
import { isProof } from "./proof.ts";
import { SetSaver } from "./set_saver.ts";
import { applyPush, byteLengthOf, heldVersions } from "./source_set.ts";
import type { SourcesOptions } from "./sources.ts";

/** What sources share. */
export interface SourceContext {
  /** Saves a source. Rejects where that fails. */
  readonly save: (source: StoredSource) => Promise<void>;
  readonly clock: Clock;
  readonly offer: SourcesOptions["offer"];
  readonly onEvent: (event: SourceEvent) => void;
  /** Aborted when the registry is closed. */
  readonly signal: AbortSignal;
  readonly pause: SourcesOptions["pause"];
  /** A source may fill these namespaces from now on (patterns; empty: all). */
  readonly allowed: (name: string, namespaces: readonly string[]) => void;
  /** The source was away for as long as it is kept. */
  readonly expired: (source: KnownSource) => void;
  /** Largest set that is kept of a source. Bytes. */
  readonly mostBytes: number;
}

/** An answer waits no longer than this for a save. Milliseconds. */
const SAVE_BUDGET = 2000;

/** Publishing waits no longer than this for a save. Milliseconds. */
const PUBLISH_BUDGET = 250;

interface Live {
  readonly introduction: SourceIntroduction;
  readonly since: number;
  /** Whether it counts as connected, as was told. */
  connected: boolean;
}

/** A source that was ever heard of. */
export class KnownSource {
  readonly name: string;
  readonly #context: SourceContext;
  readonly #firstSeen: number;
  /** The strongest proof that its name has had. */
  #namedBy: string | undefined;
  #set: SourceSet;
  /** What is in effect of it: not what is held. */
  #effect: SourceSet;
  #live: Live | undefined;
  #staleSince: number;
  #namespaces: readonly string[] = [];
  #keep: number | undefined;
  readonly #expiry: Expiry;
  #lastPushAt: number | undefined;
  #refused: SourceStatus["refused"];
  #held = false;
  readonly #saver: SetSaver;

  constructor(stored: StoredSource, context: SourceContext) {
    this.name = stored.name;
    this.#context = context;
    this.#firstSeen = stored.firstSeen;
    this.#namedBy = stored.namedBy;
    this.#set = this.#effect = stored.set;
    this.#staleSince = context.clock.now();
    this.#expiry = new Expiry(context.clock, context.signal, () => context.expired(this));
    const { name } = this;
    this.#saver = new SetSaver({
      saved: stored.set,
      clock: context.clock,
      signal: context.signal,
      save: (set) =>
        context.save({
          name,
          set,
          firstSeen: this.#firstSeen,
          ...(this.#namedBy === undefined ? {} : { namedBy: this.#namedBy }),
        }),
      failed: (error) => context.onEvent({ kind: "saveFailed", name, error }),
    });
  }

  /** All it has given. */
  get set(): SourceSet {
    return this.#set;
  }

  /** Whether it is away and has given nothing, so that nobody would miss it. */
  get isIdle(): boolean {
    return this.#live === undefined && !this.#held && byteLengthOf(this.#set) === 0;
  }

  /** Puts what it has given into effect, or has it held. */
  offer(options: Partial<OfferOptions> = {}): void {
    this.#give({ changedAt: this.#context.clock.now(), ...options });
  }

  /** Its set was lost, and made anew of what was served of it. */
  recovered(): void {
    void this.#save();
  }

  /** Makes these the namespaces that it may fill, and this the time that it is kept; what is outside goes. */
  allow(namespaces: readonly string[], keep: number | undefined): void {
    this.#namespaces = namespaces;
    this.#context.allowed(this.name, namespaces);
    if (keep !== this.#keep) {
      this.#keep = keep;
      this.#await();
    }
    const limited = limitTo(this.#set, namespaces);
    if (limited === this.#set) return;
    this.#set = limited;
    this.#give({ changedAt: this.#context.clock.now() });
    if (!this.#held) void this.#save();
  }

  /** What named it first, or what proved its name; undefined where that is not known. */
  get namedBy(): string | undefined {
    return this.#namedBy;
  }

  /** Whether its name was proved once, so that nobody can have it who proves nothing. */
  get isProven(): boolean {
    return isProof(this.#namedBy);
  }

  /** A stream of it has been opened; an earlier one is ended. */
  connect(introduction: SourceIntroduction): SourceConnection {
    this.end("another stream of the same source has taken its place");
    const live: Live = { introduction, since: this.#context.clock.now(), connected: false };
    this.#live = live;
    if (!this.isProven && introduction.namedBy !== undefined) this.#namedBy = introduction.namedBy;
    this.#expiry.stop();
    if (introduction.tentative !== true) this.#connected(live);
    // deno-lint-ignore no-this-alias
    const source = this;
    return {
      name: this.name,
      get namespaces() {
        return source.#namespaces;
      },
      cautious: introduction.resumes !== true,
      held: (type) => this.#heldVersions(type),
      take: (judgement, signal) => this.#take(live, judgement, signal),
      refused: (judgement) => {
        this.#connected(live);
        this.#noteRefusal(judgement);
      },
      [Symbol.dispose]: () => this.#over(live),
    };
  }

  /** It is forgotten: it does nothing more of itself. */
  retire(reason: string): void {
    this.end(reason);
    this.#expiry.stop();
    this.#keep = undefined;
  }

  /** Ends its stream, if it has one. */
  end(reason: string): void {
    const live = this.#live;
    if (live === undefined) return;
    this.#over(live);
    live.introduction.end(reason);
  }

  /** Where it stands. */
  status(): SourceStatus {
    const { name } = this;
    const { address, instance } = this.#live?.introduction ?? {};
    return {
      name,
      state: this.#live?.connected === true ? "connected" : "stale",
      since: this.#live?.connected === true ? this.#live.since : this.#staleSince,
      ...(address === undefined ? {} : { address }),
      ...(instance === undefined ? {} : { instance }),
      resources: countOf(this.#effect.collections),
      streams: this.#live === undefined ? 0 : 1,
      ...(this.#lastPushAt === undefined ? {} : { lastPushAt: this.#lastPushAt }),
      ...(this.#refused === undefined ? {} : { refused: this.#refused }),
      held: this.#held,
      ...(this.#saver.error === undefined ? {} : { saveError: this.#saver.error }),
    };
  }

  /** What was held of it has been let pass. */
  confirmed(): void {
    this.#held = false;
    this.#effect = this.#set;
    void this.#save();
  }

  /** Resolves when no save runs. */
  saved(): Promise<void> {
    return this.#saver.idle();
  }

  /** Saves what could not be saved before, once more. Does not reject. */
  async flush(): Promise<void> {
    if (!this.#saver.holds(this.#effect)) void this.#save();
    await this.#saver.idle();
  }

  async #take(
    live: Live,
    judgement: Extract<Judgement, { kind: "accepted" }>,
    signal: AbortSignal,
  ): Promise<Taken> {
    // Of two streams of one source only the newer counts.
    if (live !== this.#live) return { ok: false, message: "another stream has taken its place" };
    if (signal.aborted) return { ok: false, message: "the stream is over" };
    this.#connected(live);
    const { head, resources, removed } = judgement;
    const { clock, onEvent } = this.#context;
    this.#lastPushAt = clock.now();
    this.#refused = undefined;
    const next = applyPush(this.#set, judgement);
    if (next === this.#set && this.#saver.holds(next)) return { ok: true };
    const tooLarge = this.#tooLarge(next);
    if (tooLarge !== undefined) {
      this.#noteRefusal({ kind: "refused", head, findings: [], message: tooLarge });
      return { ok: false, message: tooLarge };
    }
    this.#set = next;
    // What is saved is published after it: a start must not serve less than was served before.
    const pause = this.#context.pause();
    this.#give({ changedAt: this.#lastPushAt });
    onEvent({
      kind: "pushed",
      name: this.name,
      type: head.type,
      version: head.version,
      resources: resources.length,
      removed: removed.length,
      held: this.#held,
    });
    // What is held is asked for again after a restart, since what is stored is what is in effect.
    if (!this.#held) return await this.#savedSoon(pause, signal);
    pause[Symbol.dispose]();
    return { ok: true };
  }

  /** Pushes are bounded; what they add up to must be, too. What gets smaller is always taken. */
  #tooLarge(next: SourceSet): string | undefined {
    const size = byteLengthOf(next);
    const { mostBytes } = this.#context;
    if (size <= mostBytes || size < byteLengthOf(this.#set)) return undefined;
    return `what this source gives would be ${size} bytes, and at most ${mostBytes} are kept of one`;
  }

  #give(options: OfferOptions): void {
    const offered = this.#context.offer(this.name, this.#set.collections, options);
    this.#held = offered === "held";
    if (!this.#held) this.#effect = this.#set;
  }

  /** Saves what is in effect: what is held is not, lest a restart let it pass. */
  #save(): Promise<void> {
    return this.#saver.save(this.#effect);
  }

  /** What is not saved is served all the same, but not acknowledged: after a restart it would be gone. */
  async #savedSoon(pause: Disposable, signal: AbortSignal): Promise<Taken> {
    const done = new AbortController();
    const until = AbortSignal.any([done.signal, signal]);
    const { clock } = this.#context;
    const saved = this.#save().then(() => this.#saver.error);
    void saved.then(() => pause[Symbol.dispose]());
    void clock.sleep(PUBLISH_BUDGET, until).then(() => pause[Symbol.dispose]());
    const late = clock.sleep(SAVE_BUDGET, until)
      .then(() => `it is not saved within ${SAVE_BUDGET / 1000} s`);
    const problem = await Promise.race([saved, late]);
    done.abort();
    if (problem === undefined) return { ok: true };
    return { ok: false, message: `it is served, but not saved: ${problem}` };
  }

  #noteRefusal({ head, message }: Extract<Judgement, { kind: "refused" }>): void {
    this.#lastPushAt = this.#context.clock.now();
    this.#refused = { at: this.#lastPushAt, message };
    this.#context.onEvent({ kind: "refused", name: this.name, type: head.type, message });
  }

  #heldVersions(type: string): Readonly<Record<string, string>> {
    // What is held back by the guard is not in effect, but the source has been told that we have it.
    return heldVersions(this.#set, type);
  }

  #connected(live: Live): void {
    if (live.connected) return;
    live.connected = true;
    const { name, address, instance, namedBy } = live.introduction;
    this.#context.onEvent({
      kind: "connected",
      name,
      address,
      ...(instance === undefined ? {} : { instance }),
      ...(namedBy === undefined ? {} : { namedBy }),
    });
  }

  #over(live: Live): void {
    if (live !== this.#live) return;
    this.#live = undefined;
    if (live.connected) {
      this.#staleSince = this.#context.clock.now();
      this.#context.onEvent({ kind: "disconnected", name: this.name });
    }
    this.#await();
  }

  /** Counts the time that it is kept, while it is away. */
  #await(): void {
    if (this.#keep === undefined || this.#live !== undefined) this.#expiry.stop();
    else this.#expiry.start(this.#staleSince + this.#keep);
  }
}
