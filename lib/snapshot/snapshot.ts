/**
 * A snapshot: everything at one moment, immutable. Snapshots share what did not change.
 *
 * @module
 */
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import { OWN_KINDS, ownNames } from "../model/own_names.ts";
import type { ServiceRecord } from "../model/service.ts";
import type { Settings } from "../model/settings.ts";
import { contentHash } from "../wire/hash.ts";
import { Collection } from "./collection.ts";

/** Everything at one moment. */
export interface Snapshot {
  /** Content hash over all collections, services and settings: equal wherever these are, and after a restart. */
  readonly id: string;
  /** By Kubernetes kind (`ServiceEntry`); every kind of the table is there, empty or not. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** ServiceRecords as JSON, named `namespace/name`: what views are made of. Never on the wire. */
  readonly services: Collection;
  readonly settings: Settings;
  /**
   * Which source gave each resource that is not our own, by kind: the `version` of an entry is the
   * source's name. It decides who goes on having what after a restart. No peer gets it, and it is no
   * part of the id. Absent: there are no other sources.
   */
  readonly origins?: ReadonlyMap<string, Collection>;
}

/** What a snapshot is made of. */
export type SnapshotParts = Omit<Snapshot, "id">;

/** `anyType` of the collection of services, which never reaches a wire. */
export const SERVICES_ANY_TYPE = "pinnace/Service";

/** `anyType` of the collections of origins, which never reach a wire either. */
export const ORIGINS_ANY_TYPE = "pinnace/Origin";

/** A snapshot of these parts, with its id. */
export function makeSnapshot(parts: SnapshotParts): Snapshot {
  const id = contentHash([
    ...KINDS.flatMap(({ kind }) => [kind, parts.collections.get(kind)!.version]),
    parts.services.version,
    canonicalJson(parts.settings),
  ]);
  // Last, so that the id of a snapshot spread into `parts` cannot take its place.
  return { ...parts, id };
}

/** A snapshot without resources or services. */
export function emptySnapshot(settings: Settings): Snapshot {
  return makeSnapshot({
    collections: new Map(
      KINDS.map(({ kind }) => [kind, Collection.empty(MCP_RESOURCE_TYPE_URL)]),
    ),
    services: Collection.empty(SERVICES_ANY_TYPE),
    settings,
  });
}

/** Content hash of a named set of collections by kind; kinds without resources do not count. */
export function collectionsId(name: string, collections: ReadonlyMap<string, Collection>): string {
  const kinds = [...collections].filter(([, { size }]) => size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return contentHash([name, ...kinds.flatMap(([kind, { version }]) => [kind, version])]);
}

/**
 * What a snapshot has of our own configuration, by kind: what no other source gave, or, where that is
 * not known, the resources that its services are the record of.
 */
export function ownCollections(
  { collections, services, origins }: Snapshot,
): Map<string, Collection> {
  return new Map([...collections].map(([kind, collection]) => {
    const named = origins === undefined && collection.size > 0
      ? namesOfServices(kind, services)
      : undefined;
    const isForeign = (name: string) =>
      named === undefined ? origins?.get(kind)?.get(name) !== undefined : !named.has(name);
    const foreign: string[] = [];
    for (const { name } of collection) if (isForeign(name)) foreign.push(name);
    return [kind, collection.patch([], foreign)];
  }));
}

/** Names of the objects of a kind that our own services become. */
function namesOfServices(kind: string, services: Collection): ReadonlySet<string> {
  const own = OWN_KINDS.find((one) => one === kind);
  if (own === undefined) return new Set();
  if (own === "ServiceEntry") return new Set(Array.from(services, ({ name }) => name));
  const decoder = new TextDecoder();
  return new Set(
    Array.from(services).flatMap(({ bytes }) => {
      // Our own store's, which checks what it reads.
      const { service } = JSON.parse(decoder.decode(bytes)) as ServiceRecord;
      return ownNames(service)[own].map((name) => `${service.namespace}/${name}`);
    }),
  );
}

/** Number of resources over all collections. */
export function resourceCount(snapshot: Snapshot): number {
  let count = 0;
  for (const collection of snapshot.collections.values()) count += collection.size;
  return count;
}

/** JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_key, v) =>
      v !== null && typeof v === "object" && !Array.isArray(v)
        ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
        : v,
  );
}
