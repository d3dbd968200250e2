/**
 * The messages of gRPC's own services, health and reflection, with a codec each.
 *
 * @module
 */
import { decode, encode } from "./codec.ts";
import type { MessageCodec } from "./messages.ts";
import type { StringMap } from "./messages/common.ts";

/** `grpc.health.v1.HealthCheckRequest`. */
export interface HealthCheckRequest {
  /** Full name of a service; empty: the server as a whole. */
  readonly service: string;
}

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
export type ServingStatus = "UNKNOWN" | "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";

/** `grpc.health.v1.HealthCheckResponse`. */
export interface HealthCheckResponse {
  readonly status: ServingStatus;
}

/** `grpc.health.v1.HealthListResponse`. */
export interface HealthListResponse {
  readonly statuses: StringMap<HealthCheckResponse>;
}

/** `ServerReflectionRequest` of `grpc.reflection.v1` and `v1alpha`: one of the optional fields is set. */
export interface ServerReflectionRequest {
  readonly host: string;
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly fileContainingExtension?: {
    readonly containingType: string;
    readonly extensionNumber: number;
  };
  readonly allExtensionNumbersOfType?: string;
  readonly listServices?: string;
}

/** `ServerReflectionResponse` of `grpc.reflection.v1` and `v1alpha`: one of the last four is set. */
export interface ServerReflectionResponse {
  readonly validHost: string;
  readonly originalRequest?: ServerReflectionRequest;
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Uint8Array[] };
  readonly allExtensionNumbersResponse?: {
    readonly baseTypeName: string;
    readonly extensionNumber: readonly number[];
  };
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly errorResponse?: { readonly errorCode: number; readonly errorMessage: string };
}

/** The versions of reflection; their messages are alike. */
export const REFLECTION_VERSIONS = ["v1", "v1alpha"] as const;

/** A version of reflection. */
export type ReflectionVersion = typeof REFLECTION_VERSIONS[number];

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

/** Codec of {@link HealthCheckRequest}. */
export const healthCheckRequestCodec: MessageCodec<HealthCheckRequest> = codecOf(
  "grpc.health.v1.HealthCheckRequest",
);
/** Codec of {@link HealthCheckResponse}. */
export const healthCheckResponseCodec: MessageCodec<HealthCheckResponse> = codecOf(
  "grpc.health.v1.HealthCheckResponse",
);
/** Codec of {@link HealthListResponse}. */
export const healthListResponseCodec: MessageCodec<HealthListResponse> = codecOf(
  "grpc.health.v1.HealthListResponse",
);

/** Codec of {@link ServerReflectionRequest}. */
export function reflectionRequestCodec(
  version: ReflectionVersion,
): MessageCodec<ServerReflectionRequest> {
  return codecOf(`grpc.reflection.${version}.ServerReflectionRequest`);
}

/** Codec of {@link ServerReflectionResponse}. */
export function reflectionResponseCodec(
  version: ReflectionVersion,
): MessageCodec<ServerReflectionResponse> {
  return codecOf(`grpc.reflection.${version}.ServerReflectionResponse`);
}
