/**
 * What the main thread and the worker that watches for it say to each other.
 *
 * @module
 */

/** To the worker. */
export type WatchRequest =
  /** Watch these folders, each for itself, absolute. Once in a worker's life. */
  | { readonly kind: "watch"; readonly paths: readonly string[] }
  /** Are you alive? */
  | { readonly kind: "ping" };

/** From the worker. */
export type WatchReply =
  /** From now on whatever happens is told. */
  | { readonly kind: "watching" }
  /** Something happened at these paths; none: somewhere. */
  | { readonly kind: "event"; readonly paths: readonly string[] }
  | { readonly kind: "pong" }
  /** There will be no events. */
  | { readonly kind: "failed"; readonly message: string };
