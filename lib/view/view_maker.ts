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
import { attempt, failed } from "./attempt.ts";
import { Claims } from "./claims.ts";
import type { Contribution, Recipe, ViewFinding } from "./recipe.ts";
import { Groups } from "./groups.ts";
import { runThrough } from "./run_through.ts";
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
  /**
   * The view of this catalogue; the same object where nothing changed. Yields every few services, so
   * that a large view need not hold up everything else; whoever stops in between loses nothing: the
   * next one, of whichever catalogue, goes on from there.
   */
  making(catalogue: Catalogue, addresses: Addresses): Generator<void, XdsView>;
  /** The same without a pause. */
  make(catalogue: Catalogue, addresses: Addresses): XdsView;
}

/** Services between two yields. */
const STRIDE = 20;

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
  /** Keys of services whose contribution has look-ups. */
  readonly #looking = new Set<string>();
  /** Keys of services of which there is something to say. */
  readonly #remarkable = new Set<string>();
  #standing: Given<Data> | undefined;
  #context: ViewContext | undefined;
  /** Whether anything may differ from the view. */
  #changed = false;
  #view: XdsView = emptyView();

  constructor(recipe: Recipe<Data>) {
    this.#recipe = recipe;
    this.#groups = new Groups(recipe);
  }

  make(catalogue: Catalogue, addresses: Addresses): XdsView {
    return runThrough(this.making(catalogue, addresses));
  }

  *making(catalogue: Catalogue, addresses: Addresses): Generator<void, XdsView> {
    const { services, context } = catalogue;
    if (this.#context !== context) this.#begin(context);
    for (const key of this.#contributed.keys()) {
      if (!services.has(key)) this.#replace(key, undefined);
    }
    let made = 0;
    for (const served of services.values()) {
      if (this.#isCurrent(served, addresses)) continue;
      this.#replace(served.key, this.#contribute(served, addresses, context));
      if (++made % STRIDE === 0) yield;
    }
    if (this.#changed) this.#view = this.#patched(context);
    this.#changed = false;
    return this.#view;
  }

  #isCurrent(served: ServedService, addresses: Addresses): boolean {
    const had = this.#contributed.get(served.key);
    return had?.served === served &&
      had.contribution.lookUps.every((name, i) => sameTexts(addresses.get(name), had.addresses[i]));
  }

  #contribute(
    served: ServedService,
    addresses: Addresses,
    context: ViewContext,
  ): Contributed<Data> {
    const contribution = attempt(
      () => this.#recipe.contribute(served, context, addresses),
      (message) => ({
        resources: {},
        parts: [],
        lookUps: [],
        findings: [failed(served.key, message)],
      }),
    );
    const known = contribution.lookUps.map((name) => addresses.get(name));
    return { served, contribution, addresses: known };
  }

  #replace(key: string, next: Contributed<Data> | undefined): void {
    this.#changed = true;
    const has = next?.contribution;
    this.#exchange(key, this.#contributed.get(key)?.contribution, has);
    if (next === undefined) this.#contributed.delete(key);
    else this.#contributed.set(key, next);
    note(this.#looking, key, has !== undefined && has.lookUps.length > 0);
    note(this.#remarkable, key, has !== undefined && has.findings.length > 0);
  }

  #exchange(key: string, had: Given<Data> | undefined, has: Given<Data> | undefined): void {
    for (const [type, resources] of resourcesOf(had)) {
      for (const { name } of resources) this.#claims.remove(type, key, name);
    }
    for (const [type, resources] of resourcesOf(has)) {
      for (const resource of resources) this.#claims.add(type, key, resource);
    }
    this.#groups.replace(key, had?.parts ?? [], has?.parts ?? []);
  }

  /** Forgets all that was made in another context. */
  #begin(context: ViewContext): void {
    for (const key of [...this.#contributed.keys()]) this.#replace(key, undefined);
    const standing = this.#recipe.standing?.(context);
    this.#groups.touchAll(); // they are made with the context as well
    this.#exchange(STANDING, this.#standing, standing);
    this.#standing = standing;
    this.#context = context;
    this.#changed = true;
  }

  #patched(context: ViewContext): XdsView {
    const own = this.#claims.settle();
    const shared = this.#groups.settle(context);
    const collections = new Map(XDS_TYPES.map(({ name: type }) => {
      const outcomes = [...own.get(type) ?? [], ...shared.get(type) ?? []];
      const changed = outcomes.flatMap(([, resource]) => resource === undefined ? [] : [resource]);
      const gone = outcomes.flatMap(([name, resource]) => resource === undefined ? [name] : []);
      return [type, this.#view.collections.get(type)!.patch(changed, gone)] as const;
    }));
    return { collections, lookUps: this.#lookUps(), findings: this.#findings() };
  }

  #lookUps(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const key of this.#looking) {
      for (const name of this.#contributed.get(key)!.contribution.lookUps) names.add(name);
    }
    return names;
  }

  #findings(): readonly ViewFinding[] {
    const findings = [...this.#remarkable].sort().flatMap((key) =>
      this.#contributed.get(key)!.contribution.findings
    );
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
  given: Given<Data> | undefined,
): (readonly [XdsTypeName, readonly Resource[]])[] {
  if (given === undefined) return [];
  const { resources } = given;
  return XDS_TYPES.flatMap(({ name }) => {
    const of = resources[name];
    return of === undefined ? [] : [[name, of] as const];
  });
}

/** Has the key in the set, or not. */
function note(keys: Set<string>, key: string, has: boolean): void {
  if (has) keys.add(key);
  else keys.delete(key);
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
