/**
 * The messages of the protocols as TypeScript, with a codec each. Decoded messages have every scalar,
 * list and map; messages within (`?`) are there only where they were sent. To encode, any field may
 * be left out ({@link Partially}).
 *
 * @module
 */
import { decode, encode } from "./codec.ts";

/** A 64-bit integer: a number where that is exact, else a bigint. */
export type Int64 = number | bigint;

/** A map of a message. Decoded ones have no prototype. */
export type StringMap<V = string> = Readonly<Record<string, V>>;

/** `google.protobuf.Any`. */
export interface Any {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** `google.protobuf.Timestamp`. */
export interface Timestamp {
  readonly seconds: Int64;
  readonly nanos: number;
}

/** `google.protobuf.Duration`. */
export interface Duration {
  readonly seconds: Int64;
  readonly nanos: number;
}

/** `google.protobuf.Struct`. */
export interface Struct {
  readonly fields: StringMap<Value>;
}

/** `google.protobuf.Value`: at most one of these is set. */
export interface Value {
  readonly nullValue?: "NULL_VALUE" | number;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: Struct;
  readonly listValue?: { readonly values: readonly Value[] };
}

/** `google.rpc.Status`. As `errorDetail` of a request it is a NACK, whatever its code. */
export interface Status {
  /** A gRPC status code. */
  readonly code: number;
  readonly message: string;
  readonly details: readonly Any[];
}

/** `istio.mcp.v1alpha1.SinkNode`. */
export interface SinkNode {
  readonly id: string;
  readonly annotations: StringMap;
}

/** `istio.mcp.v1alpha1.Metadata`. */
export interface McpMetadata {
  /** `namespace/name`. */
  readonly name: string;
  readonly createTime?: Timestamp;
  readonly version: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** `istio.mcp.v1alpha1.Resource`. */
export interface McpResource {
  readonly metadata?: McpMetadata;
  readonly body?: Any;
}

/** `istio.mcp.v1alpha1.RequestResources`, from sink to source. */
export interface RequestResources {
  readonly sinkNode?: SinkNode;
  readonly collection: string;
  readonly initialResourceVersions: StringMap;
  readonly responseNonce: string;
  readonly errorDetail?: Status;
  readonly incremental: boolean;
}

/** `istio.mcp.v1alpha1.Resources`, from source to sink. */
export interface Resources {
  readonly systemVersionInfo: string;
  readonly collection: string;
  readonly resources: readonly McpResource[];
  readonly removedResources: readonly string[];
  readonly nonce: string;
  readonly incremental: boolean;
}

/** `istio.mcp.v1alpha1.MeshConfigRequest`, the older form of {@link RequestResources}. */
export interface MeshConfigRequest {
  readonly versionInfo: string;
  readonly sinkNode?: SinkNode;
  readonly typeUrl: string;
  readonly responseNonce: string;
  readonly errorDetail?: Status;
}

/** `istio.mcp.v1alpha1.MeshConfigResponse`. */
export interface MeshConfigResponse {
  readonly versionInfo: string;
  readonly resources: readonly McpResource[];
  readonly typeUrl: string;
  readonly nonce: string;
}

/** `istio.mcp.v1alpha1.IncrementalMeshConfigRequest`. */
export interface IncrementalMeshConfigRequest {
  readonly sinkNode?: SinkNode;
  readonly typeUrl: string;
  readonly initialResourceVersions: StringMap;
  readonly responseNonce: string;
  readonly errorDetail?: Status;
}

/** `istio.mcp.v1alpha1.IncrementalMeshConfigResponse`. */
export interface IncrementalMeshConfigResponse {
  readonly systemVersionInfo: string;
  readonly resources: readonly McpResource[];
  readonly removedResources: readonly string[];
  readonly nonce: string;
}

/** `envoy.config.core.v3.Locality`. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** `envoy.config.core.v3.BuildVersion`. */
export interface BuildVersion {
  readonly version?: {
    readonly majorNumber: number;
    readonly minorNumber: number;
    readonly patch: number;
  };
  readonly metadata?: Struct;
}

/** `envoy.config.core.v3.Extension`. */
export interface Extension {
  readonly name: string;
  readonly category: string;
  /** Deprecated. */
  readonly typeDescriptor: string;
  readonly version?: BuildVersion;
  readonly disabled: boolean;
  readonly typeUrls: readonly string[];
}

/** `envoy.config.core.v3.Address`: at most one of these is set. */
export interface Address {
  readonly socketAddress?: {
    readonly protocol: "TCP" | "UDP" | number;
    readonly address: string;
    readonly portValue?: number;
    readonly namedPort?: string;
    readonly resolverName: string;
    readonly ipv4Compat: boolean;
    readonly networkNamespaceFilepath: string;
  };
  readonly pipe?: { readonly path: string; readonly mode: number };
  readonly envoyInternalAddress?: {
    readonly serverListenerName?: string;
    readonly endpointId: string;
  };
}

/** `envoy.config.core.v3.Node`: who a client says it is. */
export interface Node {
  readonly id: string;
  readonly cluster: string;
  readonly metadata?: Struct;
  readonly locality?: Locality;
  readonly userAgentName: string;
  /** Only one of this and {@link userAgentBuildVersion}. */
  readonly userAgentVersion?: string;
  readonly userAgentBuildVersion?: BuildVersion;
  readonly extensions: readonly Extension[];
  readonly clientFeatures: readonly string[];
  /** Deprecated. */
  readonly listeningAddresses: readonly Address[];
  readonly dynamicParameters: StringMap<{ readonly params: StringMap }>;
}

/** `envoy.config.core.v3.Metadata`. */
export interface EnvoyMetadata {
  readonly filterMetadata: StringMap<Struct>;
  readonly typedFilterMetadata: StringMap<Any>;
}

/** `envoy.config.core.v3.ControlPlane`. */
export interface ControlPlane {
  readonly identifier: string;
}

/** `envoy.service.discovery.v3.ResourceLocator`. */
export interface ResourceLocator {
  readonly name: string;
  readonly dynamicParameters: StringMap;
}

/** `envoy.service.discovery.v3.DynamicParameterConstraints`: at most one of these is set. */
export interface DynamicParameterConstraints {
  readonly constraint?: {
    readonly key: string;
    readonly value?: string;
    readonly exists?: Readonly<Record<never, never>>;
  };
  readonly orConstraints?: { readonly constraints: readonly DynamicParameterConstraints[] };
  readonly andConstraints?: { readonly constraints: readonly DynamicParameterConstraints[] };
  readonly notConstraints?: DynamicParameterConstraints;
}

/** `envoy.service.discovery.v3.ResourceName`. */
export interface ResourceName {
  readonly name: string;
  readonly dynamicParameterConstraints?: DynamicParameterConstraints;
}

/** `envoy.service.discovery.v3.ResourceError`. */
export interface ResourceError {
  readonly resourceName?: ResourceName;
  readonly errorDetail?: Status;
}

/** `envoy.service.discovery.v3.DiscoveryRequest` (state of the world). */
export interface DiscoveryRequest {
  readonly versionInfo: string;
  readonly node?: Node;
  readonly resourceNames: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce: string;
  readonly errorDetail?: Status;
  readonly resourceLocators: readonly ResourceLocator[];
}

/** `envoy.service.discovery.v3.DiscoveryResponse`. */
export interface DiscoveryResponse {
  readonly versionInfo: string;
  readonly resources: readonly Any[];
  readonly canary: boolean;
  readonly typeUrl: string;
  readonly nonce: string;
  readonly controlPlane?: ControlPlane;
  readonly resourceErrors: readonly ResourceError[];
}

/** `envoy.service.discovery.v3.DeltaDiscoveryRequest`. */
export interface DeltaDiscoveryRequest {
  readonly node?: Node;
  readonly typeUrl: string;
  readonly resourceNamesSubscribe: readonly string[];
  readonly resourceNamesUnsubscribe: readonly string[];
  readonly initialResourceVersions: StringMap;
  readonly responseNonce: string;
  readonly errorDetail?: Status;
  readonly resourceLocatorsSubscribe: readonly ResourceLocator[];
  readonly resourceLocatorsUnsubscribe: readonly ResourceLocator[];
}

/** `envoy.service.discovery.v3.DeltaDiscoveryResponse`. */
export interface DeltaDiscoveryResponse {
  readonly systemVersionInfo: string;
  readonly resources: readonly DeltaResource[];
  readonly typeUrl: string;
  readonly nonce: string;
  readonly removedResources: readonly string[];
  readonly controlPlane?: ControlPlane;
  readonly removedResourceNames: readonly ResourceName[];
  readonly resourceErrors: readonly ResourceError[];
}

/** `envoy.service.discovery.v3.Resource`. */
export interface DeltaResource {
  readonly version: string;
  readonly resource?: Any;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly ttl?: Duration;
  readonly cacheControl?: { readonly doNotCache: boolean };
  readonly resourceName?: ResourceName;
  readonly metadata?: EnvoyMetadata;
}

/** `istio.networking.v1alpha3.ServiceEntry`. */
export interface ServiceEntry {
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
  readonly ports: readonly ServiceEntryPort[];
  readonly location: "MESH_EXTERNAL" | "MESH_INTERNAL" | number;
  readonly resolution: "NONE" | "STATIC" | "DNS" | "DNS_ROUND_ROBIN" | "DYNAMIC_DNS" | number;
  readonly endpoints: readonly WorkloadEntry[];
  readonly exportTo: readonly string[];
  readonly subjectAltNames: readonly string[];
  readonly workloadSelector?: WorkloadSelector;
}

/** `istio.networking.v1alpha3.ServicePort`. */
export interface ServiceEntryPort {
  readonly number: number;
  readonly protocol: string;
  readonly name: string;
  /** 0: the same as `number`. */
  readonly targetPort: number;
}

/** `istio.networking.v1alpha3.WorkloadEntry`. */
export interface WorkloadEntry {
  readonly address: string;
  readonly ports: StringMap<number>;
  readonly labels: StringMap;
  readonly network: string;
  readonly locality: string;
  readonly weight: number;
  readonly serviceAccount: string;
}

/** `istio.networking.v1alpha3.WorkloadSelector`. */
export interface WorkloadSelector {
  readonly labels: StringMap;
}

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
  decode(bytes: Uint8Array): T;
  /** The message in an Any. */
  pack(message: Partially<T>): Any;
}

function codecOf<T>(typeName: string): MessageCodec<T> {
  const typeUrl = `type.googleapis.com/${typeName}`;
  return {
    typeName,
    typeUrl,
    encode: (message) => encode(typeName, message),
    decode: (bytes) => decode<T>(typeName, bytes),
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
