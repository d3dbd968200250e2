/**
 * A selection in the form in which a client can take it: with a resource for every name that it asks
 * for, and told from what it was answered before (protocols.md section 6).
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { ServedType } from "./resolve.ts";

/**
 * What is selected, with the type's fallback for names that are missing and in its variant for this
 * opening of the stream's, counted from 1; `selected` itself where the type has neither.
 */
export function shaped(
  selected: Collection,
  { fallback, variant, earlier = 0 }: ServedType,
  names: ReadonlySet<string>,
  opening: number,
): Collection {
  const whole = fallback === undefined ? selected : completed(selected, fallback, names);
  const time = earlier + opening;
  if (variant === undefined || time < 2) return whole;
  return whole.patch(Array.from(whole, (resource) => variant(resource, time)), []);
}

function completed(
  selected: Collection,
  fallback: (name: string) => Resource,
  names: ReadonlySet<string>,
): Collection {
  if (selected.size === names.size) return selected;
  const missing: Resource[] = [];
  for (const name of names) if (selected.get(name) === undefined) missing.push(fallback(name));
  return selected.patch(missing, []);
}
