/**
 * What an xDS response says besides its resources, read without reading those.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { WireError } from "./wire_error.ts";

/** The head of a `DiscoveryResponse` or `DeltaDiscoveryResponse`. */
export interface DiscoveryHead {
  /** `type_url`. */
  readonly type: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
  /** `control_plane.identifier`: who answers; empty where that is not said. */
  readonly controlPlane: string;
}

/** Numbers of the fields; those of the other variant stand for something else. */
const FIELDS = {
  sotw: { version: 1, type: 4, nonce: 5, controlPlane: 6 },
  delta: { version: 1, type: 4, nonce: 5, controlPlane: 7 },
} as const;

/** `ControlPlane.identifier`. */
const IDENTIFIER = 1;

/** Length-delimited, as all that is read here. */
const DELIMITED = 2;

/** Reads the head of a response. Throws {@link WireError} where the bytes are no message at all. */
export function readDiscoveryHead(bytes: Uint8Array, variant: "sotw" | "delta"): DiscoveryHead {
  const fields = FIELDS[variant];
  const head = { type: "", nonce: "", version: "", controlPlane: "" };
  try {
    eachText(bytes, (field, reader) => {
      if (field === fields.version) head.version = reader.string();
      else if (field === fields.type) head.type = reader.string();
      else if (field === fields.nonce) head.nonce = reader.string();
      else if (field === fields.controlPlane) head.controlPlane = identifier(reader.bytes());
      else reader.skipType(DELIMITED);
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WireError(`not a discovery response: ${reason}`, { cause });
  }
  return head;
}

function identifier(bytes: Uint8Array): string {
  let text = "";
  eachText(bytes, (field, reader) => {
    if (field === IDENTIFIER) text = reader.string();
    else reader.skipType(DELIMITED);
  });
  return text;
}

/** Calls for each length-delimited field; `read` must read or skip it. */
function eachText(bytes: Uint8Array, read: (field: number, reader: protobuf.Reader) => void): void {
  // A Buffer would be read by protobufjs in another, laxer way.
  const reader = new protobuf.Reader(
    new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if ((tag & 7) === DELIMITED) read(tag >>> 3, reader);
    else reader.skipType(tag & 7);
  }
}
