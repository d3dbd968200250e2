/**
 * The guard: a load that would take away much of what is published is more likely a mistake (an
 * emptied folder, a half-copied file) than a wish, so it waits for a person.
 *
 * @module
 */
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
  /** Share (0 to 1) that may go unconfirmed, as the candidate's own settings have it. */
  readonly limit: number;
}

/**
 * Whether `candidate` may follow `published` unasked: not if it would remove its `push.guard` of the
 * resources published or more (a halved file is one cut in half), from {@link GUARD_FROM} on. Nothing
 * published, or a guard of 1: it may.
 */
export function guard(published: Snapshot | undefined, candidate: Snapshot): Verdict {
  let removed = 0;
  let of = 0;
  for (const [kind, before] of published?.collections ?? []) {
    of += before.size;
    const after = candidate.collections.get(kind);
    removed += after === undefined ? before.size : after.diff(before).removed.length;
  }
  const limit = candidate.settings.push.guard;
  const isFew = removed === 0 || removed < limit * of;
  return { pass: of < GUARD_FROM || limit >= 1 || isFew, removed, of, limit };
}
