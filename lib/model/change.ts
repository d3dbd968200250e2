/**
 * What changed in one collection, as it travels from the thread that loads to the one that serves.
 *
 * @module
 */

/** What changed in one collection: an index and one buffer that holds all bodies, end to end. */
export interface CollectionChange {
  readonly kind: string;
  readonly names: readonly string[];
  readonly versions: readonly string[];
  /** Length of each body in `bytes`, in the order of `names`. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
  readonly removed: readonly string[];
}
