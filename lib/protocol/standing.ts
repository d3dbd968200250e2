/**
 * How a client stands to clusters, routes and listeners: what of a change concerns it, and what it took.
 *
 * @module
 */
import { isInPlace } from "./missing.ts";
import type { Subscription } from "./subscription.ts";
import { nameChange } from "./union.ts";
import type { XdsParts, XdsSubscriptions } from "./xds_parts.ts";

/** Whether clusters come or go that matter to the client, or are still on their way to it. */
export function touches(
  subscriptions: XdsSubscriptions,
  before: XdsParts,
  after: XdsParts,
): boolean {
  const clusters = subscriptions.get("Cluster");
  const endpoints = subscriptions.get("ClusterLoadAssignment");
  const ofClusters = nameChange(before.Cluster, after.Cluster);
  const ofEndpoints = nameChange(before.ClusterLoadAssignment, after.ClusterLoadAssignment);
  if (clusters?.interest.wildcard) {
    return !isInPlace(subscriptions, before) ||
      [ofClusters, ofEndpoints].some(({ added, removed }) => added.length + removed.length > 0);
  }
  // Who names what it wants loses only what it names; what is new it asks for when a route says so.
  const [asked, { removed }] = clusters === undefined
    ? [endpoints, ofEndpoints]
    : [clusters, ofClusters];
  return asked !== undefined && removed.some((name) => asked.interest.has(name));
}

/** Whether the client asks for routes or listeners, so that it may hold some, be it of an earlier stream. */
export function hasRoutes(subscriptions: XdsSubscriptions): boolean {
  return routing(subscriptions).some(({ interest }) => !interest.nothing);
}

/** Whether the client accepted just these routes and listeners, and is not about to ask for more. */
export function isRouted(subscriptions: XdsSubscriptions, parts: XdsParts): boolean {
  if (!routing(subscriptions).every((one) => isAt(one, parts))) return false;
  if (subscriptions.get("Listener")?.interest.wildcard !== true) return true;
  const routes = subscriptions.get("RouteConfiguration");
  if (routes?.isWhole(parts.RouteConfiguration)) return true;
  return [...parts.RouteConfiguration].every(({ name }) => routes?.interest.has(name) ?? false);
}

/** Whether the client asked for routes or listeners on this stream, and accepted just these. */
export function isSettled(subscriptions: XdsSubscriptions, parts: XdsParts): boolean {
  return routing(subscriptions).length > 0 && isRouted(subscriptions, parts);
}

/** Whether the client accepted just this of what it asks for. */
export function isAt(one: Subscription, parts: XdsParts): boolean {
  return one.isAt(parts[one.served.xds!]);
}

/** The subscriptions to listeners and routes that there are. */
export function routing(subscriptions: XdsSubscriptions): Subscription[] {
  const types = ["Listener", "RouteConfiguration"] as const;
  return types.map((type) => subscriptions.get(type)).filter((one) => one !== undefined);
}
