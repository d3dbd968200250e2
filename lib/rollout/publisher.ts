/**
 * The publisher: takes what loads change, holds back what the guard does not let pass, saves, then
 * publishes. While a save runs, further changes merge: the newest candidate is next.
 *
 * @module
 */
import { applyChanges } from "../snapshot/apply.ts";
import type { Hub, Publication } from "../snapshot/hub.ts";
import { emptySnapshot, resourceCount, type Snapshot } from "../snapshot/snapshot.ts";
import type { SnapshotStore, StoredSnapshot } from "../snapshot/store.ts";
import type { Clock } from "./clock.ts";
import { guard, type Verdict } from "./guard.ts";
import type {
  Alert,
  Confirmation,
  HeldCandidate,
  Load,
  PublisherEvent,
  PublisherStatus,
  TakeOptions,
} from "./publishing.ts";
import { type SaveOutcome, Saver, type SaverStatus } from "./saver.ts";

/** Publishing waits no longer than this for a save. Milliseconds. */
export const SAVE_BUDGET = 250;

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
    // Again after each: who is told that something is held may confirm it, or load anew, then and there.
    for (;;) {
      const confirmed = this.#confirmed;
      this.#confirmed = undefined;
      if (confirmed !== undefined) return confirmed;
      const candidate = this.#candidate;
      this.#candidate = undefined;
      if (candidate === undefined || this.#judge(candidate.snapshot)) return candidate;
    }
  }

  /** Whether a candidate is news and may be published; if only the guard is against it, it is held. */
  #judge(snapshot: Snapshot): boolean {
    if (snapshot.id === this.#held?.id) return false;
    this.#release("replaced");
    const published = this.#hub.current?.snapshot;
    if (snapshot.id === published?.id) return false;
    const verdict = guard(published, snapshot);
    if (!verdict.pass) this.#hold(snapshot, verdict);
    return verdict.pass;
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
