/**
 * What transitions look at: the xDS types of a snapshot, and the subscriptions of a stream to them.
 *
 * @module
 */
import { XDS_TYPES, type XdsTypeName } from "../model/xds_type.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Subscription } from "./subscription.ts";

/** The subscriptions of a stream that have a part in transitions, by what they are of. */
export type XdsSubscriptions = ReadonlyMap<XdsTypeName, Subscription>;

/** Whether a subscription has nothing to send and waits for no answer. */
export type IsQuiet = (subscription: Subscription) => boolean;

/** A snapshot as far as transitions look at it. */
export type XdsParts = Readonly<Record<XdsTypeName, Collection>>;

/** The xDS types of a snapshot; undefined where it is no view that has them. */
export function partsOf({ collections }: Snapshot): XdsParts | undefined {
  const Cluster = collections.get("Cluster");
  const ClusterLoadAssignment = collections.get("ClusterLoadAssignment");
  const Listener = collections.get("Listener");
  const RouteConfiguration = collections.get("RouteConfiguration");
  if (Cluster === undefined || ClusterLoadAssignment === undefined) return undefined;
  if (Listener === undefined || RouteConfiguration === undefined) return undefined;
  return { Cluster, ClusterLoadAssignment, Listener, RouteConfiguration };
}

/** Whether two snapshots are the same as far as transitions look at them. */
export function sameXds({ collections: a }: Snapshot, { collections: b }: Snapshot): boolean {
  return XDS_TYPES.every(({ name }) => a.get(name) === b.get(name));
}

/** Whether two are the same. */
export function sameParts(a: XdsParts, b: XdsParts): boolean {
  return a.Cluster === b.Cluster && a.ClusterLoadAssignment === b.ClusterLoadAssignment &&
    a.Listener === b.Listener && a.RouteConfiguration === b.RouteConfiguration;
}

/** Whether there is a resource of this name. */
export function has(collection: Collection, name: string): boolean {
  return collection.get(name) !== undefined;
}
