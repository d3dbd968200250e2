/**
 * The endpoints of a cluster: package `envoy.config.endpoint.v3`, as far as we set it.
 *
 * @module
 */
import type { Duration, Wrapped } from "./common.ts";
import type { FractionalPercent } from "./config_source.ts";
import type { Address, Locality } from "./node.ts";

/** `envoy.config.endpoint.v3.ClusterLoadAssignment`. */
export interface ClusterLoadAssignment {
  readonly clusterName: string;
  readonly endpoints: readonly LocalityLbEndpoints[];
  readonly policy?: LoadPolicy;
}

/** `envoy.config.endpoint.v3.ClusterLoadAssignment.Policy`. */
export interface LoadPolicy {
  readonly dropOverloads: readonly DropOverload[];
  readonly overprovisioningFactor?: Wrapped<number>;
  readonly endpointStaleAfter?: Duration;
  readonly weightedPriorityHealth: boolean;
}

/** `envoy.config.endpoint.v3.ClusterLoadAssignment.Policy.DropOverload`. */
export interface DropOverload {
  readonly category: string;
  readonly dropPercentage?: FractionalPercent;
}

/** `envoy.config.endpoint.v3.LocalityLbEndpoints`. */
export interface LocalityLbEndpoints {
  readonly locality?: Locality;
  readonly lbEndpoints: readonly LbEndpoint[];
  readonly loadBalancingWeight?: Wrapped<number>;
  /** 0 is the preferred. */
  readonly priority: number;
}

/** `envoy.config.endpoint.v3.LbEndpoint`. */
export interface LbEndpoint {
  readonly endpoint?: { readonly address?: Address; readonly hostname: string };
  readonly healthStatus: HealthStatus;
  readonly loadBalancingWeight?: Wrapped<number>;
}

/** `envoy.config.core.v3.HealthStatus`. */
export type HealthStatus =
  | "UNKNOWN"
  | "HEALTHY"
  | "UNHEALTHY"
  | "DRAINING"
  | "TIMEOUT"
  | "DEGRADED"
  | number;
