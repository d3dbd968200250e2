/**
 * From what a load changed to the next snapshot, which shares with the last one all that stayed.
 *
 * @module
 */
import type { CollectionChange } from "../model/change.ts";
import type { Resource } from "../model/resource.ts";
import type { Settings } from "../model/settings.ts";
import type { Collection } from "./collection.ts";
import { makeSnapshot, type Snapshot } from "./snapshot.ts";

/** Kind under which a load lists its services, which are no Istio objects. */
const SERVICE = "Service";

/** Options of {@link applyChanges}. */
export interface ApplyOptions {
  /** The changes hold everything there is: what they do not name is gone. */
  readonly full: boolean;
}

/**
 * `base` with these changes and settings; `base` itself where that changes nothing.
 * Throws RangeError or TypeError on changes that do not fit together: a bug of who made them.
 */
export function applyChanges(
  base: Snapshot,
  changes: readonly CollectionChange[],
  settings: Settings,
  { full }: ApplyOptions,
): Snapshot {
  const byKind = new Map(changes.map((change) => [change.kind, change]));
  if (byKind.size < changes.length) throw new TypeError("a kind was changed twice in one load");
  const patch = (kind: string, collection: Collection): Collection => {
    const change = byKind.get(kind);
    byKind.delete(kind);
    const resources = change === undefined ? [] : unpack(change);
    const removed = full ? others(collection, resources) : change?.removed ?? [];
    return collection.patch(resources, removed);
  };
  const collections = new Map(
    [...base.collections].map(([kind, collection]) => [kind, patch(kind, collection)]),
  );
  const services = patch(SERVICE, base.services);
  if (byKind.size > 0) throw new TypeError(`unknown kinds changed: ${[...byKind.keys()]}`);
  const next = makeSnapshot({ collections, services, settings });
  return next.id === base.id ? base : next;
}

/** The resources of a change; their bytes are views of its buffer. */
function unpack({ kind, names, versions, lengths, bytes }: CollectionChange): Resource[] {
  let at = 0;
  const resources = names.map((name, i) => {
    const [version, length] = [versions[i], lengths[i]];
    if (version === undefined || length === undefined) {
      throw new RangeError(`a change of ${kind} has ${names.length} names, but less of the rest`);
    }
    return { name, version, bytes: bytes.subarray(at, at += length) };
  });
  if (at !== bytes.length) {
    throw new RangeError(`a change of ${kind} has ${bytes.length} bytes, its lengths sum to ${at}`);
  }
  return resources;
}

/** Names in the collection that are not among these resources. */
function others(collection: Collection, resources: readonly Resource[]): string[] {
  const named = new Set(resources.map((resource) => resource.name));
  return Array.from(collection, (resource) => resource.name).filter((name) => !named.has(name));
}
