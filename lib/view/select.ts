/**
 * Select views: what of a snapshot a peer gets that is limited to some namespaces or labels. A view is
 * made once for all peers that are limited alike, and from the view before it, so that a change costs
 * what it changes.
 *
 * @module
 */
import { matchesAny } from "../model/pattern.ts";
import type { Resource } from "../model/resource.ts";
import type { ServiceRecord } from "../model/service.ts";
import type { Collection } from "../snapshot/collection.ts";
import {
  canonicalJson,
  makeSnapshot,
  type Snapshot,
  type SnapshotParts,
} from "../snapshot/snapshot.ts";
import { mcpResourceCodec, type StringMap } from "../wire/messages.ts";

/** Which resources a peer may have. A {@link PeerRule} says it of those it matches. */
export interface Select {
  /** Patterns of namespaces; empty: all. */
  readonly namespaces: readonly string[];
  /** Labels that a resource must have, with exactly these values; empty: none. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Views kept for one select: of the newest snapshot, and of those that some peers may still be at. */
const KEPT = 4;

/** Gives the labels of a resource. */
type LabelsOf = (resource: Resource) => StringMap;

/** Whether a resource is in the view. */
type Inside = (resource: Resource) => boolean;

/** Makes views and keeps the newest few of each select. */
export class Views {
  readonly #bySelect = new Map<string, SelectViews>();
  readonly #labels = new Labels();

  /**
   * The snapshot limited to what is selected; the same object for an equal select and the same
   * snapshot, and the snapshot itself where all of it is selected. Its id is of its own content.
   */
  of(select: Select, snapshot: Snapshot): Snapshot {
    if (selectsAll(select)) return snapshot;
    const key = keyOf(select);
    let views = this.#bySelect.get(key);
    if (views === undefined) {
      views = new SelectViews(select, this.#labels);
      this.#bySelect.set(key, views);
    }
    return views.of(snapshot);
  }

  /** Forgets the views of every other select, since no peer has it any more. */
  retain(selects: Iterable<Select>): void {
    const wanted = new Set(Array.from(selects, keyOf));
    for (const key of this.#bySelect.keys()) if (!wanted.has(key)) this.#bySelect.delete(key);
  }

  /** Number of views kept. */
  get size(): number {
    let count = 0;
    for (const views of this.#bySelect.values()) count += views.size;
    return count;
  }
}

/** The views of one select. */
class SelectViews {
  readonly #insideResources: Inside;
  readonly #insideServices: Inside;
  /** By the snapshot they are of; the one used last comes last. */
  readonly #views = new Map<Snapshot, Snapshot>();

  constructor(select: Select, labels: Labels) {
    this.#insideResources = insideOf(select, (resource) => labels.ofResource(resource));
    this.#insideServices = insideOf(select, (resource) => labels.ofService(resource));
  }

  get size(): number {
    return this.#views.size;
  }

  of(snapshot: Snapshot): Snapshot {
    const view = this.#views.get(snapshot) ?? this.#make(snapshot);
    this.#views.delete(snapshot);
    this.#views.set(snapshot, view);
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= KEPT) break;
      this.#views.delete(oldest);
    }
    return view;
  }

  #make(snapshot: Snapshot): Snapshot {
    const [from, view] = [...this.#views].at(-1) ?? [];
    const collections = new Map<string, Collection>();
    for (const [kind, all] of snapshot.collections) {
      const before = baseOf(from?.collections.get(kind), view?.collections.get(kind));
      collections.set(kind, limit(all, this.#insideResources, before));
    }
    const services = limit(
      snapshot.services,
      this.#insideServices,
      baseOf(from?.services, view?.services),
    );
    const { settings, origins } = snapshot;
    const parts = { collections, services, settings, ...(origins && { origins }) };
    if (sameParts(parts, snapshot)) return snapshot;
    return view !== undefined && sameParts(parts, view) ? view : withId(parts);
  }
}

/** Its id is made once asked for: it costs a text of all settings, and there may be a view a rule. */
function withId(parts: SnapshotParts): Snapshot {
  let id: string | undefined;
  return {
    ...parts,
    get id() {
      return id ??= makeSnapshot(parts).id;
    },
  };
}

/** A collection and what of it is in the view. */
interface Base {
  readonly all: Collection;
  readonly selected: Collection;
}

function baseOf(all: Collection | undefined, selected: Collection | undefined): Base | undefined {
  return all === undefined || selected === undefined ? undefined : { all, selected };
}

/** What of `all` is inside; `all` itself where everything is. Costs what differs from `before`. */
function limit(all: Collection, inside: Inside, before: Base | undefined): Collection {
  if (before?.all === all) return before.selected;
  const selected = before === undefined
    ? all.patch([], namesOf(all, (resource) => !inside(resource)))
    : patchView(all, inside, before);
  // What is inside is a part of all; a part of the same size is the whole.
  return selected.size === all.size ? all : selected;
}

function patchView(all: Collection, inside: Inside, before: Base): Collection {
  const { changed, removed } = all.diff(before.all);
  const out = changed.filter((resource) => !inside(resource)).map((resource) => resource.name);
  return before.selected.patch(changed.filter(inside), [...removed, ...out]);
}

function namesOf(collection: Collection, wanted: Inside): string[] {
  const names: string[] = [];
  for (const resource of collection) if (wanted(resource)) names.push(resource.name);
  return names;
}

function sameParts(parts: SnapshotParts, snapshot: Snapshot): boolean {
  const { settings, services, origins } = snapshot;
  if (parts.settings !== settings || parts.services !== services) return false;
  if (parts.origins !== origins) return false;
  for (const [kind, collection] of parts.collections) {
    if (snapshot.collections.get(kind) !== collection) return false;
  }
  return true;
}

function selectsAll({ namespaces, labels }: Select): boolean {
  return namespaces.length === 0 && Object.keys(labels).length === 0;
}

/** Equal for selects that give the same views. */
export function keyOf({ namespaces, labels }: Select): string {
  return canonicalJson([[...new Set(namespaces)].sort(), labels]);
}

function insideOf({ namespaces, labels }: Select, labelsOf: LabelsOf): Inside {
  const wanted = Object.entries(labels);
  const here = namespaceTest(namespaces);
  return (resource) => {
    if (!here(resource.name)) return false;
    if (wanted.length === 0) return true;
    const has = labelsOf(resource);
    return wanted.every(([key, value]) => Object.hasOwn(has, key) && has[key] === value);
  };
}

function namespaceTest(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true;
  // Names come sorted, so mostly the namespace is that of the name before.
  let last = "";
  let fits = matchesAny(patterns, last);
  return (name) => {
    const namespace = name.slice(0, Math.max(0, name.indexOf("/")));
    if (namespace === last) return fits;
    last = namespace;
    return fits = matchesAny(patterns, namespace);
  };
}

/** Reads the labels of resources, of each once. */
class Labels {
  readonly #known = new WeakMap<Resource, StringMap>();

  ofResource(resource: Resource): StringMap {
    return this.#once(resource, () => mcpResourceCodec.decode(resource.bytes).metadata?.labels);
  }

  ofService(resource: Resource): StringMap {
    const read = () => (JSON.parse(decoder.decode(resource.bytes)) as ServiceRecord).service.labels;
    return this.#once(resource, read);
  }

  #once(resource: Resource, read: () => StringMap | undefined): StringMap {
    let labels = this.#known.get(resource);
    if (labels === undefined) {
      labels = read() ?? NO_LABELS;
      if (Object.keys(labels).length === 0) labels = NO_LABELS;
      this.#known.set(resource, labels);
    }
    return labels;
  }
}

const NO_LABELS: StringMap = {};
const decoder = new TextDecoder();
