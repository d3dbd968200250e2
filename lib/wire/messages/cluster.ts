/**
 * Clusters: package `envoy.config.cluster.v3` and the types of cluster that are extensions, as far
 * as we set them.
 *
 * @module
 */
import type { Any, Duration, NoSettings, StringMap, Wrapped } from "./common.ts";
import type { ConfigSource, NamedExtension, Percent } from "./config_source.ts";
import type { ClusterLoadAssignment } from "./endpoint.ts";

/** `envoy.config.cluster.v3.Cluster`. */
export interface Cluster {
  readonly name: string;
  /** Only one of this and {@link clusterType}. */
  readonly type?: "STATIC" | "STRICT_DNS" | "LOGICAL_DNS" | "EDS" | "ORIGINAL_DST" | number;
  readonly clusterType?: NamedExtension;
  readonly edsClusterConfig?: EdsClusterConfig;
  readonly connectTimeout?: Duration;
  readonly lbPolicy: LbPolicy;
  readonly circuitBreakers?: { readonly thresholds: readonly CircuitThresholds[] };
  readonly dnsLookupFamily: DnsLookupFamily;
  readonly outlierDetection?: ClusterOutlierDetection;
  readonly originalDstLbConfig?: OriginalDstLbConfig;
  readonly transportSocket?: NamedExtension;
  readonly commonLbConfig?: CommonLbConfig;
  readonly loadAssignment?: ClusterLoadAssignment;
  readonly typedExtensionProtocolOptions: StringMap<Any>;
  readonly respectDnsTtl: boolean;
}

/** `envoy.config.cluster.v3.Cluster.LbPolicy`. */
export type LbPolicy =
  | "ROUND_ROBIN"
  | "LEAST_REQUEST"
  | "RING_HASH"
  | "RANDOM"
  | "MAGLEV"
  | "CLUSTER_PROVIDED"
  | "LOAD_BALANCING_POLICY_CONFIG"
  | number;

/** `envoy.config.cluster.v3.Cluster.DnsLookupFamily`. */
export type DnsLookupFamily = "AUTO" | "V4_ONLY" | "V6_ONLY" | "V4_PREFERRED" | "ALL" | number;

/** `envoy.config.cluster.v3.Cluster.EdsClusterConfig`. */
export interface EdsClusterConfig {
  readonly edsConfig?: ConfigSource;
  /** Empty: the name of the cluster. */
  readonly serviceName: string;
}

/** `envoy.config.cluster.v3.Cluster.OriginalDstLbConfig`. */
export interface OriginalDstLbConfig {
  readonly upstreamPortOverride?: Wrapped<number>;
}

/** `envoy.config.cluster.v3.Cluster.CommonLbConfig`. */
export interface CommonLbConfig {
  readonly healthyPanicThreshold?: Percent;
  readonly localityWeightedLbConfig?: NoSettings;
  readonly updateMergeWindow?: Duration;
}

/** `envoy.config.cluster.v3.CircuitBreakers.Thresholds`. */
export interface CircuitThresholds {
  readonly priority: "DEFAULT" | "HIGH" | number;
  readonly maxConnections?: Wrapped<number>;
  readonly maxPendingRequests?: Wrapped<number>;
  readonly maxRequests?: Wrapped<number>;
  readonly maxRetries?: Wrapped<number>;
}

/** `envoy.config.cluster.v3.OutlierDetection`. */
export interface ClusterOutlierDetection {
  readonly interval?: Duration;
  readonly baseEjectionTime?: Duration;
  readonly maxEjectionTime?: Duration;
  readonly maxEjectionPercent?: Wrapped<number>;
  /** Enforcing: in percent of the times that it would apply. */
  readonly enforcingConsecutive5xx?: Wrapped<number>;
  readonly enforcingSuccessRate?: Wrapped<number>;
  readonly enforcingConsecutiveGatewayFailure?: Wrapped<number>;
  readonly splitExternalLocalOriginErrors: boolean;
  readonly consecutiveLocalOriginFailure?: Wrapped<number>;
  readonly enforcingConsecutiveLocalOriginFailure?: Wrapped<number>;
  readonly enforcingLocalOriginSuccessRate?: Wrapped<number>;
}

/** `envoy.extensions.clusters.aggregate.v3.ClusterConfig`. */
export interface AggregateCluster {
  readonly clusters: readonly string[];
}

/** `envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig`. */
export interface ForwardProxyCluster {
  readonly dnsCacheConfig?: DnsCacheConfig;
  readonly allowInsecureClusterOptions: boolean;
}

/** `envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig`: the same wherever the name is. */
export interface DnsCacheConfig {
  readonly name: string;
  readonly dnsLookupFamily: DnsLookupFamily;
}

/** `envoy.extensions.upstreams.http.v3.HttpProtocolOptions`. */
export interface UpstreamHttpOptions {
  readonly upstreamHttpProtocolOptions?: {
    readonly autoSni: boolean;
    readonly autoSanValidation: boolean;
  };
  /** One of the two. */
  readonly explicitHttpConfig?: {
    readonly httpProtocolOptions?: NoSettings;
    readonly http2ProtocolOptions?: NoSettings;
  };
}
