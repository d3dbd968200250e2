/**
 * Which request goes to which cluster: package `envoy.config.route.v3`, as far as we set it.
 *
 * @module
 */
import type { Any, Duration, Int64, NoSettings, StringMap, Wrapped } from "./common.ts";
import type { NamedExtension } from "./config_source.ts";
import type { RegexMatcher, StringMatcher } from "./matcher.ts";
import type { DataSource } from "./tls.ts";

/** `envoy.config.route.v3.RouteConfiguration`. */
export interface RouteConfiguration {
  readonly name: string;
  readonly virtualHosts: readonly VirtualHost[];
  readonly validateClusters?: Wrapped<boolean>;
  readonly ignorePortInHostMatching: boolean;
}

/** `envoy.config.route.v3.VirtualHost`. */
export interface VirtualHost {
  readonly name: string;
  /** At least one; each in one virtual host of a route configuration only. */
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
  /** Settings of HTTP filters by their names; each that of the filter itself or a {@link FilterConfig}. */
  readonly typedPerFilterConfig: StringMap<Any>;
  readonly retryPolicy?: RetryPolicy;
}

/** `envoy.config.route.v3.FilterConfig`. */
export interface FilterConfig {
  readonly config?: Any;
  /** Where the filter takes none, it goes without. */
  readonly isOptional: boolean;
}

/** `envoy.config.route.v3.Route`. */
export interface Route {
  readonly match?: RouteMatch;
  /** One of these three. */
  readonly route?: RouteAction;
  readonly directResponse?: { readonly status: number; readonly body?: DataSource };
  readonly nonForwardingAction?: NoSettings;
  readonly name: string;
}

/** `envoy.config.route.v3.RouteMatch`: one of `prefix`, `path` and `safeRegex`. */
export interface RouteMatch {
  readonly prefix?: string;
  readonly path?: string;
  readonly safeRegex?: RegexMatcher;
  readonly caseSensitive?: Wrapped<boolean>;
  readonly headers: readonly HeaderMatcher[];
}

/** `envoy.config.route.v3.HeaderMatcher`. */
export interface HeaderMatcher {
  readonly name: string;
  readonly presentMatch?: boolean;
  readonly stringMatch?: StringMatcher;
  readonly invertMatch: boolean;
}

/** `envoy.config.route.v3.RouteAction`: one of `cluster` and `weightedClusters`. */
export interface RouteAction {
  readonly cluster?: string;
  readonly weightedClusters?: { readonly clusters: readonly ClusterWeight[] };
  /** Absent: 15 s; 0: none. */
  readonly timeout?: Duration;
  readonly retryPolicy?: RetryPolicy;
  readonly maxStreamDuration?: MaxStreamDuration;
}

/** `envoy.config.route.v3.WeightedCluster.ClusterWeight`. */
export interface ClusterWeight {
  readonly name: string;
  readonly weight?: Wrapped<number>;
}

/** `envoy.config.route.v3.RouteAction.MaxStreamDuration`. */
export interface MaxStreamDuration {
  readonly maxStreamDuration?: Duration;
  readonly grpcTimeoutHeaderMax?: Duration;
  readonly grpcTimeoutHeaderOffset?: Duration;
}

/** `envoy.config.route.v3.RetryPolicy`. */
export interface RetryPolicy {
  readonly retryOn: string;
  readonly numRetries?: Wrapped<number>;
  readonly retryPriority?: NamedExtension;
  readonly retryHostPredicate: readonly NamedExtension[];
  readonly hostSelectionRetryMaxAttempts: Int64;
}

/** `envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig`. Has retries go to a priority that was not tried. */
export interface PreviousPriorities {
  /** After how many tries the priorities tried so far are avoided. */
  readonly updateFrequency: number;
}
