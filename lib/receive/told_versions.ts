/**
 * Versions by name, as a source told them: an immutable map whose next one shares what did not change.
 *
 * @module
 */

/** Changes kept apart from the map that they are changes of; beyond, and beyond a share of it, they are merged. */
const LEAST_CHANGES = 64;
const SHARE = 64;

/**
 * A map made of a base and of what changed since. A change of few names costs in proportion to the
 * recent ones, not to all: every so often they become part of a new base.
 */
export class ToldVersions implements ReadonlyMap<string, string> {
  readonly size: number;
  readonly #base: ReadonlyMap<string, string>;
  /** What differs from the base; undefined: gone. */
  readonly #changes: ReadonlyMap<string, string | undefined>;

  private constructor(
    base: ReadonlyMap<string, string>,
    changes: ReadonlyMap<string, string | undefined>,
    size: number,
  ) {
    this.#base = base;
    this.#changes = changes;
    this.size = size;
  }

  /** The map as one that is patched at little cost; itself if it is one already. It must not change any more. */
  static of(map: ReadonlyMap<string, string>): ToldVersions {
    return map instanceof ToldVersions ? map : new ToldVersions(map, new Map(), map.size);
  }

  /** The map with these entries put in and these names taken out; itself where that changes nothing. */
  patch(
    entries: Iterable<readonly [name: string, version: string]>,
    removed: Iterable<string>,
  ): ToldVersions {
    const edits = new Map<string, string | undefined>();
    for (const name of removed) if (this.has(name)) edits.set(name, undefined);
    for (const [name, version] of entries) {
      if (this.get(name) !== version) edits.set(name, version);
      else edits.delete(name);
    }
    if (edits.size === 0) return this;
    let size = this.size;
    const changes = new Map(this.#changes);
    for (const [name, version] of edits) {
      size += Number(version !== undefined) - Number(this.has(name));
      changes.set(name, version);
    }
    const next = new ToldVersions(this.#base, changes, size);
    const isSmall = changes.size <= Math.max(LEAST_CHANGES, this.#base.size / SHARE);
    return isSmall ? next : ToldVersions.of(new Map(next));
  }

  /** Names whose versions differ from those of `from`, with the version now; undefined: gone. */
  changesSince(from: ReadonlyMap<string, string>): Map<string, string | undefined> {
    const out = new Map<string, string | undefined>();
    const look = (name: string) => {
      const version = this.get(name);
      if (version !== from.get(name)) out.set(name, version);
    };
    if (from instanceof ToldVersions && from.#base === this.#base) {
      for (const name of from.#changes.keys()) look(name);
      for (const name of this.#changes.keys()) look(name);
    } else {
      for (const name of from.keys()) look(name);
      for (const name of this.keys()) look(name);
    }
    return out;
  }

  get(name: string): string | undefined {
    return this.#changes.has(name) ? this.#changes.get(name) : this.#base.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  *entries(): MapIterator<[string, string]> {
    for (const entry of this.#base) if (!this.#changes.has(entry[0])) yield entry;
    for (const [name, version] of this.#changes) if (version !== undefined) yield [name, version];
  }

  *keys(): MapIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): MapIterator<string> {
    for (const [, version] of this.entries()) yield version;
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }

  forEach(
    callback: (version: string, name: string, map: ReadonlyMap<string, string>) => void,
    thisArg?: unknown,
  ): void {
    for (const [name, version] of this) callback.call(thisArg, version, name, this);
  }
}
