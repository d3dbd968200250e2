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

/** Whether clients take the text as an IP address. */
export function isIpLiteral(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ||
    (ipaddr.IPv6.isValid(text) && !text.includes("%"));
}

/** The ClusterLoadAssignment of this name. Every endpoint in it must have an IP address. */
export function grpcEndpoints(name: string, groups: readonly EndpointGroup[]): Resource {
  return viewResource(clusterLoadAssignmentCodec, name, {
    clusterName: name,
    endpoints: groups.flatMap(localitiesOf),
  });
}

/**
 * The group as one locality for each weight that its endpoints have: these clients choose a locality by
 * weight, but within one they take every endpoint in turn, whatever its weight.
 */
function localitiesOf(group: EndpointGroup): Partially<LocalityLbEndpoints>[] {
  const byWeight = [...Map.groupBy(group.endpoints, ({ weight }) => weight)]
    .sort(([a], [b]) => a - b);
  return byWeight.map(([weight, endpoints], index): Partially<LocalityLbEndpoints> => {
    const { region, zone, subZone } = group.locality;
    const suffix = index === 0 ? "" : `${subZone === "" ? "" : " "}(weight ${weight})`;
    return {
      locality: { region, zone, subZone: `${subZone}${suffix}` },
      priority: group.priority,
      // Without a weight of its own a locality is ignored, and with it everything in it.
      loadBalancingWeight: { value: weight * (inService(endpoints) || endpoints.length) },
      lbEndpoints: endpoints.map(lbEndpoint),
    };
  });
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
