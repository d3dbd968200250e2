/**
 * A resource: one object as sinks get it, encoded once.
 *
 * @module
 */

/** One encoded object. Immutable; shared by every snapshot and peer that has it. */
export interface Resource {
  /** `namespace/name`, exactly one slash; unique in its collection. */
  readonly name: string;
  /** 16 hex characters of SHA-256 over the content (body, labels, annotations). */
  readonly version: string;
  /** The encoded message; for Istio kinds an `istio.mcp.v1alpha1.Resource` (metadata and body). */
  readonly bytes: Uint8Array;
}
