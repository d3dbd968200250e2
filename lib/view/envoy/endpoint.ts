/**
 * Endpoints as Envoy has them.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import type { Address, ClusterLoadAssignment, Partially } from "../../wire/messages.ts";
import { isIpAddress } from "../shared/looked_up.ts";
import { isLookedUp } from "../shared/served_parts.ts";
import {
  type EndpointGroup,
  type Place,
  type PlacedEndpoint,
  placeEndpoints,
} from "../shared/place_endpoints.ts";

/** The endpoints of a cluster, and what is odd about them. */
export interface Assigned {
  readonly assignment: Partially<ClusterLoadAssignment>;
  /** Number of endpoints. */
  readonly size: number;
  /** What people should know, each as the end of a sentence that begins with the service. */
  readonly oddities: readonly Oddity[];
}

/** Something odd about endpoints. */
export interface Oddity {
  readonly rule: string;
  readonly message: string;
}

/**
 * Envoy takes a share of endpoints in service, times this many percent, for what a locality can bear.
 * Envoy 1.40 leaves those that drain out of that reckoning. One that does not would, with its default
 * of 140, give the next locality some of the traffic as soon as a third of the preferred one drained.
 */
const STEADFAST = 100_000;

/** The longest path of a socket that Linux takes. Bytes. */
const MAX_PATH = 107;

/** The endpoints of a cluster that is this part of a service. */
export function assignmentOf(
  service: Service,
  port: ServicePort,
  endpoints: Service["endpoints"],
  name: string,
): Assigned {
  const { groups, repeated, drainIgnored } = placeEndpoints(service, port, endpoints);
  const oddities: Oddity[] = [];
  const unusable = (place: Place) => !isUsable(place, isLookedUp(service));
  const lost = groups.flatMap((group) => group.endpoints.filter(({ place }) => unusable(place)));
  const kept = groups.map((group) => without(group, unusable)).filter((g) =>
    g.endpoints.length > 0
  );
  if (lost.length > 0) oddities.push(unusableEndpoints(lost, isLookedUp(service)));
  if (repeated.length > 0) {
    oddities.push({
      rule: "view/repeated-endpoint",
      message: `${repeated.join(", ")} is listed more than once: what is said first counts`,
    });
  }
  if (drainIgnored) {
    oddities.push({
      rule: "view/drain-ignored",
      message: `of the endpoints of port ${port.number} so many drain that all are used: ` +
        "none, or fewer than minHealthy, would be left",
    });
  }
  const endpointGroups = withoutGaps(kept);
  const several = endpointGroups.some(({ priority }) => priority > 0);
  return {
    assignment: {
      clusterName: name,
      endpoints: endpointGroups.map(localityEndpoints),
      policy: several ? { overprovisioningFactor: { value: STEADFAST } } : undefined,
    },
    size: kept.reduce((sum, group) => sum + group.endpoints.length, 0),
    oddities,
  };
}

function without(group: EndpointGroup, unusable: (place: Place) => boolean): EndpointGroup {
  const endpoints = group.endpoints.filter(({ place }) => !unusable(place));
  if (endpoints.length === group.endpoints.length) return group;
  return { ...group, endpoints, weight: endpoints.reduce((sum, { weight }) => sum + weight, 0) };
}

/** Priorities of what is left. */
function withoutGaps(groups: readonly EndpointGroup[]): EndpointGroup[] {
  const priorities = [...new Set(groups.map(({ priority }) => priority))];
  return groups.map((group) => ({ ...group, priority: priorities.indexOf(group.priority) }));
}

/** One that Envoy does not take would have it refuse the whole cluster. */
function isUsable(place: Place, lookedUp: boolean): boolean {
  if (place.kind === "pipe") {
    return !lookedUp && place.path !== "" && encoder.encode(place.path).length <= MAX_PATH;
  }
  if (lookedUp) return !place.address.includes("*") && place.address !== "";
  return isIpAddress(place.address);
}

function unusableEndpoints(lost: readonly PlacedEndpoint[], lookedUp: boolean): Oddity {
  const texts = lost.map(({ place }) => place.kind === "pipe" ? place.path : place.address);
  const right = lookedUp
    ? "a DNS name or an IP address"
    : `an IP address, or a Unix socket with a path of up to ${MAX_PATH} bytes`;
  return {
    rule: "view/endpoint-address",
    message: `${texts.join(", ")} is left out: an endpoint of this resolution has ${right}`,
  };
}

function localityEndpoints({ locality, priority, weight, endpoints }: EndpointGroup) {
  return {
    locality,
    priority,
    loadBalancingWeight: { value: weight },
    lbEndpoints: endpoints.map(({ place, weight, draining }) => ({
      endpoint: { address: addressOf(place) },
      loadBalancingWeight: { value: weight },
      healthStatus: draining ? "DRAINING" as const : undefined,
    })),
  };
}

function addressOf(place: Place): Partially<Address> {
  return place.kind === "pipe"
    ? { pipe: { path: place.path } }
    : { socketAddress: { address: place.address, portValue: place.port } };
}

const encoder = new TextEncoder();
