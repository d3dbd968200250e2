/**
 * The publisher: takes what loads change, holds back what the guard does not let pass, saves, then
 * publishes. While a save runs, further changes merge: the newest candidate is next.
 *
 * @module
 */
import type { CollectionChange } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";
import { applyChanges } from "../snapshot/apply.ts";
import type { Hub, Publication } from "../snapshot/hub.ts";
import { emptySnapshot, resourceCount, type Snapshot } from "../snapshot/snapshot.ts";
import type { SaveReport, SnapshotStore, StoredSnapshot } from "../snapshot/store.ts";
import type { Clock } from "./clock.ts";
import { guard, type Verdict } from "./guard.ts";
import { type SaveOutcome, Saver, type SaverStatus } from "./saver.ts";

/** Publishing waits no longer than this for a save. Milliseconds. */
export const SAVE_BUDGET = 250;

/** What the publisher reads of a load; `LoadResult` is one. */
export interface Load {
  /** False: nothing could be made of the configuration, what is published stays. */
  readonly usable: boolean;
  readonly settings?: Settings;
  readonly changes: readonly CollectionChange[];
}

/** Options of {@link Publisher.take}. */
export interface TakeOptions {
  /** When the change was noticed. Milliseconds since the epoch. */
  readonly changedAt: number;
  /** The load holds everything, nothing sent before counts; the first load always does. */
  readonly full?: boolean;
}

/** Something that happened, for logs and metrics. */
export type PublisherEvent =
  | { readonly kind: "restored"; readonly stored: StoredSnapshot }
  | { readonly kind: "restoreFailed"; readonly error: unknown }
  | {
    readonly kind: "published";
    readonly publication: Publication;
    /** Whether it was in the store by then. */
    readonly save: SaveOutcome;
  }
  | { readonly kind: "held"; readonly id: string; readonly verdict: Verdict }
  | { readonly kind: "released"; readonly id: string; readonly why: "confirmed" | "replaced" }
  | {
    readonly kind: "saved";
    readonly id: string;
    readonly report: SaveReport;
    /** Milliseconds. */
    readonly ms: number;
  }
  | {
    readonly kind: "saveFailed";
    readonly id: string;
    readonly error: unknown;
    readonly failing: NonNullable<SaverStatus["failing"]>;
  };

/** A candidate that waits for a person. */
export interface HeldCandidate {
  readonly id: string;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why it waits and what to do, for people. */
  readonly message: string;
}

/** Something that a person should see to. */
export interface Alert {
  readonly kind: "held" | "notDurable" | "restoreFailed" | "saveFailed" | "saveSlow";
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/** How publishing stands. Times in milliseconds since the epoch. */
export interface PublisherStatus {
  readonly published?: {
    readonly id: string;
    readonly changedAt: number;
    readonly publishedAt: number;
    readonly resources: number;
    /** Whether it is the newest in the store. */
    readonly saved: boolean;
  };
  readonly held?: HeldCandidate;
  readonly save: SaverStatus;
  readonly store: {
    readonly place: string;
    readonly durable: boolean;
    readonly findings: readonly Finding[];
  };
  readonly alerts: readonly Alert[];
}

/** What {@link Publisher.confirm} came to. */
export type Confirmation =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string };

/** What a {@link Publisher} is made of. */
export interface PublisherOptions {
  readonly hub: Hub;
  readonly store: SnapshotStore;
  readonly clock: Clock;
  /** Told what happens. Must not throw. */
  readonly onEvent?: (event: PublisherEvent) => void;
}

interface Held extends HeldCandidate {
  readonly snapshot: Snapshot;
}

/** Turns loads into publications. The only one to publish on its hub. */
export class Publisher implements AsyncDisposable {
  readonly #hub: Hub;
  readonly #store: SnapshotStore;
  readonly #clock: Clock;
  readonly #onEvent: (event: PublisherEvent) => void;
  readonly #saver: Saver;
  /** What all loads so far add up to, published or not. */
  #loaded: Snapshot | undefined;
  /** Newest of what is to be judged. */
  #candidate: Publication | undefined;
  /** What a person let pass; goes before any candidate. */
  #confirmed: Publication | undefined;
  #held: Held | undefined;
  readonly #created: number;
  #publishedAt = 0;
  #restoreFailed: Alert | undefined;
  #pumping = false;
  #pump = Promise.resolve();
  #closed = false;

  constructor({ hub, store, clock, onEvent = () => {} }: PublisherOptions) {
    this.#hub = hub;
    this.#store = store;
    this.#clock = clock;
    this.#created = clock.now();
    this.#onEvent = onEvent;
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
      this.#saver.note(stored.snapshot.id, stored.savedAt);
      this.#onEvent({ kind: "restored", stored });
      this.#publish({ snapshot: stored.snapshot, changedAt: this.#clock.now() }, "saved");
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
  take(load: Load, { changedAt, full = false }: TakeOptions): void {
    if (!load.usable || load.settings === undefined || this.#closed) return;
    const base = this.#loaded ?? this.#hub.current?.snapshot ?? emptySnapshot(load.settings);
    const first = this.#loaded === undefined;
    const snapshot = applyChanges(base, load.changes, load.settings, { full: full || first });
    this.#loaded = snapshot;
    const earliest = Math.min(changedAt, this.#candidate?.changedAt ?? changedAt);
    this.#candidate = { snapshot, changedAt: earliest };
    this.#start();
  }

  /** Lets the held candidate with this id pass. */
  confirm(id: string): Confirmation {
    const held = this.#held;
    if (held?.id !== id) {
      const message = held === undefined
        ? `no snapshot waits to be confirmed`
        : `the snapshot that waits to be confirmed is ${held.id}, not ${id}`;
      return { ok: false, message };
    }
    // Its latency counts from here: what came before was a person's time.
    this.#confirmed = { snapshot: held.snapshot, changedAt: this.#clock.now() };
    this.#release("confirmed");
    this.#start();
    return { ok: true };
  }

  /** Resolves when everything taken so far is published, held, or replaced by something newer. */
  async idle(): Promise<void> {
    while (this.#pumping) await this.#pump;
  }

  /** How publishing stands. */
  status(): PublisherStatus {
    const current = this.#hub.current;
    const save = this.#saver.status;
    return {
      ...(current && {
        published: {
          id: current.snapshot.id,
          changedAt: current.changedAt,
          publishedAt: this.#publishedAt,
          resources: resourceCount(current.snapshot),
          saved: save.saved?.id === current.snapshot.id,
        },
      }),
      ...(this.#held && { held: withoutSnapshot(this.#held) }),
      save,
      store: {
        place: this.#store.place,
        durable: this.#store.durable,
        findings: this.#store.findings(),
      },
      alerts: this.#alerts(save),
    };
  }

  #alerts({ failing, running }: SaverStatus): Alert[] {
    const alerts: Alert[] = [];
    if (!this.#store.durable) {
      const message = "snapshots are kept in memory only: a restart will not find them";
      alerts.push({ kind: "notDurable", since: this.#created, message });
    }
    if (this.#restoreFailed !== undefined) alerts.push(this.#restoreFailed);
    if (this.#held !== undefined) {
      alerts.push({ kind: "held", since: this.#held.since, message: this.#held.message });
    }
    if (failing !== undefined) {
      const message = `${failing.message} (tried ${failing.failures} times; a restart would ` +
        `serve what was saved last)`;
      alerts.push({ kind: "saveFailed", since: failing.since, message });
    }
    if (running !== undefined && this.#clock.now() - running.since >= SAVE_BUDGET) {
      const message = `saving the snapshot ${running.id} takes long; it may be served already`;
      alerts.push({ kind: "saveSlow", since: running.since, message });
    }
    return alerts;
  }

  #start(): void {
    if (this.#closed || this.#pumping) return;
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

  /** The next that may be published, if any; what may not is held. */
  #next(): Publication | undefined {
    const confirmed = this.#confirmed;
    this.#confirmed = undefined;
    if (confirmed !== undefined) return confirmed;
    const candidate = this.#candidate;
    this.#candidate = undefined;
    if (candidate === undefined) return undefined;
    const { snapshot } = candidate;
    if (snapshot.id === this.#held?.id) return undefined;
    this.#release("replaced");
    const published = this.#hub.current?.snapshot;
    if (snapshot.id === published?.id) return undefined;
    const verdict = guard(published, snapshot);
    if (verdict.pass) return candidate;
    this.#hold(snapshot, verdict);
    return undefined;
  }

  #hold(snapshot: Snapshot, verdict: Verdict): void {
    const { id } = snapshot;
    const message = `the snapshot ${id} would remove ${verdict.removed} of ${verdict.of} ` +
      `resources, more than push.guard (${verdict.limit}) lets pass; if that is meant, ` +
      `run: pinnace snapshots confirm ${id}`;
    this.#held = { id, snapshot, verdict, since: this.#clock.now(), message };
    this.#onEvent({ kind: "held", id, verdict });
  }

  #release(why: "confirmed" | "replaced"): void {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#onEvent({ kind: "released", id: held.id, why });
  }

  #publish(publication: Publication, save: SaveOutcome): void {
    this.#publishedAt = this.#clock.now();
    this.#hub.publish(publication);
    this.#onEvent({ kind: "published", publication, save });
  }

  /** Publishes nothing more; what is published and not yet saved gets one more try, for 2 s at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#saver[Symbol.asyncDispose]();
    await this.idle();
  }
}

function withoutSnapshot({ id, verdict, since, message }: Held): HeldCandidate {
  return { id, verdict, since, message };
}
