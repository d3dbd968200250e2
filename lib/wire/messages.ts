/**
 * The messages of the protocols as TypeScript, with a codec each. Decoded messages have every scalar,
 * list and map; messages within (`?`) are there only where they were sent. To encode, any field may
 * be left out ({@link Partially}).
 *
 * @module
 */
import { decode, type DecodeOptions, encode } from "./codec.ts";
import type { Any, Status } from "./messages/common.ts";
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from "./messages/discovery.ts";
import type {
  IncrementalMeshConfigRequest,
  IncrementalMeshConfigResponse,
  McpResource,
  MeshConfigRequest,
  MeshConfigResponse,
  RequestResources,
  Resources,
} from "./messages/mcp.ts";
import type { ServiceEntry, WorkloadEntry } from "./messages/networking.ts";

export type * from "./messages/common.ts";
export type * from "./messages/discovery.ts";
export type * from "./messages/mcp.ts";
export type * from "./messages/networking.ts";
export type * from "./messages/node.ts";

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
