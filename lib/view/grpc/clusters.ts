/**
 * Clusters, as gRPC clients take them.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import { type Cluster, clusterCodec, type Partially } from "../../wire/messages.ts";
import type { Place } from "../shared/place_endpoints.ts";
import { viewResource } from "../shared/view_resource.ts";

/** Clients let no more than 1024 calls be under way at a time where they are not told otherwise, and fail the rest. */
const NO_LIMIT = { thresholds: [{ maxRequests: { value: 2 ** 32 - 1 } }] };

/** A cluster whose endpoints are asked for by its name. */
export function edsCluster(name: string): Resource {
  return clusterOf(name, {
    type: "EDS",
    edsClusterConfig: { edsConfig: { ads: {}, resourceApiVersion: "V3" } },
  });
}

/** A cluster whose one name each client looks up itself. */
export function dnsCluster(name: string, place: Place): Resource {
  if (place.kind !== "socket") throw new Error(`not a DNS name: ${place.path}`);
  const socketAddress = { address: place.address, portValue: place.port };
  const loadAssignment = {
    clusterName: name,
    endpoints: [{ lbEndpoints: [{ endpoint: { address: { socketAddress } } }] }],
  };
  return clusterOf(name, { type: "LOGICAL_DNS", loadAssignment });
}

function clusterOf(name: string, how: Partially<Cluster>): Resource {
  const cluster = { name, ...how, lbPolicy: "ROUND_ROBIN", circuitBreakers: NO_LIMIT } as const;
  return viewResource(clusterCodec, name, cluster);
}
