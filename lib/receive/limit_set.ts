/**
 * A source's set by numbers, and without what the source may not fill.
 *
 * @module
 */
import { matchesAny } from "../model/pattern.ts";
import type { Collections } from "../rollout/parts.ts";
import type { SourceSet } from "./received.ts";

/** Number of resources by kind, without kinds that have none. */
export function countOf(collections: Collections): Record<string, number> {
  const counts = [...collections].map(([kind, { size }]) => [kind, size] as const);
  return Object.fromEntries(counts.filter(([, size]) => size > 0));
}

/** The set without resources outside these namespaces; itself where there are none. */
export function limitTo(set: SourceSet, namespaces: readonly string[]): SourceSet {
  if (namespaces.length === 0) return set;
  const collections = new Map(set.collections);
  const told = new Map(set.told);
  for (const [kind, collection] of set.collections) {
    const outside: string[] = [];
    for (const { name } of collection) {
      if (!matchesAny(namespaces, name.slice(0, name.indexOf("/")))) outside.push(name);
    }
    if (outside.length === 0) continue;
    collections.set(kind, collection.patch([], outside));
    const left = new Map(told.get(kind));
    for (const name of outside) left.delete(name);
    told.set(kind, left);
  }
  const same = [...collections].every(([kind, collection]) =>
    set.collections.get(kind) === collection
  );
  return same ? set : { collections, told };
}

/** Of these collections what the others have by name as well. */
export function limitToNames(collections: Collections, others: Collections): Collections {
  return new Map([...collections].map(([kind, collection]) => {
    const other = others.get(kind);
    const outside: string[] = [];
    for (const { name } of collection) if (other?.get(name) === undefined) outside.push(name);
    return [kind, collection.patch([], outside)];
  }));
}
