/**
 * Which source gives each resource that is served, kept in step with what is served: what a snapshot
 * remembers of it, so that after a restart everyone has what they had.
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import { type Collections, OWN_PART } from "../rollout/parts.ts";
import { Collection } from "../snapshot/collection.ts";
import { ORIGINS_ANY_TYPE } from "../snapshot/snapshot.ts";

const NOTHING = Collection.empty(ORIGINS_ANY_TYPE);
const NO_BYTES = new Uint8Array(0);

/** What is followed; a `Union` is one. */
export interface Ownership {
  readonly collections: Collections;
  /** The part that a served resource comes from. */
  owner(kind: string, name: string): string | undefined;
  /** Names that several parts offer: these can change hands though nothing else changes. */
  contested(kind: string): Iterable<string>;
}

/** Follows what is served. A change costs what changed, and what is contested. */
export class Origins {
  readonly #union: Ownership;
  #served: Collections = new Map();
  #contested = new Map<string, readonly string[]>();
  #origins: ReadonlyMap<string, Collection> = new Map();

  constructor(union: Ownership) {
    this.#union = union;
  }

  /** The origins of what is served now, by kind: the `version` of an entry is the source's name. Our own have none. */
  now(): ReadonlyMap<string, Collection> {
    const { collections } = this.#union;
    const origins = new Map(this.#origins);
    let same = true;
    for (const [kind, collection] of collections) {
      const before = this.#origins.get(kind) ?? NOTHING;
      const next = this.#follow(kind, collection, before);
      if (next !== before) same = false;
      origins.set(kind, next);
    }
    this.#served = collections;
    if (!same) this.#origins = origins;
    return this.#origins;
  }

  #follow(kind: string, collection: Collection, origins: Collection): Collection {
    const { changed, removed } = collection.diff(this.#served.get(kind) ?? NOTHING);
    const contested = [...this.#union.contested(kind)];
    const earlier = this.#contested.get(kind) ?? [];
    this.#contested.set(kind, contested);
    const given: Resource[] = [];
    const gone = [...removed];
    for (const name of [...changed.map((one) => one.name), ...earlier, ...contested]) {
      const owner = this.#union.owner(kind, name);
      if (owner === undefined || owner === OWN_PART) gone.push(name);
      else given.push({ name, version: owner, bytes: NO_BYTES });
    }
    return given.length + gone.length === 0 ? origins : origins.patch(given, gone);
  }
}

/** What a snapshot served of other sources, by source and kind. */
export function servedBySource(
  collections: Collections,
  origins: Collections,
): ReadonlyMap<string, Collections> {
  const found = new Map<string, Map<string, Resource[]>>();
  for (const [kind, entries] of origins) {
    for (const { name, version: source } of entries) {
      const resource = collections.get(kind)?.get(name);
      if (resource === undefined) continue;
      const kinds = found.get(source) ?? new Map<string, Resource[]>();
      found.set(source, kinds);
      const resources = kinds.get(kind);
      if (resources === undefined) kinds.set(kind, [resource]);
      else resources.push(resource);
    }
  }
  const collect = (resources: readonly Resource[]) =>
    Collection.of(MCP_RESOURCE_TYPE_URL, resources);
  return new Map(
    Array.from(found, ([source, kinds]) => [
      source,
      new Map(Array.from(kinds, ([kind, resources]) => [kind, collect(resources)])),
    ]),
  );
}
