/**
 * Responses made of ready bytes. Each resource is encoded once; a run of resources is laid out once
 * per response format and shared by every response of every peer. What is private to a response is a
 * short head (version) and tail (type, removed names, nonce), which protobuf allows in any order.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";

/**
 * How a response lists its resources:
 * - `sotw`: `DiscoveryResponse.resources`, an Any each (field 2);
 * - `delta`: `DeltaDiscoveryResponse.resources`, version, Any and name each (field 2);
 * - `mcp`: `istio.mcp.v1alpha1.Resources.resources`, the message itself (field 3);
 * - `mesh-config`: `MeshConfigResponse.resources` and `IncrementalMeshConfigResponse.resources`, the
 *   message itself (field 2).
 */
export type Format = "sotw" | "delta" | "mcp" | "mesh-config";

/** A message as shared and private pieces of bytes, to be written one after the other. */
export interface Message {
  readonly pieces: readonly Uint8Array[];
  /** Sum of the lengths of the pieces. Bytes. */
  readonly length: number;
}

/** What all kinds of response have besides their resources. */
export interface Envelope {
  /** The type URL or collection, exactly as the peer asked for it. */
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  /** Names that are gone; delta and incremental MCP, new form or old, only. */
  readonly removed?: readonly string[];
  /** `Resources` only: whether the resources add to what the sink has. */
  readonly incremental?: boolean;
  /** xDS only: our instance name, `control_plane.identifier`. */
  readonly controlPlane?: string;
}

const encoder = new TextEncoder();

/** Lays out resources as the repeated field of a response. `anyType` is the `type_url` of each Any (not used by `mcp` and `mesh-config`). */
export function encodeResources(
  format: Format,
  anyType: string,
  resources: readonly Resource[],
): Uint8Array {
  const any = encoder.encode(anyType);
  const plans = resources.map((resource) => plan(format, any, resource));
  const out = new Writer(plans.reduce((sum, p) => sum + sizeOfField(p.size), 0));
  for (const p of plans) {
    out.tag(format === "mcp" ? 3 : 2, p.size);
    p.write(out);
  }
  return out.bytes;
}

/** A `DiscoveryResponse` (xDS state of the world). */
export function composeSotw(envelope: Envelope, resources: readonly Uint8Array[]): Message {
  const tail = [text(4, envelope.type), text(5, envelope.nonce), controlPlane(6, envelope)];
  return message([text(1, envelope.version)], resources, tail);
}

/** A `DeltaDiscoveryResponse`. */
export function composeDelta(envelope: Envelope, resources: readonly Uint8Array[]): Message {
  const tail = [
    text(4, envelope.type),
    text(5, envelope.nonce),
    texts(6, envelope.removed ?? []),
    controlPlane(7, envelope),
  ];
  return message([text(1, envelope.version)], resources, tail);
}

/** An `istio.mcp.v1alpha1.Resources`. */
export function composeMcp(envelope: Envelope, resources: readonly Uint8Array[]): Message {
  const tail = [
    texts(4, envelope.removed ?? []),
    text(5, envelope.nonce),
    envelope.incremental === true ? Uint8Array.of(6 << 3, 1) : NOTHING,
  ];
  return message([text(1, envelope.version), text(2, envelope.type)], resources, tail);
}

/** An `istio.mcp.v1alpha1.MeshConfigResponse`. */
export function composeMeshConfig(envelope: Envelope, resources: readonly Uint8Array[]): Message {
  const tail = [text(3, envelope.type), text(4, envelope.nonce)];
  return message([text(1, envelope.version)], resources, tail);
}

/** An `istio.mcp.v1alpha1.IncrementalMeshConfigResponse`, which names no type. */
export function composeIncrementalMeshConfig(
  envelope: Envelope,
  resources: readonly Uint8Array[],
): Message {
  const tail = [texts(3, envelope.removed ?? []), text(4, envelope.nonce)];
  return message([text(1, envelope.version)], resources, tail);
}

/** The message as one run of bytes, for a transport that cannot write pieces. */
export function flatten(message: Message): Uint8Array {
  const out = new Uint8Array(message.length);
  let offset = 0;
  for (const piece of message.pieces) {
    out.set(piece, offset);
    offset += piece.length;
  }
  return out;
}

const NOTHING = new Uint8Array(0);

function message(
  head: readonly Uint8Array[],
  resources: readonly Uint8Array[],
  tail: readonly Uint8Array[],
): Message {
  const pieces = [concat(head), ...resources, concat(tail)].filter((piece) => piece.length > 0);
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return flatten({ pieces: parts, length: parts.reduce((sum, part) => sum + part.length, 0) });
}

/** A string field; empty strings are left out, as proto3 does. */
function text(field: number, value: string): Uint8Array {
  return value === "" ? NOTHING : texts(field, [value]);
}

/** A repeated string field; here an empty string is an item like others. */
function texts(field: number, values: readonly string[]): Uint8Array {
  const items = values.map((value) => encoder.encode(value));
  const out = new Writer(items.reduce((sum, item) => sum + sizeOfField(item.length), 0));
  for (const item of items) {
    out.tag(field, item.length);
    out.raw(item);
  }
  return out.bytes;
}

function controlPlane(field: number, envelope: Envelope): Uint8Array {
  if (envelope.controlPlane === undefined) return NOTHING;
  const identifier = text(1, envelope.controlPlane);
  const out = new Writer(sizeOfField(identifier.length));
  out.tag(field, identifier.length);
  out.raw(identifier);
  return out.bytes;
}

interface Plan {
  readonly size: number;
  readonly write: (out: Writer) => void;
}

function plan(format: Format, anyType: Uint8Array, resource: Resource): Plan {
  const { bytes } = resource;
  if (format === "mcp" || format === "mesh-config") {
    return { size: bytes.length, write: (out) => out.raw(bytes) };
  }
  const anySize = sizeOfField(anyType.length) + sizeOfField(bytes.length);
  const writeAny = (out: Writer) => {
    out.tag(1, anyType.length);
    out.raw(anyType);
    out.tag(2, bytes.length);
    out.raw(bytes);
  };
  if (format === "sotw") return { size: anySize, write: writeAny };
  const version = encoder.encode(resource.version);
  const name = encoder.encode(resource.name);
  return {
    size: sizeOfField(version.length) + sizeOfField(anySize) + sizeOfField(name.length),
    write: (out) => {
      out.tag(1, version.length);
      out.raw(version);
      out.tag(2, anySize);
      writeAny(out);
      out.tag(3, name.length);
      out.raw(name);
    },
  };
}

/** Bytes of a length-delimited field with a number below 16. */
function sizeOfField(length: number): number {
  return 1 + sizeOfVarint(length) + length;
}

function sizeOfVarint(value: number): number {
  let size = 1;
  while (value > 127) {
    value = Math.floor(value / 128);
    size++;
  }
  return size;
}

/** Fills a buffer of known size; protobuf's wire format, length-delimited fields 1 to 15 only. */
class Writer {
  readonly bytes: Uint8Array;
  #offset = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  tag(field: number, length: number): void {
    this.bytes[this.#offset++] = (field << 3) | 2;
    while (length > 127) {
      this.bytes[this.#offset++] = (length & 127) | 128;
      length = Math.floor(length / 128);
    }
    this.bytes[this.#offset++] = length;
  }

  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#offset);
    this.#offset += bytes.length;
  }
}
