/**
 * TLS towards endpoints: package `envoy.extensions.transport_sockets.tls.v3`, as far as we set it.
 *
 * @module
 */
import type { StringMatcher } from "./matcher.ts";

/** `envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`. */
export interface UpstreamTlsContext {
  readonly commonTlsContext?: CommonTlsContext;
  readonly sni: string;
}

/** `envoy.extensions.transport_sockets.tls.v3.CommonTlsContext`. */
export interface CommonTlsContext {
  readonly validationContext?: CertificateValidationContext;
  readonly alpnProtocols: readonly string[];
}

/** `envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext`. */
export interface CertificateValidationContext {
  readonly trustedCa?: DataSource;
  readonly matchTypedSubjectAltNames: readonly SubjectAltNameMatcher[];
}

/** `envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher`. */
export interface SubjectAltNameMatcher {
  readonly sanType:
    | "SAN_TYPE_UNSPECIFIED"
    | "EMAIL"
    | "DNS"
    | "URI"
    | "IP_ADDRESS"
    | "OTHER_NAME"
    | number;
  readonly matcher?: StringMatcher;
}

/** `envoy.config.core.v3.DataSource`: at most one of these is set. */
export interface DataSource {
  readonly filename?: string;
  readonly inlineBytes?: Uint8Array;
  readonly inlineString?: string;
  readonly environmentVariable?: string;
}
