/**
 * The endpoints of a cluster, as Dubbo applications take them: every address there is counts alike,
 * whatever its health, weight, priority or locality.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import {
  clusterLoadAssignmentCodec,
  type LocalityLbEndpoints,
  type Partially,
} from "../../wire/messages.ts";
import type { EndpointGroup, PlacedEndpoint } from "../shared/place_endpoints.ts";
import { viewResource } from "../shared/view_resource.ts";

/** The groups without what drains. */
export function inService(groups: readonly EndpointGroup[]): readonly EndpointGroup[] {
  return groups.flatMap((group) => {
    const endpoints = group.endpoints.filter(({ draining }) => !draining);
    if (endpoints.length === 0) return [];
    const weight = endpoints.reduce((sum, endpoint) => sum + endpoint.weight, 0);
    return [{ ...group, endpoints, weight }];
  });
}

/** The ClusterLoadAssignment of this name. Every endpoint in it must have an IP address and be in service. */
export function dubboEndpoints(name: string, groups: readonly EndpointGroup[]): Resource {
  return viewResource(clusterLoadAssignmentCodec, name, {
    clusterName: name,
    endpoints: groups.map(localityOf),
  });
}

function localityOf(
  { locality, weight, endpoints }: EndpointGroup,
): Partially<LocalityLbEndpoints> {
  return {
    locality,
    loadBalancingWeight: { value: weight },
    lbEndpoints: endpoints.map(lbEndpoint),
  };
}

function lbEndpoint({ place, weight }: PlacedEndpoint) {
  if (place.kind !== "socket") throw new Error(`not an IP address: ${place.path}`);
  const socketAddress = { address: place.address, portValue: place.port };
  return { endpoint: { address: { socketAddress } }, loadBalancingWeight: { value: weight } };
}
