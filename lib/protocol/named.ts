/**
 * Which resources a refusal is of: an Envoy takes the others of an answer and names those that it does
 * not, and a sink's reason names what it stumbled over.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Diff } from "../snapshot/collection.ts";

/** Longest part of a message that is looked through; Envoy cuts its own off at this. Characters. */
const LOOKED_AT = 4096;

/** What of this difference is named in a peer's message, each once. */
export function named(message: string, { from, to }: Diff): Resource[] {
  const found = new Map<string, Resource>();
  for (const word of message.slice(0, LOOKED_AT).split(/[\s,;'"`()[\]{}<>]+/)) {
    // As in "listener(s) outbound|80: cannot bind".
    for (const name of [word, word.replace(/[:.]+$/, "")]) {
      const resource = to.get(name);
      if (resource === undefined || from.get(name)?.version === resource.version) continue;
      found.set(name, resource);
    }
  }
  return [...found.values()];
}
