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

/** Follows what is served. A change costs what changed. */
export class Origins {
  readonly #ownerOf: (kind: string, name: string) => string | undefined;
  #served: Collections = new Map();
  #origins: ReadonlyMap<string, Collection> = new Map();

  /** `ownerOf` gives the part that a served resource comes from. */
  constructor(ownerOf: (kind: string, name: string) => string | undefined) {
    this.#ownerOf = ownerOf;
  }

  /** The origins of what is served now, by kind: the `version` of an entry is the source's name. Our own have none. */
  of(served: Collections): ReadonlyMap<string, Collection> {
    if (served === this.#served) return this.#origins;
    const origins = new Map(this.#origins);
    for (const [kind, collection] of served) {
      const before = this.#served.get(kind) ?? NOTHING;
      if (before === collection) continue;
      origins.set(kind, this.#follow(kind, collection, before));
    }
    this.#served = served;
    return this.#origins = origins;
  }

  #follow(kind: string, collection: Collection, before: Collection): Collection {
    const { changed, removed } = collection.diff(before);
    const given: Resource[] = [];
    const gone = [...removed];
    for (const { name } of changed) {
      const owner = this.#ownerOf(kind, name);
      if (owner === undefined || owner === OWN_PART) gone.push(name);
      else given.push({ name, version: owner, bytes: NO_BYTES });
    }
    return (this.#origins.get(kind) ?? NOTHING).patch(given, gone);
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
