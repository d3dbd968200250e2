/**
 * What the codec throws, and nothing else.
 *
 * @module
 */

/**
 * Bytes that are not the message they should be, or a value that cannot be one. `message` says which
 * message and why; `cause` is what the codec met, where that was an error of its own.
 */
export class WireError extends Error {
  override readonly name = "WireError";
}
