/**
 * What MCP collections stand for.
 *
 * @module
 */
import type { UnknownCollection } from "../model/settings.ts";
import { collectionResolver, type Resolver } from "../protocol/resolve.ts";

const RESOLVERS: Readonly<Record<UnknownCollection, Resolver>> = {
  empty: collectionResolver({ unknownCollection: "empty" }),
  error: collectionResolver({ unknownCollection: "error" }),
};

/** What collections stand for, by how unknown ones are answered: one resolver for all streams, so that they share what is made from nothing. */
export function collectionsFor(unknown: UnknownCollection): Resolver {
  return RESOLVERS[unknown];
}
