/**
 * What a peer says that it holds (`initial_resource_versions`), as a collection that can be diffed.
 *
 * @module
 */
import type { Collection } from "../snapshot/collection.ts";
import type { Resource } from "../model/resource.ts";

/** Stands for content that a peer has and we do not. Compared by identity; never sent. */
const UNKNOWN_BYTES = new Uint8Array(0);

/** A resource of which only name and version are known. Version `""` equals no real one. */
export function unknownResource(name: string, version: string): Resource {
  return { name, version, bytes: UNKNOWN_BYTES };
}

/** Whether the content of this resource is not known to us, so that it cannot be sent. */
export function isUnknown(resource: Resource): boolean {
  return resource.bytes === UNKNOWN_BYTES;
}

/** Whether it is not even known that the peer has any form of this. */
export function isInDoubt({ version }: Resource): boolean {
  return version === "";
}

/** Whether any resource of the collection cannot be sent. */
export function hasUnknown(collection: Collection): boolean {
  for (const resource of collection) if (isUnknown(resource)) return true;
  return false;
}

/** What a peer holds, with these names made unlike any content, so that they differ from `target`; those of which we do not have the content stay. */
export function doubted(
  held: Collection,
  names: readonly string[],
  target: Collection,
): Collection {
  const sendable = names.filter((name) => {
    const resource = target.get(name);
    return resource === undefined || !isUnknown(resource);
  });
  return held.patch(sendable.map((name) => unknownResource(name, "")), []);
}

/** Which names a peer asks for. */
export interface NameFilter {
  has(name: string): boolean;
}

/**
 * The collection that a peer holds by its own word; `target` itself where that is the same. It
 * shares with `target` what is equal, so that telling the difference costs what differs. Names
 * outside `wanted` are left out.
 */
export function heldCollection(
  versions: Readonly<Record<string, string>>,
  target: Collection,
  wanted: NameFilter,
): Collection {
  const different: Resource[] = [];
  const missing: string[] = [];
  const names = Object.keys(versions);
  let met = 0;
  for (const { name, version } of target) {
    const held = Object.hasOwn(versions, name) ? versions[name] : undefined;
    if (held === undefined) {
      missing.push(name);
      continue;
    }
    met++;
    if (held !== version) different.push(unknownResource(name, held));
  }
  // Most clients hold nothing that is gone; then there is no need to look each name up.
  for (const name of met === names.length ? [] : names) {
    if (wanted.has(name) && target.get(name) === undefined) {
      different.push(unknownResource(name, versions[name]!));
    }
  }
  return target.patch(different, missing);
}
