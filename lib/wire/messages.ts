/**
 * The messages of the protocols as TypeScript, with a codec each. Decoded messages have every scalar,
 * list and map; messages within (`?`) are there only where they were sent. To encode, any field may
 * be left out ({@link Partially}).
 *
 * @module
 */
import { decode, type DecodeOptions, encode } from "./codec.ts";
import type { ClientStatusRequest, ClientStatusResponse } from "./messages/client_status.ts";
import type {
  AggregateCluster,
  Cluster,
  ForwardProxyCluster,
  UpstreamHttpOptions,
} from "./messages/cluster.ts";
import type { Any, NoSettings, Status } from "./messages/common.ts";
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from "./messages/discovery.ts";
import type { ClusterLoadAssignment } from "./messages/endpoint.ts";
import type {
  FilterStateSetter,
  HttpConnectionManager,
  HttpForwardProxy,
  Listener,
  SniForwardProxy,
  TcpProxy,
} from "./messages/listener.ts";
import type {
  IncrementalMeshConfigRequest,
  IncrementalMeshConfigResponse,
  McpResource,
  MeshConfigRequest,
  MeshConfigResponse,
  RequestResources,
  Resources,
} from "./messages/mcp.ts";
import type {
  DestinationRule,
  ServiceEntry,
  VirtualService,
  WorkloadEntry,
} from "./messages/networking.ts";
import type { FilterConfig, PreviousPriorities, RouteConfiguration } from "./messages/route.ts";
import type { UpstreamTlsContext } from "./messages/tls.ts";

export type * from "./messages/client_status.ts";
export type * from "./messages/cluster.ts";
export type * from "./messages/common.ts";
export type * from "./messages/config_source.ts";
export type * from "./messages/discovery.ts";
export type * from "./messages/endpoint.ts";
export type * from "./messages/listener.ts";
export type * from "./messages/matcher.ts";
export type * from "./messages/mcp.ts";
export type * from "./messages/networking.ts";
export type * from "./messages/node.ts";
export type * from "./messages/route.ts";
export type * from "./messages/tls.ts";

/** A message to encode: any field, at any depth, may be left out or undefined. */
export type Partially<T> = { readonly [K in keyof T]?: PartialValue<T[K]> | undefined };

type PartialValue<V> = V extends Uint8Array | string | number | bigint | boolean ? V
  : V extends readonly (infer Item)[] ? readonly PartialValue<Item>[]
  : Partially<V>;

/** Encodes and decodes one type of message; both throw {@link WireError} as `lib/wire/codec.ts` says. */
export interface MessageCodec<T> {
  /** Full name of the message. */
  readonly typeName: string;
  /** `type.googleapis.com/` and the full name: what an Any with this message says. */
  readonly typeUrl: string;
  encode(message: Partially<T>): Uint8Array;
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
  /** The message in an Any. */
  pack(message: Partially<T>): Any;
}

function codecOf<T>(typeName: string): MessageCodec<T> {
  const typeUrl = `type.googleapis.com/${typeName}`;
  return {
    typeName,
    typeUrl,
    encode: (message) => encode(typeName, message),
    decode: (bytes, options) => decode<T>(typeName, bytes, options),
    pack: (message) => ({ typeUrl, value: encode(typeName, message) }),
  };
}

/** Codec of {@link Status}. */
export const statusCodec: MessageCodec<Status> = codecOf("google.rpc.Status");
/** Codec of {@link McpResource}. */
export const mcpResourceCodec: MessageCodec<McpResource> = codecOf("istio.mcp.v1alpha1.Resource");
/** Codec of {@link RequestResources}. */
export const requestResourcesCodec: MessageCodec<RequestResources> = codecOf(
  "istio.mcp.v1alpha1.RequestResources",
);
/** Codec of {@link Resources}. */
export const resourcesCodec: MessageCodec<Resources> = codecOf("istio.mcp.v1alpha1.Resources");
/** Codec of {@link MeshConfigRequest}. */
export const meshConfigRequestCodec: MessageCodec<MeshConfigRequest> = codecOf(
  "istio.mcp.v1alpha1.MeshConfigRequest",
);
/** Codec of {@link MeshConfigResponse}. */
export const meshConfigResponseCodec: MessageCodec<MeshConfigResponse> = codecOf(
  "istio.mcp.v1alpha1.MeshConfigResponse",
);
/** Codec of {@link IncrementalMeshConfigRequest}. */
export const incrementalMeshConfigRequestCodec: MessageCodec<IncrementalMeshConfigRequest> =
  codecOf("istio.mcp.v1alpha1.IncrementalMeshConfigRequest");
/** Codec of {@link IncrementalMeshConfigResponse}. */
export const incrementalMeshConfigResponseCodec: MessageCodec<IncrementalMeshConfigResponse> =
  codecOf("istio.mcp.v1alpha1.IncrementalMeshConfigResponse");
/** Codec of {@link DiscoveryRequest}. */
export const discoveryRequestCodec: MessageCodec<DiscoveryRequest> = codecOf(
  "envoy.service.discovery.v3.DiscoveryRequest",
);
/** Codec of {@link DiscoveryResponse}. */
export const discoveryResponseCodec: MessageCodec<DiscoveryResponse> = codecOf(
  "envoy.service.discovery.v3.DiscoveryResponse",
);
/** Codec of {@link DeltaDiscoveryRequest}. */
export const deltaDiscoveryRequestCodec: MessageCodec<DeltaDiscoveryRequest> = codecOf(
  "envoy.service.discovery.v3.DeltaDiscoveryRequest",
);
/** Codec of {@link DeltaDiscoveryResponse}. */
export const deltaDiscoveryResponseCodec: MessageCodec<DeltaDiscoveryResponse> = codecOf(
  "envoy.service.discovery.v3.DeltaDiscoveryResponse",
);
/** Codec of {@link ServiceEntry}. */
export const serviceEntryCodec: MessageCodec<ServiceEntry> = codecOf(
  "istio.networking.v1alpha3.ServiceEntry",
);
/** Codec of {@link WorkloadEntry}. */
export const workloadEntryCodec: MessageCodec<WorkloadEntry> = codecOf(
  "istio.networking.v1alpha3.WorkloadEntry",
);
/** Codec of {@link VirtualService}. */
export const virtualServiceCodec: MessageCodec<VirtualService> = codecOf(
  "istio.networking.v1alpha3.VirtualService",
);
/** Codec of {@link DestinationRule}. */
export const destinationRuleCodec: MessageCodec<DestinationRule> = codecOf(
  "istio.networking.v1alpha3.DestinationRule",
);
/** Codec of {@link Cluster}. */
export const clusterCodec: MessageCodec<Cluster> = codecOf(
  "envoy.config.cluster.v3.Cluster",
);
/** Codec of {@link ClusterLoadAssignment}. */
export const clusterLoadAssignmentCodec: MessageCodec<ClusterLoadAssignment> = codecOf(
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
);
/** Codec of {@link Listener}. */
export const listenerCodec: MessageCodec<Listener> = codecOf(
  "envoy.config.listener.v3.Listener",
);
/** Codec of {@link RouteConfiguration}. */
export const routeConfigurationCodec: MessageCodec<RouteConfiguration> = codecOf(
  "envoy.config.route.v3.RouteConfiguration",
);
/** Codec of {@link HttpConnectionManager}. */
export const httpConnectionManagerCodec: MessageCodec<HttpConnectionManager> = codecOf(
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
);
/** Codec of {@link TcpProxy}. */
export const tcpProxyCodec: MessageCodec<TcpProxy> = codecOf(
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
);
/** Codec of {@link SniForwardProxy}. */
export const sniForwardProxyCodec: MessageCodec<SniForwardProxy> = codecOf(
  "envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig",
);
/** Codec of {@link HttpForwardProxy}. */
export const httpForwardProxyCodec: MessageCodec<HttpForwardProxy> = codecOf(
  "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig",
);
/** Codec of {@link ForwardProxyCluster}. */
export const forwardProxyClusterCodec: MessageCodec<ForwardProxyCluster> = codecOf(
  "envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig",
);
/** Codec of {@link AggregateCluster}. */
export const aggregateClusterCodec: MessageCodec<AggregateCluster> = codecOf(
  "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
);
/** Codec of {@link UpstreamHttpOptions}. */
export const upstreamHttpOptionsCodec: MessageCodec<UpstreamHttpOptions> = codecOf(
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
);
/** Codec of {@link UpstreamTlsContext}. */
export const upstreamTlsContextCodec: MessageCodec<UpstreamTlsContext> = codecOf(
  "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
);
/** Codec of {@link ClientStatusRequest}. */
export const clientStatusRequestCodec: MessageCodec<ClientStatusRequest> = codecOf(
  "envoy.service.status.v3.ClientStatusRequest",
);
/** Codec of {@link ClientStatusResponse}. */
export const clientStatusResponseCodec: MessageCodec<ClientStatusResponse> = codecOf(
  "envoy.service.status.v3.ClientStatusResponse",
);
/** Codec of `Router`, an extension that we give no settings. Sends a request where its route says. */
export const routerCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.filters.http.router.v3.Router",
);
/** Codec of `GrpcWeb`, an extension that we give no settings. Turns gRPC-Web into gRPC. */
export const grpcWebCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb",
);
/** Codec of `TlsInspector`, an extension that we give no settings. Tells whether a connection is TLS, and for which name. */
export const tlsInspectorCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
);
/** Codec of `HttpInspector`, an extension that we give no settings. Tells whether a connection is HTTP. */
export const httpInspectorCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
);
/** Codec of `OriginalDst`, an extension that we give no settings. Tells where a redirected connection was meant to go. */
export const originalDstCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.filters.listener.original_dst.v3.OriginalDst",
);
/** Codec of `PreviousHostsPredicate`, an extension that we give no settings. Has a retry go to an endpoint that was not tried. */
export const previousHostsCodec: MessageCodec<NoSettings> = codecOf(
  "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
);
/** Codec of `PreviousPrioritiesConfig`. */
export const previousPrioritiesCodec: MessageCodec<PreviousPriorities> = codecOf(
  "envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
);
/** Codec of {@link FilterConfig}. */
export const filterConfigCodec: MessageCodec<FilterConfig> = codecOf(
  "envoy.config.route.v3.FilterConfig",
);
/** Codec of {@link FilterStateSetter}. */
export const filterStateSetterCodec: MessageCodec<FilterStateSetter> = codecOf(
  "envoy.extensions.filters.http.set_filter_state.v3.Config",
);
