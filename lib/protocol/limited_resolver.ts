/**
 * A resolver that knows only some collections: what a sink may have.
 *
 * @module
 */
import { quote } from "./quote.ts";
import type { Resolution, Resolver } from "./resolve.ts";

/** No collection has this name: it gives how those are answered that nobody knows. */
const NOBODYS = "pinnace/none";

/**
 * Resolves the collections listed as `inner` does, and answers every other as `inner` answers unknown
 * ones. An empty list limits nothing.
 */
export function limitedResolver(inner: Resolver, collections: readonly string[]): Resolver {
  if (collections.length === 0) return inner;
  const allowed = new Set(collections);
  return {
    resolve(collection) {
      if (allowed.has(collection)) return inner.resolve(collection);
      return withheld(inner, collection, collections);
    },
  };
}

function withheld(inner: Resolver, collection: string, served: readonly string[]): Resolution {
  const unknown = inner.resolve(collection === "" ? "" : NOBODYS);
  if (unknown.kind === "served") return unknown;
  if (collection === "") return unknown;
  const message = `collection ${quote(collection)} is not served to this sink; served are ${
    served.join(", ")
  }`;
  return { kind: "unsupported", message };
}
