/**
 * Which clusters a client ought to have and does not: routes must not lead to them.
 *
 * @module
 */
import { has, type IsQuiet, type XdsParts, type XdsSubscriptions } from "./xds_parts.ts";

/** Clusters that a client which asks for all of them does not have, or not their endpoints. */
export interface Missing {
  /** It was not asked yet, or has not answered. */
  readonly unheard: readonly string[];
  /** It refused them: they are not tried again until they change. */
  readonly refused: readonly string[];
}

/** It has all. */
export const NOTHING_MISSING: Missing = { unheard: [], refused: [] };

/** What a client that asks for all of these clusters does not have of them. */
export function missingClusters(
  subscriptions: XdsSubscriptions,
  isQuiet: IsQuiet,
  parts: XdsParts,
): Missing {
  if (isInPlace(subscriptions, parts)) return NOTHING_MISSING;
  const clusters = subscriptions.get("Cluster");
  const endpoints = subscriptions.get("ClusterLoadAssignment");
  const unheard: string[] = [];
  const refused: string[] = [];
  for (const { name } of parts.Cluster) {
    const isThere = clusters?.has(name) ?? false;
    const isAssigned = has(parts.ClusterLoadAssignment, name);
    if (isThere && (!isAssigned || endpoints?.has(name))) continue;
    (isHeldBack(subscriptions, isQuiet, name, isThere) ? refused : unheard).push(name);
  }
  return { unheard, refused };
}

/** Whether nothing is under way that would give the client a cluster, or the endpoints of one that it has. */
export function isHeldBack(
  subscriptions: XdsSubscriptions,
  isQuiet: IsQuiet,
  name: string,
  isThere: boolean,
): boolean {
  const one = subscriptions.get(isThere ? "ClusterLoadAssignment" : "Cluster");
  return one !== undefined && one.interest.has(name) && isQuiet(one);
}

/** Whether a client that asks for all clusters has all of these and their endpoints; of most it shows without a look at each. */
export function isInPlace(subscriptions: XdsSubscriptions, parts: XdsParts): boolean {
  const clusters = subscriptions.get("Cluster");
  if (!clusters?.interest.wildcard) return true;
  const { Cluster, ClusterLoadAssignment } = parts;
  if (!clusters.isWhole(Cluster)) return false;
  const endpoints = subscriptions.get("ClusterLoadAssignment");
  return endpoints?.isWhole(ClusterLoadAssignment) ?? ClusterLoadAssignment.size === 0;
}
