/**
 * A collection: every resource of one kind at one moment, sorted by name, immutable.
 *
 * It is a list of leaves. A leaf ends after a name whose own hash says so, never by count, so the cut
 * is a function of the names alone: two collections with equal content have equal leaves, whichever
 * way they came to be (another instance, a restart, a thousand patches). From that follow a content
 * hash made of leaf hashes, a diff that skips equal leaves, and a patch that touches what it changes.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { encodeResources, type Format } from "../wire/compose.ts";
import { contentHash } from "../wire/hash.ts";

/** Resources a leaf holds on average; a power of two. */
const LEAF = 128;

/** A run of consecutive resources with its hash and, once asked for, its bytes in each format. */
class Leaf {
  readonly resources: readonly Resource[];
  readonly hash: string;
  /** Bytes of the resources themselves. */
  readonly byteLength: number;
  readonly #encoded = new Map<Format, Uint8Array>();

  constructor(resources: readonly Resource[]) {
    this.resources = resources;
    this.hash = contentHash(resources.flatMap((r) => [r.name, r.version]));
    this.byteLength = resources.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  get last(): string {
    return this.resources[this.resources.length - 1]!.name;
  }

  encoded(format: Format, anyType: string): Uint8Array {
    let bytes = this.#encoded.get(format);
    if (bytes === undefined) {
      bytes = encodeResources(format, anyType, this.resources);
      this.#encoded.set(format, bytes);
    }
    return bytes;
  }
}

/** What turns one collection into another. Names in `changed` are new or have another version. */
export interface Diff {
  readonly from: Collection;
  readonly to: Collection;
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
  /** The changed resources as the repeated field of a response; laid out once, shared. */
  pieces(format: Format): readonly Uint8Array[];
}

/** Every resource of one kind at one moment. Immutable, structurally shared. */
export class Collection {
  /** `type_url` of the Any that holds a resource in an xDS response. */
  readonly anyType: string;
  readonly #leaves: readonly Leaf[];
  readonly #diffs = new WeakMap<Collection, Diff>();
  #version: string | undefined;
  #size: number | undefined;
  #byteLength: number | undefined;

  private constructor(anyType: string, leaves: readonly Leaf[]) {
    this.anyType = anyType;
    this.#leaves = leaves;
  }

  /** A collection without resources. */
  static empty(anyType: string): Collection {
    return new Collection(anyType, []);
  }

  /** A collection of these resources, in any order; of two with one name the later stays. */
  static of(anyType: string, resources: Iterable<Resource>): Collection {
    return Collection.empty(anyType).patch(resources, []);
  }

  /** Number of resources. */
  get size(): number {
    return this.#size ??= this.#leaves.reduce((sum, leaf) => sum + leaf.resources.length, 0);
  }

  /** Bytes of all resources: about the size of a full response. */
  get byteLength(): number {
    return this.#byteLength ??= this.#leaves.reduce((sum, leaf) => sum + leaf.byteLength, 0);
  }

  /** Content hash over the sorted (name, version) pairs: equal content, equal version. */
  get version(): string {
    return this.#version ??= contentHash(this.#leaves.map((leaf) => leaf.hash));
  }

  /** The resource of this name. */
  get(name: string): Resource | undefined {
    const leaf = this.#leaves[lowerBound(this.#leaves, name, (l) => l.last)];
    if (leaf === undefined) return undefined;
    const resource = leaf.resources[lowerBound(leaf.resources, name, (r) => r.name)];
    return resource?.name === name ? resource : undefined;
  }

  /** The resources, by name. */
  *[Symbol.iterator](): IterableIterator<Resource> {
    for (const leaf of this.#leaves) yield* leaf.resources;
  }

  /** Every resource as the repeated field of a response, in shared pieces. */
  pieces(format: Format): readonly Uint8Array[] {
    return this.#leaves.map((leaf) => leaf.encoded(format, this.anyType));
  }

  /** The collection with these resources put in and these names taken out; itself where that changes nothing. */
  patch(changed: Iterable<Resource>, removed: Iterable<string>): Collection {
    const edits = new Map<string, Resource | undefined>();
    for (const name of removed) edits.set(name, undefined);
    for (const resource of changed) edits.set(resource.name, resource);
    const real = [...edits].filter(([name, resource]) =>
      this.get(name)?.version !== resource?.version
    );
    if (real.length === 0) return this;
    real.sort(([a], [b]) => (a < b ? -1 : 1));
    return new Collection(this.anyType, patchLeaves(this.#leaves, real));
  }

  /** What turns `from` into this; made once and kept as long as both are. */
  diff(from: Collection): Diff {
    let diff = this.#diffs.get(from);
    if (diff === undefined) {
      diff = this.#diff(from);
      this.#diffs.set(from, diff);
    }
    return diff;
  }

  #diff(from: Collection): Diff {
    const changed: Resource[] = [];
    const removed: string[] = [];
    const had = new Cursor(from.#leaves);
    const has = new Cursor(this.#leaves);
    while (had.current !== undefined || has.current !== undefined) {
      if (had.leaf !== undefined && had.leaf.hash === has.leaf?.hash) {
        had.skipLeaf();
        has.skipLeaf();
        continue;
      }
      const [before, after] = [had.current, has.current];
      if (after === undefined || (before !== undefined && before.name < after.name)) {
        removed.push(before!.name);
        had.next();
      } else if (before === undefined || after.name < before.name) {
        changed.push(after);
        has.next();
      } else {
        if (before.version !== after.version) changed.push(after);
        had.next();
        has.next();
      }
    }
    return new ResourceDiff(from, this, changed, removed);
  }
}

class ResourceDiff implements Diff {
  readonly #encoded = new Map<Format, readonly Uint8Array[]>();

  constructor(
    readonly from: Collection,
    readonly to: Collection,
    readonly changed: readonly Resource[],
    readonly removed: readonly string[],
  ) {}

  pieces(format: Format): readonly Uint8Array[] {
    // From nothing, every resource changes: the collection's own pieces are those bytes already.
    if (this.from.size === 0) return this.to.pieces(format);
    let pieces = this.#encoded.get(format);
    if (pieces === undefined) {
      pieces = this.changed.length === 0
        ? []
        : [encodeResources(format, this.to.anyType, this.changed)];
      this.#encoded.set(format, pieces);
    }
    return pieces;
  }
}

/** Walks leaves resource by resource; `leaf` is set only where a whole leaf is still ahead. */
class Cursor {
  #leaf = 0;
  #index = 0;

  constructor(readonly leaves: readonly Leaf[]) {}

  get current(): Resource | undefined {
    return this.leaves[this.#leaf]?.resources[this.#index];
  }

  get leaf(): Leaf | undefined {
    return this.#index === 0 ? this.leaves[this.#leaf] : undefined;
  }

  next(): void {
    if (++this.#index >= this.leaves[this.#leaf]!.resources.length) this.skipLeaf();
  }

  skipLeaf(): void {
    this.#leaf++;
    this.#index = 0;
  }
}

type Edit = readonly [name: string, resource: Resource | undefined];

/** Leaves with sorted edits applied. Untouched leaves are taken over as they are. */
function patchLeaves(leaves: readonly Leaf[], edits: readonly Edit[]): Leaf[] {
  const out: Leaf[] = [];
  let open: Resource[] = []; // of a leaf whose end is not reached yet
  let at = 0;
  const add = (resources: readonly Resource[]) => {
    for (const resource of resources) {
      open.push(resource);
      if (!endsLeaf(resource.name)) continue;
      out.push(new Leaf(open));
      open = [];
    }
  };
  leaves.forEach((leaf, index) => {
    const until = index === leaves.length - 1 ? edits.length : upTo(edits, at, leaf.last);
    if (until === at && open.length === 0) out.push(leaf);
    else add(merge(leaf.resources, edits.slice(at, until)));
    at = until;
  });
  if (leaves.length === 0) add(merge([], edits));
  if (open.length > 0) out.push(new Leaf(open));
  return out;
}

/** Index of the first edit past `last`. */
function upTo(edits: readonly Edit[], from: number, last: string): number {
  while (from < edits.length && edits[from]![0] <= last) from++;
  return from;
}

function merge(resources: readonly Resource[], edits: readonly Edit[]): Resource[] {
  const out: Resource[] = [];
  let at = 0;
  for (const [name, resource] of edits) {
    while (at < resources.length && resources[at]!.name < name) out.push(resources[at++]!);
    if (resources[at]?.name === name) at++;
    if (resource !== undefined) out.push(resource);
  }
  while (at < resources.length) out.push(resources[at++]!);
  return out;
}

/** FNV-1a with a final mix, on UTF-16 code units: a leaf ends after one name in {@link LEAF}. */
function endsLeaf(name: string): boolean {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) & (LEAF - 1)) === 0;
}

/** Index of the first item whose key is not below `key`. */
function lowerBound<T>(items: readonly T[], key: string, keyOf: (item: T) => string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyOf(items[middle]!) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
