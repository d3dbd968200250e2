/**
 * Where connections are taken, and what becomes of them: package `envoy.config.listener.v3` and the
 * filters that are extensions, as far as we set them.
 *
 * @module
 */
import type { Any, Duration, Wrapped } from "./common.ts";
import type { DnsCacheConfig } from "./cluster.ts";
import type { CidrRange, ConfigSource, NamedExtension } from "./config_source.ts";
import type { Address } from "./node.ts";
import type { RouteConfiguration } from "./route.ts";
import type { DataSource } from "./tls.ts";

/** `envoy.config.listener.v3.Listener`. */
export interface Listener {
  readonly name: string;
  readonly address?: Address;
  readonly filterChains: readonly FilterChain[];
  readonly listenerFilters: readonly NamedExtension[];
  readonly listenerFiltersTimeout?: Duration;
  readonly trafficDirection: "UNSPECIFIED" | "INBOUND" | "OUTBOUND" | number;
  readonly continueOnListenerFiltersTimeout: boolean;
  /** Of programs that have no proxy: an HttpConnectionManager. */
  readonly apiListener?: { readonly apiListener?: Any };
  readonly defaultFilterChain?: FilterChain;
  readonly bindToPort?: Wrapped<boolean>;
  readonly statPrefix: string;
}

/** `envoy.config.listener.v3.FilterChain`. */
export interface FilterChain {
  readonly filterChainMatch?: FilterChainMatch;
  readonly filters: readonly NamedExtension[];
  readonly transportSocket?: NamedExtension;
  readonly name: string;
}

/** `envoy.config.listener.v3.FilterChainMatch`. */
export interface FilterChainMatch {
  readonly destinationPort?: Wrapped<number>;
  readonly prefixRanges: readonly CidrRange[];
  readonly transportProtocol: string;
  readonly applicationProtocols: readonly string[];
  readonly serverNames: readonly string[];
}

/** `envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`. */
export interface HttpConnectionManager {
  readonly codecType: "AUTO" | "HTTP1" | "HTTP2" | "HTTP3" | number;
  readonly statPrefix: string;
  /** Only one of this and {@link routeConfig}. */
  readonly rds?: Rds;
  readonly routeConfig?: RouteConfiguration;
  readonly httpFilters: readonly HttpFilter[];
  readonly upgradeConfigs: readonly {
    readonly upgradeType: string;
    readonly enabled?: Wrapped<boolean>;
  }[];
  /** Absent: 5 min; 0: none. */
  readonly streamIdleTimeout?: Duration;
  readonly serverHeaderTransformation: "OVERWRITE" | "APPEND_IF_ABSENT" | "PASS_THROUGH" | number;
}

/** `envoy.extensions.filters.network.http_connection_manager.v3.Rds`. */
export interface Rds {
  readonly configSource?: ConfigSource;
  readonly routeConfigName: string;
}

/** `envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter`. */
export interface HttpFilter extends NamedExtension {
  readonly isOptional: boolean;
}

/** `envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy`. */
export interface TcpProxy {
  readonly statPrefix: string;
  /** Only one of this and {@link weightedClusters}. */
  readonly cluster?: string;
  readonly weightedClusters?: {
    readonly clusters: readonly { readonly name: string; readonly weight: number }[];
  };
  readonly maxConnectAttempts?: Wrapped<number>;
  readonly idleTimeout?: Duration;
}

/** `envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig`. */
export interface SniForwardProxy {
  readonly dnsCacheConfig?: DnsCacheConfig;
  readonly portValue?: number;
}

/** `envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig`. */
export interface HttpForwardProxy {
  readonly dnsCacheConfig?: DnsCacheConfig;
}

/** `envoy.extensions.filters.http.set_filter_state.v3.Config`. */
export interface FilterStateSetter {
  readonly onRequestHeaders: readonly FilterStateValue[];
}

/** `envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue`. */
export interface FilterStateValue {
  readonly objectKey?: string;
  readonly formatString?: SubstitutionFormat;
}

/** `envoy.config.core.v3.SubstitutionFormatString`. */
export interface SubstitutionFormat {
  readonly textFormatSource?: DataSource;
}
