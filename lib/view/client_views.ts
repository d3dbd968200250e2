/**
 * Client views: what an Envoy, a proxyless gRPC program or a Dubbo application gets of a snapshot. A
 * view is a snapshot that holds, besides Istio's kinds, the xDS types. Each is made when the first such
 * client asks, once for all that are limited alike, and from the view before it.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { contentHash } from "../wire/hash.ts";
import { Catalogues } from "./catalogue.ts";
import { type ViewFinding } from "./recipe.ts";
import type { Addresses } from "./served_service.ts";
import { keyOf, type Select } from "./select.ts";
import type { Sliced, Slices } from "./slices.ts";
import type { Maker, XdsView } from "./view_maker.ts";

/** Kinds of clients that have views of their own; Istio's get the snapshot as it is. */
export type ViewKind = Exclude<ClientKind, "istio">;

/** Options of {@link ClientViews}. */
export interface ClientViewsOptions {
  /** Makes a maker of each kind's views. */
  readonly makers: Readonly<Record<ViewKind, () => Maker>>;
  readonly addresses: Addresses;
  /** Called after a view was made that differs from the one before, with what there is to say of it. */
  readonly onMade?: (kind: ViewKind, view: XdsView) => void;
  /** Called when a view needs names that the one before did not, before it is asked whether they are pending. */
  readonly onWanted?: () => void;
  /** Called when a view is ready that could not be had at once: it is to be asked for again. */
  readonly onReady: () => void;
  /** How work is done that takes long. */
  readonly slices: Slices;
}

/** What a client is to get. */
export interface ClientView {
  /** The newest view that is made; absent: there is none yet. */
  readonly view?: Snapshot;
  /** Whether it is of the snapshot asked for; else that one is being made. */
  readonly current: boolean;
}

/** Makes client views. */
export class ClientViews {
  readonly #options: ClientViewsOptions;
  readonly #bySelect = new Map<string, SelectClientViews>();

  constructor(options: ClientViewsOptions) {
    this.#options = options;
  }

  /**
   * The view for clients of this kind. `snapshot` is what is selected already, and those of one select
   * must come in the order in which they were published. The same object for the same snapshot, as
   * long as no address changed that it is made of. A view that takes long is made little by little;
   * until it is ready the one before it is given.
   */
  of(kind: ViewKind, select: Select, snapshot: Snapshot): ClientView {
    const key = keyOf(select);
    let views = this.#bySelect.get(key);
    if (views === undefined) {
      views = new SelectClientViews(this.#options);
      this.#bySelect.set(key, views);
    }
    return views.of(kind, snapshot);
  }

  /** Forgets the views of every other kind and select, since no peer has them any more. */
  retain(used: Iterable<readonly [ViewKind, Select]>): void {
    const kinds = new Map<string, Set<ViewKind>>();
    for (const [kind, select] of used) {
      const key = keyOf(select);
      kinds.set(key, (kinds.get(key) ?? new Set()).add(kind));
    }
    for (const [key, views] of this.#bySelect) {
      const wanted = kinds.get(key);
      views.retain(wanted ?? new Set());
      if (wanted === undefined) this.#bySelect.delete(key);
    }
  }

  /** DNS names whose addresses the views need. */
  lookUps(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const views of this.#bySelect.values()) {
      for (const lookUps of views.lookUps()) for (const name of lookUps) names.add(name);
    }
    return names;
  }

  /** What there is to say of the views that are kept, by kind. */
  findings(): ReadonlyMap<ViewKind, readonly ViewFinding[]> {
    const findings = new Map<ViewKind, ViewFinding[]>();
    for (const views of this.#bySelect.values()) {
      for (const [kind, view] of views.byKind()) {
        findings.set(kind, [...findings.get(kind) ?? [], ...view.findings]);
      }
    }
    return findings;
  }

  /** Number of views kept. */
  get size(): number {
    let count = 0;
    for (const views of this.#bySelect.values()) count += views.size;
    return count;
  }
}

/** The views of one kind. */
interface Made {
  readonly maker: Maker;
  /** The newest view, and what it is of. */
  of?: Snapshot;
  xds?: XdsView;
  view?: Snapshot;
  /** The view that is being made. */
  work?: Sliced;
  working?: Snapshot;
  /** Set as long as a view is put off. */
  putOff?: PutOff;
}

/** A view that is not to go out before its names were looked up: clients would lose what they have. */
interface PutOff {
  readonly lookUps: ReadonlySet<string>;
  /** One of them that is waited for. */
  readonly name: string;
}

/** The views of one select. */
class SelectClientViews {
  readonly #options: ClientViewsOptions;
  readonly #catalogues = new Catalogues();
  readonly #made = new Map<ViewKind, Made>();

  constructor(options: ClientViewsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#made.size;
  }

  of(kind: ViewKind, snapshot: Snapshot): ClientView {
    let made = this.#made.get(kind);
    if (made === undefined) {
      made = { maker: this.#options.makers[kind]() };
      this.#made.set(kind, made);
    }
    if (made.working !== snapshot || this.#isTried(made)) {
      // Works of one snapshot share their catalogue; none may go on with one that is outdated.
      for (const other of this.#made.values()) if (other.working !== snapshot) giveUp(other);
      this.#begin(kind, made, snapshot);
    }
    const current = made.working === undefined;
    return made.view === undefined ? { current: false } : { view: made.view, current };
  }

  retain(kinds: ReadonlySet<ViewKind>): void {
    for (const [kind, made] of this.#made) {
      if (kinds.has(kind)) continue;
      giveUp(made);
      this.#made.delete(kind);
    }
  }

  /** Names that each view needs, those put off too. */
  *lookUps(): Iterable<ReadonlySet<string>> {
    for (const { xds, putOff } of this.#made.values()) {
      if (xds !== undefined) yield xds.lookUps;
      if (putOff !== undefined) yield putOff.lookUps;
    }
  }

  *byKind(): Iterable<readonly [ViewKind, XdsView]> {
    for (const [kind, { xds }] of this.#made) if (xds !== undefined) yield [kind, xds];
  }

  /** Makes the view, at once or little by little. */
  #begin(kind: ViewKind, made: Made, snapshot: Snapshot): void {
    const { slices, addresses, onReady } = this.#options;
    made.working = snapshot;
    let atOnce = true;
    const done = (xds: XdsView) => {
      delete made.work;
      if (this.#putOff(made, xds)) return;
      delete made.working;
      this.#take(kind, made, snapshot, xds);
      if (!atOnce) onReady();
    };
    const work = slices.run(this.#making(made.maker, snapshot, addresses), done);
    atOnce = false;
    if (!work.over) made.work = work;
  }

  /** Whether the view waits for names that were never looked up; if so, sees to it that they are. */
  #putOff(made: Made, xds: XdsView): boolean {
    const { addresses, onWanted } = this.#options;
    const wanted = [made.xds, made.putOff].some((had) =>
      had !== undefined && xds.lookUps.isSubsetOf(had.lookUps)
    );
    if (!wanted) {
      made.putOff = { lookUps: xds.lookUps, name: "" };
      onWanted?.();
    }
    const name = xds.lookUps.values().find((name) => addresses.pending?.(name));
    if (name === undefined) delete made.putOff;
    else made.putOff = { lookUps: xds.lookUps, name };
    return name !== undefined;
  }

  /** Whether what a view was put off for is over. */
  #isTried({ putOff, work }: Made): boolean {
    return putOff !== undefined && work === undefined &&
      this.#options.addresses.pending?.(putOff.name) !== true;
  }

  *#making(maker: Maker, snapshot: Snapshot, addresses: Addresses): Generator<void, XdsView> {
    return yield* maker.making(yield* this.#catalogues.making(snapshot), addresses);
  }

  #take(kind: ViewKind, made: Made, snapshot: Snapshot, xds: XdsView): void {
    const fresh = made.xds !== xds;
    if (!fresh && made.of === snapshot) return;
    made.of = snapshot;
    made.xds = xds;
    made.view = viewOf(snapshot, xds);
    if (fresh) this.#options.onMade?.(kind, xds);
  }
}

function giveUp(made: Made): void {
  made.work?.stop();
  delete made.work;
  delete made.working;
}

function viewOf(snapshot: Snapshot, { collections }: XdsView): Snapshot {
  const { services, settings, origins } = snapshot;
  let id: string | undefined;
  return {
    collections: new Map([...snapshot.collections, ...collections]),
    services,
    settings,
    ...(origins === undefined ? {} : { origins }),
    get id() {
      return id ??= contentHash([
        snapshot.id,
        ...[...collections].flatMap(([type, { version }]) => [type, version]),
      ]);
    },
  };
}
