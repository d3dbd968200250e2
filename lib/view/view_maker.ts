/**
 * Makes the view of one kind of client out of a catalogue by a recipe, each time from the view before:
 * only services that changed contribute anew, only shared resources with a changed part are put
 * together again, and everything else stays the very same bytes.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { XDS_TYPES, type XdsTypeName } from "../model/xds_type.ts";
import { Collection } from "../snapshot/collection.ts";
import { Claims } from "./claims.ts";
import type { Contribution, Recipe, ViewFinding } from "./recipe.ts";
import { Groups } from "./groups.ts";
import type { Addresses, Catalogue, ServedService, ViewContext } from "./served_service.ts";

/** What one kind of client gets of a catalogue. Immutable; shares with earlier views what did not change. */
export interface XdsView {
  /** Every type of {@link XDS_TYPES} is there, empty or not. */
  readonly collections: ReadonlyMap<XdsTypeName, Collection>;
  /** DNS names whose addresses it is made of, or would be if they were known. */
  readonly lookUps: ReadonlySet<string>;
  /** In the order of services' keys, of each as its recipe gives them; then those of shared resources. */
  readonly findings: readonly ViewFinding[];
}

/** Makes one view after another. */
export interface Maker {
  /** The view of this catalogue; the same object where nothing changed. */
  make(catalogue: Catalogue, addresses: Addresses): XdsView;
}

/** A maker that goes by this recipe. */
export function makerOf<Data>(recipe: Recipe<Data>): Maker {
  return new ViewMaker(recipe);
}

/** What a service contributed, and out of what. */
interface Contributed<Data> {
  readonly served: ServedService;
  readonly contribution: Contribution<Data>;
  /** Addresses of its look-ups, in their order. */
  readonly addresses: readonly (readonly string[] | undefined)[];
}

/** What goes into resources. */
type Given<Data> = Pick<Contribution<Data>, "resources" | "parts">;

/** The key of what is there whatever the services. */
const STANDING = "";

class ViewMaker<Data> implements Maker {
  readonly #recipe: Recipe<Data>;
  readonly #contributed = new Map<string, Contributed<Data>>();
  readonly #claims = new Claims();
  readonly #groups: Groups<Data>;
  #standing: Given<Data> | undefined;
  #context: ViewContext | undefined;
  #view: XdsView = emptyView();

  constructor(recipe: Recipe<Data>) {
    this.#recipe = recipe;
    this.#groups = new Groups(recipe);
  }

  make(catalogue: Catalogue, addresses: Addresses): XdsView {
    const { services, context } = catalogue;
    let changed = this.#context !== context && this.#begin(context);
    for (const key of this.#contributed.keys()) {
      if (!services.has(key)) changed = this.#remove(key);
    }
    for (const served of services.values()) {
      if (this.#isCurrent(served, addresses)) continue;
      this.#remove(served.key);
      this.#add(served, addresses, context);
      changed = true;
    }
    if (changed) this.#view = this.#patched(context, services.keys());
    return this.#view;
  }

  #isCurrent(served: ServedService, addresses: Addresses): boolean {
    const had = this.#contributed.get(served.key);
    return had?.served === served &&
      had.contribution.lookUps.every((name, i) => sameTexts(addresses.get(name), had.addresses[i]));
  }

  #add(served: ServedService, addresses: Addresses, context: ViewContext): void {
    const { key } = served;
    const contribution = this.#recipe.contribute(served, context, addresses);
    const known = contribution.lookUps.map((name) => addresses.get(name));
    this.#contributed.set(key, { served, contribution, addresses: known });
    this.#give(key, contribution);
  }

  #remove(key: string): boolean {
    const had = this.#contributed.get(key);
    if (had === undefined) return false;
    this.#contributed.delete(key);
    this.#take(key, had.contribution);
    return true;
  }

  #give(key: string, given: Given<Data>): void {
    for (const [type, resources] of resourcesOf(given)) {
      for (const resource of resources) this.#claims.add(type, key, resource);
    }
    for (const part of given.parts) this.#groups.add(key, part);
  }

  #take(key: string, given: Given<Data>): void {
    for (const [type, resources] of resourcesOf(given)) {
      for (const { name } of resources) this.#claims.remove(type, key, name);
    }
    for (const part of given.parts) this.#groups.remove(key, part);
  }

  /** Forgets all that was made in another context; true if anything may differ now. */
  #begin(context: ViewContext): boolean {
    const had = this.#standing !== undefined || this.#contributed.size > 0;
    for (const key of [...this.#contributed.keys()]) this.#remove(key);
    if (this.#standing !== undefined) this.#take(STANDING, this.#standing);
    this.#context = context;
    this.#standing = this.#recipe.standing?.(context);
    if (this.#standing !== undefined) this.#give(STANDING, this.#standing);
    return had || this.#standing !== undefined;
  }

  #patched(context: ViewContext, keys: Iterable<string>): XdsView {
    const own = this.#claims.settle();
    const shared = this.#groups.settle(context);
    const collections = new Map(XDS_TYPES.map(({ name: type }) => {
      const outcomes = [...own.get(type) ?? [], ...shared.get(type) ?? []];
      const changed = outcomes.flatMap(([, resource]) => resource === undefined ? [] : [resource]);
      const gone = outcomes.flatMap(([name, resource]) => resource === undefined ? [name] : []);
      return [type, this.#view.collections.get(type)!.patch(changed, gone)] as const;
    }));
    return { collections, lookUps: this.#lookUps(), findings: this.#findings(keys) };
  }

  #lookUps(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { contribution: { lookUps } } of this.#contributed.values()) {
      for (const name of lookUps) names.add(name);
    }
    return names;
  }

  #findings(keys: Iterable<string>): readonly ViewFinding[] {
    const findings: ViewFinding[] = [];
    for (const key of keys) findings.push(...this.#contributed.get(key)!.contribution.findings);
    findings.push(...this.#claims.findings());
    for (const group of this.#groups.values()) {
      findings.push(...group.findings);
    }
    return findings;
  }
}

/** A name of a type and what is served under it from now on; undefined: nothing any more. */
export type Outcome = readonly [name: string, resource: Resource | undefined];

function resourcesOf<Data>(
  { resources }: Given<Data>,
): (readonly [XdsTypeName, readonly Resource[]])[] {
  return XDS_TYPES.flatMap(({ name }) => {
    const of = resources[name];
    return of === undefined ? [] : [[name, of] as const];
  });
}

function sameTexts(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.length === b.length &&
    a.every((text, i) => text === b[i]);
}

function emptyView(): XdsView {
  const collections = new Map(
    XDS_TYPES.map(({ name, typeUrl }) => [name, Collection.empty(typeUrl)]),
  );
  return { collections, lookUps: new Set(), findings: [] };
}
