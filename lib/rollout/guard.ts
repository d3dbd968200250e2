/**
 * The guard: a load that would take away much of what is published is more likely a mistake (an
 * emptied folder, a half-copied file) than a wish, so it waits for a person.
 *
 * @module
 */
import type { Collection } from "../snapshot/collection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Below this many published resources nothing is held: a small configuration changes in large steps. */
export const GUARD_FROM = 20;

/** What the guard says of a candidate. */
export interface Verdict {
  readonly pass: boolean;
  /** Resources that were published and would go. */
  readonly removed: number;
  /** Resources published. */
  readonly of: number;
  /** Share (0 to 1) that may go unconfirmed. */
  readonly limit: number;
}

/**
 * Whether `candidate` may follow `published` unasked, by the candidate's own `push.guard`; see
 * {@link guardCollections}.
 */
export function guard(published: Snapshot | undefined, candidate: Snapshot): Verdict {
  const { collections, settings } = candidate;
  return guardCollections(published?.collections ?? new Map(), collections, settings.push.guard);
}

/**
 * Whether these collections, by kind, may take the place of those before: not if that would remove
 * `limit` (0 to 1) of the resources or more (a halved file is one cut in half), from {@link GUARD_FROM}
 * on. Nothing before, or a limit of 1: they may.
 */
export function guardCollections(
  before: ReadonlyMap<string, Collection>,
  after: ReadonlyMap<string, Collection>,
  limit: number,
): Verdict {
  let removed = 0;
  let of = 0;
  for (const [kind, was] of before) {
    of += was.size;
    removed += after.get(kind)?.diff(was).removed.length ?? was.size;
  }
  const isFew = removed === 0 || removed < limit * of;
  return { pass: of < GUARD_FROM || limit >= 1 || isFew, removed, of, limit };
}
