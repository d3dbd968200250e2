/**
 * Which resources of a type a peer asks for: all, or those it names, or both.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { NameFilter } from "./held.ts";

/** The name that stands for every resource. */
export const WILDCARD = "*";

/** How an interest changed. */
export interface InterestChange {
  /** Something is asked for that was not before. */
  readonly grown: boolean;
  /** Something is no longer asked for. */
  readonly shrunk: boolean;
}

/** What a peer asks for, and the selection of the newest collection that this gives. */
export class Interest implements NameFilter {
  readonly #nothing: Collection;
  readonly #wildcardAllowed: boolean;
  readonly #names = new Set<string>();
  #wildcard = false;
  #characters = 0;
  /** Whether names were ever given: from then on an empty list means nothing, no longer everything. */
  #explicit = false;
  /** The list taken last, as long as nothing else changed the interest. */
  #listed: readonly string[] | undefined;
  #from: Collection | undefined;
  #selected: Collection | undefined;
  #unselected = new Set<string>();
  /** What was given up since {@link restricted}. */
  readonly #givenUp = new Set<string>();
  #gaveUpAll = false;

  constructor(options: { readonly nothing: Collection; readonly wildcardAllowed: boolean }) {
    this.#nothing = options.nothing;
    this.#wildcardAllowed = options.wildcardAllowed;
  }

  /** Whether everything is asked for. */
  get wildcard(): boolean {
    return this.#wildcard;
  }

  /** Names asked for, the wildcard apart. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Length of all names together. Characters. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether nothing at all is asked for. */
  get nothing(): boolean {
    return !this.#wildcard && this.#names.size === 0;
  }

  has(name: string): boolean {
    return this.#wildcard || this.#names.has(name);
  }

  /** Asks for everything, in the way of a first request that names nothing; without effect where the type does not allow it. */
  addLegacyWildcard(): void {
    if (this.#wildcardAllowed) this.#wildcard = true;
  }

  /** Takes the whole list of a state-of-the-world request (protocols.md section 3). */
  replace(list: readonly string[]): InterestChange {
    if (sameList(list, this.#listed)) return { grown: false, shrunk: false };
    if (list.length > 0) this.#explicit = true;
    const wildcard = list.length === 0 ? !this.#explicit : list.includes(WILDCARD);
    const wanted = new Set(list);
    const before = this.#wildcard;
    let grown = this.#setWildcard(wildcard) && this.#wildcard;
    let shrunk = before && !this.#wildcard;
    for (const name of [...this.#names]) {
      if (!wanted.has(name)) shrunk = this.remove(name) || shrunk;
    }
    for (const name of wanted) {
      if (name !== WILDCARD) grown = this.add(name) || grown;
    }
    this.#listed = list;
    return { grown: grown && !(before && this.#wildcard), shrunk: shrunk && !this.#wildcard };
  }

  /** Asks for one more name, or for all; true if that is new. */
  add(name: string): boolean {
    this.#explicit = true;
    this.#listed = undefined;
    if (name === WILDCARD && this.#wildcardAllowed) return this.#setWildcard(true);
    if (this.#names.has(name)) return false;
    this.#names.add(name);
    this.#characters += name.length;
    this.#unselected.add(name);
    this.#givenUp.delete(name);
    return true;
  }

  /** Asks no longer for a name, or for all; true if it was asked for. */
  remove(name: string): boolean {
    this.#listed = undefined;
    if (name === WILDCARD && this.#wildcard) return this.#setWildcard(false);
    if (!this.#names.delete(name)) return false;
    this.#characters -= name.length;
    this.#unselected.add(name);
    if (!this.#wildcard) this.#givenUp.add(name);
    return true;
  }

  /**
   * The resources of `all` that are asked for. Where that is everything, by the wildcard or by every
   * name, it is `all` itself, shared by every stream; else a collection of this stream's own, patched
   * from the one before.
   */
  select(all: Collection): Collection {
    if (this.#wildcard) return all;
    if (this.#from === all && this.#unselected.size === 0) return this.#selected!;
    const selected = this.#isSurelyWhole(all) ? all : this.#patch(all);
    this.#unselected = new Set();
    this.#from = all;
    return this.#selected = selected;
  }

  /** Whether every name is asked for, where that is told sooner than by selecting: an Envoy asks for the endpoints of every cluster. */
  #isSurelyWhole(all: Collection): boolean {
    const from = this.#from;
    if (this.#names.size < all.size) return false;
    if (from === undefined) {
      for (const { name } of all) if (!this.#names.has(name)) return false;
      return true;
    }
    return this.#selected === from && this.#unselected.size === 0 &&
      all.diff(from).changed.every(({ name }) => this.#names.has(name));
  }

  #patch(all: Collection): Collection {
    const stale = this.#unselected;
    if (this.#from !== undefined && this.#from !== all) {
      const { changed, removed } = all.diff(this.#from);
      for (const { name } of changed) if (this.#names.has(name)) stale.add(name);
      for (const name of removed) if (this.#names.has(name)) stale.add(name);
    }
    const changed: Resource[] = [];
    const removed: string[] = [];
    for (const name of stale) {
      const resource = this.#names.has(name) ? all.get(name) : undefined;
      if (resource === undefined) removed.push(name);
      else changed.push(resource);
    }
    const selected = (this.#selected ?? this.#nothing).patch(changed, removed);
    return selected.size === all.size ? all : selected;
  }

  /** The collection, which held nothing that was not asked for by {@link restricted}, without what is not any more. */
  restrict(collection: Collection): Collection {
    if (this.#wildcard) return collection;
    if (!this.#gaveUpAll) return collection.patch([], this.#givenUp);
    const out: string[] = [];
    for (const { name } of collection) if (!this.#names.has(name)) out.push(name);
    return collection.patch([], out);
  }

  /** Every collection is restricted to what is asked for now. */
  restricted(): void {
    this.#givenUp.clear();
    this.#gaveUpAll = false;
  }

  /** True if it was otherwise before. The selection starts afresh, from all names. */
  #setWildcard(wildcard: boolean): boolean {
    if (wildcard && !this.#wildcardAllowed) return false;
    if (wildcard === this.#wildcard) return false;
    this.#wildcard = wildcard;
    this.#gaveUpAll = !wildcard;
    this.#from = undefined;
    this.#selected = undefined;
    this.#unselected = new Set(this.#names);
    return true;
  }
}

function sameList(a: readonly string[], b: readonly string[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((name, i) => name === b[i]);
}
