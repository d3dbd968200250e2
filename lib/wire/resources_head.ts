/**
 * What an MCP push says besides its resources, read without reading those.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { WireError } from "./wire_error.ts";

/** The head of `istio.mcp.v1alpha1.Resources`. */
export interface ResourcesHead {
  /** `collection`. */
  readonly type: string;
  readonly nonce: string;
  /** `system_version_info`. */
  readonly version: string;
  readonly incremental: boolean;
}

/** Numbers of the fields. */
const VERSION = 1;
const COLLECTION = 2;
const NONCE = 5;
const INCREMENTAL = 6;

/** Wire types. */
const VARINT = 0;
const DELIMITED = 2;

/**
 * Bytes for each field that a push may have at its top, so that megabytes of empty resources, two bytes
 * each, cost little: the smallest resource with a name has more.
 */
const BYTES_A_FIELD = 8;

/** However short the push is. */
const LEAST_FIELDS = 10_000;

/** Reads the head of a push. Throws {@link WireError} where the bytes are no message, or hold more fields than any push of their size. */
export function readResourcesHead(bytes: Uint8Array): ResourcesHead {
  const head = { type: "", nonce: "", version: "", incremental: false };
  try {
    // A Buffer would be read by protobufjs in another, laxer way.
    const reader = new protobuf.Reader(
      new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
    let left = Math.max(LEAST_FIELDS, Math.ceil(bytes.length / BYTES_A_FIELD));
    while (reader.pos < reader.len) {
      if (left-- === 0) throw new RangeError("it holds too many fields for its size");
      const tag = reader.uint32();
      const field = tag >>> 3;
      const type = tag & 7;
      if (field === INCREMENTAL && type === VARINT) head.incremental = reader.bool();
      else if (type !== DELIMITED) reader.skipType(type);
      else if (field === VERSION) head.version = reader.string();
      else if (field === COLLECTION) head.type = reader.string();
      else if (field === NONCE) head.nonce = reader.string();
      else reader.skipType(type);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WireError(`not a push of resources: ${reason}`, { cause });
  }
  return head;
}
