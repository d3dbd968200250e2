/**
 * Entries of equal hosts of which one may have the endpoints of the others.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { MergeMode } from "../model/settings.ts";
import type { Contender } from "./contender.ts";
import type { Limits } from "./limits.ts";
import { mergeEndpoints, whyNotMerged } from "./merge_endpoints.ts";
import { compareOffers } from "./offer.ts";
import type { Difference } from "./refusal.ts";

/** How much may be merged into one entry. */
export interface MergeBounds {
  /** Other entries. */
  readonly entries: number;
  /** Bytes of these. */
  readonly bytes: number;
}

/** As much as a change can work through at once: an entry is made anew out of all that is in it. */
export const MERGE_BOUNDS: MergeBounds = { entries: 1000, bytes: 1_048_576 };

/** An entry that leads, with those whose endpoints it has. */
export class MergeGroup {
  readonly leader: Contender;
  /** In the order of parts and names. */
  readonly merged: ReadonlySet<Contender>;
  /** What is served: the leader's own where none is merged. */
  readonly resource: Resource;

  /** `before` is what the group was until now: where nothing changed in it, nothing is made anew. */
  constructor(
    leader: Contender,
    others: Iterable<Contender>,
    limits: Limits,
    bounds: MergeBounds,
    before?: MergeGroup,
  ) {
    this.leader = leader;
    this.merged = choose(leader, others, limits, bounds);
    const isSame = before?.leader === leader && haveSame(before.merged, this.merged);
    this.resource = isSame
      ? before.resource
      : this.merged.size === 0
      ? leader.resource
      : mergeEndpoints(leader, [...this.merged]);
  }
}

function choose(
  leader: Contender,
  others: Iterable<Contender>,
  limits: Limits,
  bounds: MergeBounds,
): ReadonlySet<Contender> {
  const chosen = new Set<Contender>();
  let bytes = 0;
  const able = [...others].filter((other) => whyApart(leader, other, limits) === undefined);
  for (const other of able.sort(compareOffers)) {
    if (chosen.size === bounds.entries) break;
    const size = other.resource.bytes.length;
    if (bytes + size > bounds.bytes) continue;
    bytes += size;
    chosen.add(other);
  }
  return chosen;
}

/** Why an entry's endpoints are not in the one that leads with equal hosts, though it is wanted. */
export function whyLeftOut(
  leader: Contender,
  other: Contender,
  limits: Limits,
  bounds: MergeBounds,
): Difference {
  return whyApart(leader, other, limits) ?? {
    kind: "full",
    text: `it has the endpoints of as many others as it may (${bounds.entries} entries, ` +
      `${Math.round(bounds.bytes / 1024)} KiB)`,
  };
}

/** Why an entry is not merged into one that has a host of it, but not the same hosts; undefined where merging is not wanted. */
export function whyNoGroup(
  leader: Contender,
  other: Contender,
  limits: Limits,
  mode: MergeMode,
): Difference | undefined {
  return whyLimited(leader, other, limits) ??
    (mode === "refuse" ? undefined : { kind: "differs", text: "their hosts are not all the same" });
}

/** Why the two can never be one; undefined where they can. */
function whyApart(leader: Contender, other: Contender, limits: Limits): Difference | undefined {
  const limited = whyLimited(leader, other, limits);
  if (limited !== undefined) return limited;
  const text = whyNotMerged(leader.resource, other.resource);
  return text === undefined ? undefined : { kind: "differs", text };
}

function whyLimited(leader: Contender, other: Contender, limits: Limits): Difference | undefined {
  if (limits.mayFill(other.part.name, leader.namespace)) return undefined;
  return { kind: "limited", text: `may not fill the namespace ${leader.namespace}` };
}

function haveSame(a: ReadonlySet<Contender>, b: ReadonlySet<Contender>): boolean {
  if (a.size !== b.size) return false;
  const others = b.values();
  for (const one of a) if (one !== others.next().value) return false;
  return true;
}
