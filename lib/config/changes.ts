/**
 * What is different from what was sent before, packed for the main thread.
 *
 * @module
 */
import type { CollectionChange } from "../model/change.ts";
import type { Resource } from "../model/resource.ts";

/** Remembers the names and versions that were sent of each kind. */
export class SentState {
  readonly #sent = new Map<string, ReadonlyMap<string, string>>();

  /** Forgets everything: the next change holds all. */
  clear(): void {
    this.#sent.clear();
  }

  /** What turns the resources of `kind` as last sent into these; they count as sent from now on. Absent where nothing changed. */
  change(kind: string, resources: Iterable<Resource>): CollectionChange | undefined {
    const before = this.#sent.get(kind) ?? new Map<string, string>();
    const now = new Map<string, string>();
    const changed: Resource[] = [];
    for (const resource of resources) {
      now.set(resource.name, resource.version);
      if (before.get(resource.name) !== resource.version) changed.push(resource);
    }
    const removed = [...before.keys()].filter((name) => !now.has(name));
    this.#sent.set(kind, now);
    if (changed.length === 0 && removed.length === 0) return undefined;
    return pack(kind, changed, removed);
  }
}

/** The bodies of resources end to end, and the length of each. */
export function concatBodies(
  resources: readonly Resource[],
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: readonly number[] } {
  const lengths = resources.map(({ bytes }) => bytes.length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let offset = 0;
  for (const resource of resources) {
    bytes.set(resource.bytes, offset);
    offset += resource.bytes.length;
  }
  return { bytes, lengths };
}

function pack(
  kind: string,
  changed: readonly Resource[],
  removed: readonly string[],
): CollectionChange {
  return {
    kind,
    names: changed.map(({ name }) => name),
    versions: changed.map(({ version }) => version),
    ...concatBodies(changed),
    removed,
  };
}
