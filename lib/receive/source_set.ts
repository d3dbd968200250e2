/**
 * What a source has given, push after push. Pure.
 *
 * @module
 */
import { kindByCollection, kindByTypeUrl, MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import { Collection } from "../snapshot/collection.ts";
import type { Judgement, ReceivedResource, SourceSet } from "./received.ts";
import { ToldVersions } from "./told_versions.ts";

const NONE = Collection.empty(MCP_RESOURCE_TYPE_URL);
const UNTOLD = ToldVersions.of(new Map());

/** The bytes of resources are kept together up to this size. Bytes. */
const BLOCK = 16 * 1024;

/** The set of a source that has given nothing. */
export function emptySet(): SourceSet {
  return { collections: new Map(), told: new Map() };
}

/**
 * The set after an accepted push: a full one stands in the place of its kind, an incremental one changes
 * it. The set itself where nothing changes. What did not change is shared; what did is copied, so that a
 * push is not kept whole for the sake of one resource.
 */
export function applyPush(
  set: SourceSet,
  push: Extract<Judgement, { readonly kind: "accepted" }>,
): SourceSet {
  const { kindName, resources } = push;
  if (kindName === undefined) return set;
  const held = set.collections.get(kindName) ?? NONE;
  const told = ToldVersions.of(set.told.get(kindName) ?? UNTOLD);
  const removed = push.head.incremental ? push.removed : missing(told, resources);
  const collection = held.patch(copyChanged(held, resources), removed);
  const versions = told.patch(resources.map((one) => [one.resource.name, one.told]), removed);
  if (collection === held && versions === told) return set;
  return {
    collections: new Map(set.collections).set(kindName, collection),
    told: new Map(set.told).set(kindName, versions),
  };
}

/**
 * What the source is told to have given, by name: `initial_resource_versions` of the first request.
 * `collection` is an MCP collection or a type URL; nothing is held of one that is unknown.
 */
export function heldVersions(set: SourceSet, collection: string): Record<string, string> {
  const kind = kindByCollection(collection) ?? kindByTypeUrl(collection);
  return Object.fromEntries(set.told.get(kind?.kind ?? "") ?? []);
}

/** Bytes of all resources of all kinds. */
export function byteLengthOf(set: SourceSet): number {
  let bytes = 0;
  for (const { byteLength } of set.collections.values()) bytes += byteLength;
  return bytes;
}

/** Names held that are not among those of a full push. */
function missing(told: ToldVersions, resources: readonly ReceivedResource[]): string[] {
  const named = new Set(resources.map(({ resource }) => resource.name));
  return [...told.keys()].filter((name) => !named.has(name));
}

/** Those that `held` does not have yet in this version, with bytes of their own. */
function copyChanged(held: Collection, resources: readonly ReceivedResource[]): Resource[] {
  const changed = resources.map(({ resource }) => resource)
    .filter(({ name, version }) => held.get(name)?.version !== version);
  const out: Resource[] = [];
  for (let from = 0; from < changed.length;) {
    let to = from;
    let size = 0;
    while (to < changed.length && (to === from || size + changed[to]!.bytes.length <= BLOCK)) {
      size += changed[to++]!.bytes.length;
    }
    const block = new Uint8Array(size);
    let at = 0;
    for (const resource of changed.slice(from, to)) {
      block.set(resource.bytes, at);
      out.push({ ...resource, bytes: block.subarray(at, at += resource.bytes.length) });
    }
    from = to;
  }
  return out;
}
