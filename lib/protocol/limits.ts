/**
 * Bounds on what one stream may ask a machine to remember.
 *
 * @module
 */

/** Bounds of one stream; beyond them it ends with RESOURCE_EXHAUSTED. */
export interface StreamLimits {
  /** Subscriptions, that is types or collections. */
  readonly types: number;
  /** Names of one subscription. */
  readonly names: number;
  /** Length of all names of one subscription together. Characters. */
  readonly characters: number;
  /** Length of a type URL or collection. Characters. */
  readonly typeLength: number;
}

/** Far above what any known client asks for. */
export const STREAM_LIMITS: StreamLimits = {
  types: 200,
  names: 100_000,
  characters: 16 * 1024 * 1024,
  typeLength: 1000,
};
