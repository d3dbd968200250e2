/**
 * What the services beside the protocols have in common: reading a request, naming what is served.
 *
 * @module
 */
import type { MessageCodec } from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import type { EndStatus } from "./push_stream.ts";
import type { PushServer } from "./server.ts";

/** Fields that a request may hold: these services are asked with a few names. */
const MOST_FIELDS = 10_000;

/** A request, or why it is none. */
export type ReadRequest<T> = { readonly read: T } | { readonly refused: EndStatus };

/** Reads a request. */
export function readRequest<T>(bytes: Uint8Array, codec: MessageCodec<T>): ReadRequest<T> {
  try {
    return { read: codec.decode(bytes, { fields: MOST_FIELDS }) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const message = `not a valid request: ${error.message}`;
    return { refused: { code: "INVALID_ARGUMENT", message } };
  }
}

/** Full names of the services on a server, in their order. */
export function serviceNames(server: PushServer): readonly string[] {
  return [...new Set(server.paths.map((path) => path.slice(1, path.lastIndexOf("/"))))];
}
