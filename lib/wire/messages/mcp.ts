/**
 * Messages of MCP, package `istio.mcp.v1alpha1`.
 *
 * @module
 */
import type { Any, Status, StringMap, Timestamp } from "./common.ts";

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
