/**
 * The publisher: takes what loads change and what other sources give, holds back what the guard does
 * not let pass, saves, then publishes. While a save runs, further changes merge: the newest is next.
 * Settings are never held back, and each source is judged by itself.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { Hub, Publication } from "../snapshot/hub.ts";
import { makeSnapshot, ownCollections, type Snapshot } from "../snapshot/snapshot.ts";
import type { SnapshotStore, StoredSnapshot } from "../snapshot/store.ts";
import type { Clock } from "./clock.ts";
import { type Due, mergeDue, OwnPart } from "./own_part.ts";
import { type Collections, type Offered, OWN_PART, ownOnly, Parts, type Uniter } from "./parts.ts";
import type {
  Alert,
  Confirmation,
  Load,
  OfferOptions,
  PublisherEvent,
  PublisherStatus,
  TakeOptions,
} from "./publishing.ts";
import { describePublishing, SAVE_BUDGET } from "./publisher_status.ts";
import { type SaveOutcome, Saver } from "./saver.ts";

export { SAVE_BUDGET } from "./publisher_status.ts";
export type {
  Alert,
  Confirmation,
  HeldCandidate,
  Load,
  PublisherEvent,
  PublisherStatus,
  TakeOptions,
} from "./publishing.ts";

/** What a {@link Publisher} is made of. */
export interface PublisherOptions {
  readonly hub: Hub;
  readonly store: SnapshotStore;
  readonly clock: Clock;
  /** Makes what unites our own resources with those of other sources; `stored` is what the store gave, if anything. Default: there are no other sources. */
  readonly unite?: (stored: Snapshot | undefined) => Uniter;
  /** Told what happens. Must not throw. */
  readonly onEvent?: (event: PublisherEvent) => void;
}

/** Turns loads into publications. The only one to publish on its hub. */
export class Publisher implements AsyncDisposable {
  readonly #hub: Hub;
  readonly #store: SnapshotStore;
  readonly #clock: Clock;
  readonly #onEvent: (event: PublisherEvent) => void;
  readonly #saver: Saver;
  readonly #parts: Parts;
  readonly #unite: (stored: Snapshot | undefined) => Uniter;
  #uniter: Uniter | undefined;
  readonly #own: OwnPart;
  /** What has changed since the last publication. */
  #due: Due | undefined;
  readonly #created: number;
  #publishedAt = 0;
  #restoreFailed: Alert | undefined;
  #pauses = 0;
  #pumping = false;
  #pump = Promise.resolve();
  #closed = false;

  constructor({ hub, store, clock, unite = ownOnly, onEvent = () => {} }: PublisherOptions) {
    this.#hub = hub;
    this.#store = store;
    this.#clock = clock;
    this.#created = clock.now();
    this.#onEvent = onEvent;
    this.#unite = unite;
    this.#own = new OwnPart(() => clock.now(), {
      held: (id, verdict) => onEvent({ kind: "held", id, verdict }),
      released: (id, why) => onEvent({ kind: "released", id, why }),
    });
    this.#parts = new Parts({
      held: ({ id, part, verdict }) => onEvent({ kind: "held", id, part: part!, verdict }),
      released: ({ id, part }, why) => onEvent({ kind: "released", id, part: part!, why }),
    });
    this.#saver = new Saver(store, clock, {
      saved: (id, { ms, ...report }) => onEvent({ kind: "saved", id, report, ms }),
      saveFailed: (id, error, failing) => onEvent({ kind: "saveFailed", id, error, failing }),
    });
  }

  /**
   * Publishes the newest snapshot of the store, before any load; gives it back. A store that cannot
   * be read gives nothing, with an event and an alert: the configuration may still serve.
   */
  async restore(): Promise<StoredSnapshot | undefined> {
    try {
      const stored = await this.#store.load();
      if (stored === undefined) return undefined;
      const { snapshot, savedAt } = stored;
      this.#saver.note(snapshot.id, savedAt);
      this.#onEvent({ kind: "restored", stored });
      this.#uniter = this.#unite(snapshot);
      const own = makeSnapshot({ ...snapshot, collections: ownCollections(snapshot) });
      this.#own.adopt(own);
      this.#uniter.set(OWN_PART, own.collections);
      const causes: readonly Cause[] = [{ kind: "start" }];
      this.#publish({ snapshot, changedAt: this.#clock.now(), causes }, "saved");
      return stored;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#restoreFailed = { kind: "restoreFailed", since: this.#clock.now(), message };
      this.#onEvent({ kind: "restoreFailed", error });
      return undefined;
    }
  }

  /**
   * Takes a load; what comes of it is published or held soon after. Throws RangeError or TypeError on
   * changes that do not fit together, and is then as it was: ask for a full load.
   */
  take(load: Load, options: TakeOptions): void {
    if (!load.usable || load.settings === undefined || this.#closed) return;
    this.#own.take(load, options);
    this.#start();
  }

  /**
   * Takes all that another source has to give, by kind; undefined: it is gone. It is published soon
   * after, with whatever else has changed, unless the guard holds it. Nothing is published before there
   * are settings.
   */
  offer(
    part: string,
    collections: Collections | undefined,
    { changedAt, trusted = false, causes = [{ kind: "source", name: part }] }: OfferOptions,
  ): Offered {
    if (this.#closed) return "same";
    const limit = trusted ? 1 : this.#own.settings?.push.guard ?? 1;
    const offered = this.#parts.offer(part, collections, { limit, since: this.#clock.now() });
    if (offered === "accepted") {
      this.#change(part, collections, { causes, changedAt });
    }
    return offered;
  }

  /** Lets the held candidate with this id pass. */
  confirm(id: string): Confirmation {
    if (this.#own.confirm(id)) {
      this.#start();
      return { ok: true };
    }
    const part = this.#parts.confirm(id);
    if (part !== undefined) {
      const { name, collections } = part;
      const causes: readonly Cause[] = [{ kind: "source", name }, { kind: "confirmed", id }];
      // Its latency counts from here: what came before was a person's time.
      this.#change(name, collections, { causes, changedAt: this.#clock.now() });
      return { ok: true };
    }
    const { held } = this.#own;
    const waiting = [...(held === undefined ? [] : [held]), ...this.#parts.held];
    const message = waiting.length === 0
      ? `no snapshot waits to be confirmed`
      : `the snapshot that waits to be confirmed is ${
        waiting.map((one) => one.id).join(", ")
      }, not ${id}`;
    return { ok: false, message };
  }

  /** Our own resources and those of other sources are put together in another way from now on. */
  reunited(): void {
    const changedAt = this.#clock.now();
    this.#due = mergeDue(this.#due, { changedAt, causes: [{ kind: "settings" }] });
    this.#start();
  }

  /** Publishes nothing until disposed, so that several offers go out as one. */
  pause(): Disposable {
    this.#pauses++;
    let over = false;
    return {
      [Symbol.dispose]: () => {
        if (over) return;
        over = true;
        this.#pauses--;
        this.#start();
      },
    };
  }

  /** Resolves when everything taken so far is published, held, or replaced by something newer. */
  async idle(): Promise<void> {
    while (this.#pumping) await this.#pump;
  }

  /** How publishing stands. */
  status(): PublisherStatus {
    return describePublishing({
      current: this.#hub.current,
      publishedAt: this.#publishedAt,
      held: this.#own.held,
      heldParts: this.#parts.held,
      save: this.#saver.status,
      store: this.#store,
      created: this.#created,
      restoreFailed: this.#restoreFailed,
      now: this.#clock.now(),
    });
  }

  #start(): void {
    if (this.#closed || this.#pumping || this.#pauses > 0) return;
    this.#pumping = true;
    this.#pump = this.#run();
  }

  async #run(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        const save = await this.#saver.save(next.snapshot, SAVE_BUDGET);
        if (this.#closed) return;
        this.#publish(next, save);
      }
    } finally {
      this.#pumping = false;
    }
  }

  /** The next to be published, if any; what may not be is held. */
  #next(): Publication | undefined {
    // Again after each: who is told that something is held may confirm it, or load anew, then and there.
    while (this.#pauses === 0) {
      const step = this.#own.step();
      if (step === undefined) return this.#compose();
      const { due, adopted, confirmed } = step;
      if (adopted !== undefined) this.#union.set(OWN_PART, adopted.collections);
      this.#due = mergeDue(this.#due, due);
      // What a person let pass goes out as it is, whatever has come since.
      if (confirmed) return this.#compose();
    }
    return undefined;
  }

  /** Everything that is in effect now, where that is news. */
  #compose(): Publication | undefined {
    const due = this.#due;
    this.#due = undefined;
    const { inEffect, settings } = this.#own;
    if (due === undefined || inEffect === undefined || settings === undefined) return undefined;
    const { services } = inEffect;
    const { collections, origins } = this.#union;
    const parts = { collections, services, settings };
    const snapshot = makeSnapshot(origins === undefined ? parts : { ...parts, origins });
    if (snapshot.id === this.#hub.current?.snapshot.id) return undefined;
    return { snapshot, ...due };
  }

  get #union(): Uniter {
    return this.#uniter ??= this.#unite(undefined);
  }

  /** Puts what another source gives into effect. */
  #change(part: string, collections: Collections | undefined, due: Due): void {
    this.#union.set(part, collections);
    this.#due = mergeDue(this.#due, due);
    this.#start();
  }

  #publish(publication: Publication, save: SaveOutcome): void {
    const before = this.#hub.current?.snapshot;
    this.#publishedAt = this.#clock.now();
    this.#hub.publish(publication);
    this.#onEvent({ kind: "published", publication, save, ...(before && { before }) });
  }

  /** Publishes nothing more; what is published and not yet saved gets one more try, for 2 s at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#saver[Symbol.asyncDispose]();
    await this.idle();
  }
}
