/**
 * Messages of xDS, package `envoy.service.discovery.v3`.
 *
 * @module
 */
import type { Any, Duration, Status, StringMap } from "./common.ts";
import type { ControlPlane, EnvoyMetadata, Node } from "./node.ts";

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
