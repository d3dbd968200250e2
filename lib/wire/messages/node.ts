/**
 * Who a client is and who answers it: messages of package `envoy.config.core.v3`.
 *
 * @module
 */
import type { Any, StringMap, Struct } from "./common.ts";

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
