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
   * long as no address changed that it is made of.
   */
  of(kind: ViewKind, select: Select, snapshot: Snapshot): Snapshot {
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
      if (wanted === undefined) this.#bySelect.delete(key);
      else views.retain(wanted);
    }
  }

  /** DNS names whose addresses the views need. */
  lookUps(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const views of this.#bySelect.values()) {
      for (const { lookUps } of views.xds()) for (const name of lookUps) names.add(name);
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

/** A kind's newest view. */
interface Made {
  readonly maker: Maker;
  of: Snapshot | undefined;
  xds: XdsView | undefined;
  view: Snapshot | undefined;
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

  of(kind: ViewKind, snapshot: Snapshot): Snapshot {
    const { makers, addresses, onMade } = this.#options;
    let made = this.#made.get(kind);
    if (made === undefined) {
      made = { maker: makers[kind](), of: undefined, xds: undefined, view: undefined };
      this.#made.set(kind, made);
    }
    const xds = made.maker.make(this.#catalogues.of(snapshot), addresses);
    if (made.view !== undefined && made.of === snapshot && made.xds === xds) return made.view;
    const fresh = made.xds !== xds;
    made.of = snapshot;
    made.xds = xds;
    made.view = viewOf(snapshot, xds);
    if (fresh) onMade?.(kind, xds);
    return made.view;
  }

  retain(kinds: ReadonlySet<ViewKind>): void {
    for (const kind of this.#made.keys()) if (!kinds.has(kind)) this.#made.delete(kind);
  }

  *xds(): Iterable<XdsView> {
    for (const [, view] of this.byKind()) yield view;
  }

  *byKind(): Iterable<readonly [ViewKind, XdsView]> {
    for (const [kind, { xds }] of this.#made) if (xds !== undefined) yield [kind, xds];
  }
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
