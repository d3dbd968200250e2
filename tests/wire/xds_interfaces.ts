/**
 * The fields of our interfaces of xDS messages; the compiler sees to it that none is missing and none
 * too many.
 *
 * @module
 */
import type * as messages from "../../lib/wire/messages.ts";
import { STATUS_INTERFACES } from "./status_interfaces.ts";

type Keys<T> = Record<keyof Required<T>, true>;
type Fields = Readonly<Record<string, true>>;

function keys<T>(of: Keys<T>): Fields {
  return of;
}

/** A message of which we set no field. */
const NONE: Fields = {};

const NETWORK = "envoy.extensions.filters.network";
const TLS = "envoy.extensions.transport_sockets.tls.v3";
const ROUTE = "envoy.config.route.v3";
const ENDPOINT = "envoy.config.endpoint.v3";

const EXTENSION = keys<messages.NamedExtension>({ name: true, typedConfig: true });

const CORE: Readonly<Record<string, Fields>> = {
  "envoy.config.core.v3.ConfigSource": keys<messages.ConfigSource>({
    ads: true,
    self: true,
    initialFetchTimeout: true,
    resourceApiVersion: true,
  }),
  "envoy.config.core.v3.AggregatedConfigSource": NONE,
  "envoy.config.core.v3.CidrRange": keys<messages.CidrRange>({
    addressPrefix: true,
    prefixLen: true,
  }),
  "envoy.config.core.v3.TransportSocket": EXTENSION,
  "envoy.config.core.v3.DataSource": keys<messages.DataSource>({
    filename: true,
    inlineBytes: true,
    inlineString: true,
    environmentVariable: true,
  }),
  "envoy.type.v3.Percent": keys<messages.Percent>({ value: true }),
  "envoy.type.v3.FractionalPercent": keys<messages.FractionalPercent>({
    numerator: true,
    denominator: true,
  }),
  "google.protobuf.UInt32Value": keys<messages.Wrapped<number>>({ value: true }),
  "google.protobuf.BoolValue": keys<messages.Wrapped<boolean>>({ value: true }),
};

const CLUSTERS: Readonly<Record<string, Fields>> = {
  "envoy.config.cluster.v3.Cluster": keys<messages.Cluster>({
    name: true,
    type: true,
    clusterType: true,
    edsClusterConfig: true,
    connectTimeout: true,
    lbPolicy: true,
    circuitBreakers: true,
    dnsLookupFamily: true,
    outlierDetection: true,
    originalDstLbConfig: true,
    transportSocket: true,
    commonLbConfig: true,
    loadAssignment: true,
    typedExtensionProtocolOptions: true,
    respectDnsTtl: true,
  }),
  "envoy.config.cluster.v3.Cluster.CustomClusterType": EXTENSION,
  "envoy.config.cluster.v3.Cluster.EdsClusterConfig": keys<messages.EdsClusterConfig>({
    edsConfig: true,
    serviceName: true,
  }),
  "envoy.config.cluster.v3.Cluster.OriginalDstLbConfig": keys<messages.OriginalDstLbConfig>({
    upstreamPortOverride: true,
  }),
  "envoy.config.cluster.v3.Cluster.CommonLbConfig": keys<messages.CommonLbConfig>({
    healthyPanicThreshold: true,
    localityWeightedLbConfig: true,
    updateMergeWindow: true,
  }),
  "envoy.config.cluster.v3.CircuitBreakers": keys<NonNullable<messages.Cluster["circuitBreakers"]>>(
    { thresholds: true },
  ),
  "envoy.config.cluster.v3.CircuitBreakers.Thresholds": keys<messages.CircuitThresholds>({
    priority: true,
    maxConnections: true,
    maxPendingRequests: true,
    maxRequests: true,
    maxRetries: true,
  }),
  "envoy.config.cluster.v3.OutlierDetection": keys<messages.ClusterOutlierDetection>({
    interval: true,
    baseEjectionTime: true,
    maxEjectionTime: true,
    maxEjectionPercent: true,
    enforcingConsecutive5xx: true,
    enforcingSuccessRate: true,
    enforcingConsecutiveGatewayFailure: true,
    splitExternalLocalOriginErrors: true,
    consecutiveLocalOriginFailure: true,
    enforcingConsecutiveLocalOriginFailure: true,
    enforcingLocalOriginSuccessRate: true,
  }),
  "envoy.extensions.clusters.aggregate.v3.ClusterConfig": keys<messages.AggregateCluster>({
    clusters: true,
  }),
  "envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig": keys<
    messages.ForwardProxyCluster
  >({ dnsCacheConfig: true, allowInsecureClusterOptions: true }),
  "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig": keys<messages.DnsCacheConfig>({
    name: true,
    dnsLookupFamily: true,
  }),
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": keys<messages.UpstreamHttpOptions>({
    upstreamHttpProtocolOptions: true,
    explicitHttpConfig: true,
  }),
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig": keys<
    NonNullable<messages.UpstreamHttpOptions["explicitHttpConfig"]>
  >({ httpProtocolOptions: true, http2ProtocolOptions: true }),
  "envoy.config.core.v3.UpstreamHttpProtocolOptions": keys<
    NonNullable<messages.UpstreamHttpOptions["upstreamHttpProtocolOptions"]>
  >({ autoSni: true, autoSanValidation: true }),
  [`${TLS}.UpstreamTlsContext`]: keys<messages.UpstreamTlsContext>({
    commonTlsContext: true,
    sni: true,
  }),
  [`${TLS}.CommonTlsContext`]: keys<messages.CommonTlsContext>({
    validationContext: true,
    alpnProtocols: true,
  }),
  [`${TLS}.CertificateValidationContext`]: keys<messages.CertificateValidationContext>({
    trustedCa: true,
    matchTypedSubjectAltNames: true,
  }),
  [`${TLS}.SubjectAltNameMatcher`]: keys<messages.SubjectAltNameMatcher>({
    sanType: true,
    matcher: true,
  }),
};

const ENDPOINTS: Readonly<Record<string, Fields>> = {
  [`${ENDPOINT}.ClusterLoadAssignment`]: keys<messages.ClusterLoadAssignment>({
    clusterName: true,
    endpoints: true,
    policy: true,
  }),
  [`${ENDPOINT}.ClusterLoadAssignment.Policy`]: keys<messages.LoadPolicy>({
    dropOverloads: true,
    overprovisioningFactor: true,
    endpointStaleAfter: true,
    weightedPriorityHealth: true,
  }),
  [`${ENDPOINT}.ClusterLoadAssignment.Policy.DropOverload`]: keys<messages.DropOverload>({
    category: true,
    dropPercentage: true,
  }),
  [`${ENDPOINT}.LocalityLbEndpoints`]: keys<messages.LocalityLbEndpoints>({
    locality: true,
    lbEndpoints: true,
    loadBalancingWeight: true,
    priority: true,
  }),
  [`${ENDPOINT}.LbEndpoint`]: keys<messages.LbEndpoint>({
    endpoint: true,
    healthStatus: true,
    loadBalancingWeight: true,
  }),
  [`${ENDPOINT}.Endpoint`]: keys<NonNullable<messages.LbEndpoint["endpoint"]>>({
    address: true,
    hostname: true,
  }),
};

const ROUTES: Readonly<Record<string, Fields>> = {
  [`${ROUTE}.RouteConfiguration`]: keys<messages.RouteConfiguration>({
    name: true,
    virtualHosts: true,
    validateClusters: true,
    ignorePortInHostMatching: true,
  }),
  [`${ROUTE}.VirtualHost`]: keys<messages.VirtualHost>({
    name: true,
    domains: true,
    routes: true,
    typedPerFilterConfig: true,
    retryPolicy: true,
  }),
  [`${ROUTE}.Route`]: keys<messages.Route>({
    match: true,
    route: true,
    directResponse: true,
    nonForwardingAction: true,
    name: true,
  }),
  [`${ROUTE}.DirectResponseAction`]: keys<NonNullable<messages.Route["directResponse"]>>({
    status: true,
    body: true,
  }),
  [`${ROUTE}.RouteMatch`]: keys<messages.RouteMatch>({
    prefix: true,
    path: true,
    safeRegex: true,
    caseSensitive: true,
    headers: true,
  }),
  [`${ROUTE}.HeaderMatcher`]: keys<messages.HeaderMatcher>({
    name: true,
    presentMatch: true,
    stringMatch: true,
    invertMatch: true,
  }),
  [`${ROUTE}.RouteAction`]: keys<messages.RouteAction>({
    cluster: true,
    weightedClusters: true,
    timeout: true,
    retryPolicy: true,
    maxStreamDuration: true,
  }),
  [`${ROUTE}.RouteAction.MaxStreamDuration`]: keys<messages.MaxStreamDuration>({
    maxStreamDuration: true,
    grpcTimeoutHeaderMax: true,
    grpcTimeoutHeaderOffset: true,
  }),
  [`${ROUTE}.WeightedCluster.ClusterWeight`]: keys<messages.ClusterWeight>({
    name: true,
    weight: true,
  }),
  [`${ROUTE}.FilterConfig`]: keys<messages.FilterConfig>({ config: true, isOptional: true }),
  [`${ROUTE}.RetryPolicy`]: keys<messages.RetryPolicy>({
    retryOn: true,
    numRetries: true,
    retryPriority: true,
    retryHostPredicate: true,
    hostSelectionRetryMaxAttempts: true,
  }),
  [`${ROUTE}.RetryPolicy.RetryPriority`]: EXTENSION,
  [`${ROUTE}.RetryPolicy.RetryHostPredicate`]: EXTENSION,
};

const LISTENERS: Readonly<Record<string, Fields>> = {
  "envoy.config.listener.v3.Listener": keys<messages.Listener>({
    name: true,
    address: true,
    filterChains: true,
    listenerFilters: true,
    listenerFiltersTimeout: true,
    trafficDirection: true,
    continueOnListenerFiltersTimeout: true,
    apiListener: true,
    defaultFilterChain: true,
    bindToPort: true,
    statPrefix: true,
  }),
  "envoy.config.listener.v3.FilterChain": keys<messages.FilterChain>({
    filterChainMatch: true,
    filters: true,
    transportSocket: true,
    name: true,
  }),
  "envoy.config.listener.v3.FilterChainMatch": keys<messages.FilterChainMatch>({
    destinationPort: true,
    prefixRanges: true,
    transportProtocol: true,
    applicationProtocols: true,
    serverNames: true,
  }),
  "envoy.config.listener.v3.Filter": EXTENSION,
  "envoy.config.listener.v3.ListenerFilter": EXTENSION,
  [`${NETWORK}.http_connection_manager.v3.HttpConnectionManager`]: keys<
    messages.HttpConnectionManager
  >({
    codecType: true,
    statPrefix: true,
    rds: true,
    routeConfig: true,
    httpFilters: true,
    upgradeConfigs: true,
    streamIdleTimeout: true,
    serverHeaderTransformation: true,
  }),
  [`${NETWORK}.http_connection_manager.v3.Rds`]: keys<messages.Rds>({
    configSource: true,
    routeConfigName: true,
  }),
  [`${NETWORK}.http_connection_manager.v3.HttpFilter`]: keys<messages.HttpFilter>({
    name: true,
    typedConfig: true,
    isOptional: true,
  }),
  [`${NETWORK}.tcp_proxy.v3.TcpProxy`]: keys<messages.TcpProxy>({
    statPrefix: true,
    cluster: true,
    weightedClusters: true,
    maxConnectAttempts: true,
    idleTimeout: true,
  }),
  [`${NETWORK}.sni_dynamic_forward_proxy.v3.FilterConfig`]: keys<messages.SniForwardProxy>({
    dnsCacheConfig: true,
    portValue: true,
  }),
  "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig": keys<
    messages.HttpForwardProxy
  >({ dnsCacheConfig: true }),
  "envoy.extensions.filters.http.set_filter_state.v3.Config": keys<messages.FilterStateSetter>({
    onRequestHeaders: true,
  }),
  "envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue": keys<
    messages.FilterStateValue
  >({ objectKey: true, formatString: true }),
  "envoy.config.core.v3.SubstitutionFormatString": keys<messages.SubstitutionFormat>({
    textFormatSource: true,
  }),
  "envoy.extensions.filters.http.router.v3.Router": NONE,
  "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb": NONE,
  "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector": NONE,
  "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector": NONE,
  "envoy.extensions.filters.listener.original_dst.v3.OriginalDst": NONE,
  "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate": NONE,
  "envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig": keys<
    messages.PreviousPriorities
  >({ updateFrequency: true }),
};

/** By the full name of the message. */
export const XDS_INTERFACES: Readonly<Record<string, Fields>> = {
  ...CORE,
  ...CLUSTERS,
  ...ENDPOINTS,
  ...ROUTES,
  ...LISTENERS,
  ...STATUS_INTERFACES,
};
