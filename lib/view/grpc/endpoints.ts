/**
 * The endpoints of a cluster, as gRPC clients take them.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Resource } from "../../model/resource.ts";
import {
  clusterLoadAssignmentCodec,
  type LbEndpoint,
  type LocalityLbEndpoints,
  type Partially,
} from "../../wire/messages.ts";
import type { EndpointGroup, PlacedEndpoint } from "../shared/place_endpoints.ts";
import { viewResource } from "../shared/view_resource.ts";

/** The ClusterLoadAssignment of this name. Every endpoint in it must have an IP address. */
export function grpcEndpoints(name: string, groups: readonly EndpointGroup[]): Resource {
  const taken = new Set(groups.map(keyOf));
  return viewResource(clusterLoadAssignmentCodec, name, {
    clusterName: name,
    endpoints: groups.flatMap((group) => localitiesOf(group, taken)),
  });
}

/** Clients refuse two of one key. */
function keyOf({ locality: { region, zone, subZone }, priority }: LocalityOf): string {
  return JSON.stringify([priority, region, zone, subZone]);
}

type LocalityOf = Pick<EndpointGroup, "locality" | "priority">;

/**
 * The group as one locality for each weight that its endpoints have: these clients choose a locality by
 * weight, but within one they take every endpoint in turn, whatever its weight. None of the `taken`
 * keys but the group's own is used, and each that is used is added.
 */
function localitiesOf(
  group: EndpointGroup,
  taken: Set<string>,
): Partially<LocalityLbEndpoints>[] {
  const byWeight = [...Map.groupBy(group.endpoints, ({ weight }) => weight)]
    .sort(([a], [b]) => a - b);
  return byWeight.map(([weight, endpoints], index): Partially<LocalityLbEndpoints> => ({
    locality: index === 0 ? group.locality : furtherLocality(group, weight, taken),
    priority: group.priority,
    // Without a weight of its own a locality is ignored, and with it everything in it.
    loadBalancingWeight: { value: weight * (inService(endpoints) || endpoints.length) },
    lbEndpoints: endpoints.map(lbEndpoint),
  }));
}

/** A locality beside the group's own that nobody has. */
function furtherLocality(
  { locality, priority }: LocalityOf,
  weight: number,
  taken: Set<string>,
): EndpointGroup["locality"] {
  const { subZone } = locality;
  for (let count = 1;; count++) {
    const suffix = `(weight ${weight}${count === 1 ? "" : `, ${count}`})`;
    const further = { ...locality, subZone: subZone === "" ? suffix : `${subZone} ${suffix}` };
    const key = keyOf({ locality: further, priority });
    if (taken.has(key)) continue;
    taken.add(key);
    return further;
  }
}

/** What drains gets no calls, so it must not draw any to its locality. */
function inService(endpoints: readonly PlacedEndpoint[]): number {
  return endpoints.filter(({ draining }) => !draining).length;
}

function lbEndpoint({ place, weight, draining }: PlacedEndpoint): Partially<LbEndpoint> {
  if (place.kind !== "socket") throw new Error(`not an IP address: ${place.path}`);
  const { address, port } = place;
  return {
    endpoint: { address: { socketAddress: { address: plain(address), portValue: port } } },
    ...(draining ? { healthStatus: "DRAINING" } : {}),
    loadBalancingWeight: { value: weight },
  };
}

/** One way to write each address. */
function plain(address: string): string {
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address).toString() : address;
}
