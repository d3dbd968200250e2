/**
 * Clusters as Envoy has them: one for each port of a service, and one for each subset of it.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import {
  type CircuitThresholds,
  type Cluster,
  clusterCodec,
  clusterLoadAssignmentCodec,
  type ClusterOutlierDetection,
  forwardProxyClusterCodec,
  type Partially,
} from "../../wire/messages.ts";
import type { ViewContext } from "../served_service.ts";
import { clusterName } from "../shared/names.ts";
import { endpointsWith } from "../shared/served_parts.ts";
import type { Directed } from "../shared/targets.ts";
import { viewResource } from "../shared/view_resource.ts";
import { type Assigned, assignmentOf, type Oddity } from "./endpoint.ts";
import { ADS, DNS_CACHE } from "./extensions.ts";
import { httpOptions, transportSocket } from "./upstream.ts";

/** The clusters of one port. */
export interface Clusters {
  readonly clusters: readonly Resource[];
  /** Endpoints of those that Envoy asks for apart. */
  readonly assignments: readonly Resource[];
  readonly oddities: readonly Oddity[];
}

/** The cluster of all endpoints of a port and those of its subsets. */
export function clustersOf(
  { service, traffic }: Directed,
  port: ServicePort,
  context: ViewContext,
): Clusters {
  const parts: [string, Service["endpoints"]][] = [["", service.endpoints]];
  for (const [subset, labels] of traffic.subsets) {
    parts.push([subset, endpointsWith(service.endpoints, labels)]);
  }
  const assignments: Resource[] = [];
  const oddities: Oddity[] = [];
  const clusters = parts.map(([subset, endpoints]) => {
    const name = clusterName(service.hosts[0]!, port.number, subset);
    const assigned = assignmentOf(service, port, endpoints, name);
    oddities.push(...assigned.oddities);
    if (service.resolution === "STATIC") {
      assignments.push(viewResource(clusterLoadAssignmentCodec, name, assigned.assignment));
    }
    if (service.resolution === "DNS_ROUND_ROBIN" && assigned.size > 1) oddities.push(ONE_ONLY);
    return viewResource(clusterCodec, name, {
      name,
      ...common(service, port, context),
      ...discovery(service, port, assigned),
    });
  });
  return { clusters, assignments, oddities };
}

const ONE_ONLY: Oddity = {
  rule: "view/round-robin-endpoints",
  message: "with resolution DNS_ROUND_ROBIN only the first endpoint is used; use DNS for several",
};

const UNBOUNDED = { value: 2 ** 32 - 1 };

/** What Envoy lets through at once is not for us to say; its own defaults, 1024, would refuse requests under load. */
const THRESHOLDS: Partially<CircuitThresholds> = {
  maxConnections: UNBOUNDED,
  maxPendingRequests: UNBOUNDED,
  maxRequests: UNBOUNDED,
  maxRetries: UNBOUNDED,
};

/**
 * Beside priorities, or they would hold of endpoints that cannot be reached too: such ones are left out
 * for a while, whatever they answer when they can be. Found out with three connections in a row, and
 * tried again soon, for the last ones that are left may be among them.
 */
const UNREACHABLE_OUT: Partially<ClusterOutlierDetection> = {
  interval: { seconds: 1 },
  baseEjectionTime: { seconds: 5 },
  maxEjectionTime: { seconds: 30 },
  maxEjectionPercent: { value: 100 },
  enforcingConsecutive5xx: { value: 0 },
  enforcingSuccessRate: { value: 0 },
  enforcingConsecutiveGatewayFailure: { value: 0 },
  splitExternalLocalOriginErrors: true,
  consecutiveLocalOriginFailure: { value: 3 },
  enforcingConsecutiveLocalOriginFailure: { value: 100 },
  enforcingLocalOriginSuccessRate: { value: 0 },
};

function common(
  service: Service,
  port: ServicePort,
  { envoy }: ViewContext,
): Partially<Cluster> {
  return {
    circuitBreakers: { thresholds: [THRESHOLDS] },
    outlierDetection: service.failover === undefined ? undefined : UNREACHABLE_OUT,
    typedExtensionProtocolOptions: httpOptions(service, port),
    transportSocket: transportSocket(service, port, envoy.trustedCa),
  };
}

/** How endpoints are found, and one of them chosen. */
function discovery(service: Service, port: ServicePort, assigned: Assigned): Partially<Cluster> {
  switch (service.resolution) {
    case "STATIC":
      return {
        type: "EDS",
        edsClusterConfig: { edsConfig: ADS },
        commonLbConfig: balance(service),
      };
    case "DNS":
    case "DNS_ROUND_ROBIN":
      return { ...lookUp(service, assigned), commonLbConfig: balance(service) };
    case "NONE":
      return {
        type: "ORIGINAL_DST",
        lbPolicy: "CLUSTER_PROVIDED",
        originalDstLbConfig: port.targetPort === undefined
          ? undefined
          : { upstreamPortOverride: { value: port.targetPort } },
      };
    case "DYNAMIC_DNS":
      return {
        clusterType: {
          name: "envoy.clusters.dynamic_forward_proxy",
          typedConfig: forwardProxyClusterCodec.pack({
            dnsCacheConfig: DNS_CACHE,
            // Else Envoy takes no options of HTTP, and none of TLS but those by which it checks the name
            // that was asked for; the service's own names are checked instead.
            allowInsecureClusterOptions: true,
          }),
        },
        lbPolicy: "CLUSTER_PROVIDED",
      };
  }
}

function lookUp(service: Service, { assignment, size }: Assigned): Partially<Cluster> {
  // A cluster to look up has to have a name.
  if (size === 0) return { type: "STATIC", loadAssignment: assignment };
  const dns = { dnsLookupFamily: "V4_PREFERRED", respectDnsTtl: true } as const;
  return service.resolution === "DNS"
    ? { type: "STRICT_DNS", loadAssignment: assignment, ...dns }
    : { type: "LOGICAL_DNS", loadAssignment: firstOf(assignment), ...dns };
}

function firstOf(assignment: Assigned["assignment"]): Assigned["assignment"] {
  const [group] = assignment.endpoints!;
  const [endpoint] = group!.lbEndpoints!;
  return { ...assignment, endpoints: [{ ...group, lbEndpoints: [endpoint!] }] };
}

/**
 * With Envoy's own threshold, half, those that count endpoints that drain send requests to all as soon
 * as that many do; its own window would let such an endpoint have new requests for up to a second more.
 */
function balance({ minHealthy = 0 }: Service): Partially<Cluster>["commonLbConfig"] {
  return {
    healthyPanicThreshold: { value: minHealthy * 100 },
    updateMergeWindow: { seconds: 0 },
  };
}
