/**
 * Messages as resources of a view.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import { contentHash } from "../../wire/hash.ts";
import type { MessageCodec, Partially } from "../../wire/messages.ts";

/** The message under this name, encoded; its version is the hash of its bytes. */
export function viewResource<T>(
  codec: MessageCodec<T>,
  name: string,
  message: Partially<T>,
): Resource {
  return bytesResource(name, codec.encode(message));
}

/** An encoded message under this name. */
export function bytesResource(name: string, bytes: Uint8Array): Resource {
  return { name, version: contentHash([bytes]), bytes };
}
