/**
 * Messages to bytes and back. The wire types are those of `proto/`, embedded as a descriptor;
 * protobufjs does the coding.
 *
 * What decoding gives, and what encoding takes:
 * - plain objects with field names in camelCase; scalars, lists and maps are always there, messages
 *   and members of a oneof only where they were sent (`errorDetail` with code 0 is there: a NACK);
 * - maps as objects without a prototype, so that no key of a peer's finds what it did not send;
 * - enums as their names, unknown ones as numbers; 64-bit integers as numbers where those are exact,
 *   else as bigints; bytes as views of the input, not copies.
 *
 * Encoding is deterministic: fields in the order of their numbers, maps in the order of their keys.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { descriptorJson } from "../../proto/descriptor.ts";
import { Shape } from "./shape.ts";
import { WireError } from "./wire_error.ts";

export { WireError } from "./wire_error.ts";

/** Encodes a message. Throws {@link WireError} for an unknown type, an unknown field or a value that does not fit; its message says where. */
export function encode(typeName: string, value: object): Uint8Array {
  const { type, shape } = lookup(typeName);
  try {
    const writer = type.encode(shape.toWire(value), new protobuf.Writer());
    return writer.finishInto(new Uint8Array(writer.pos));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const colon = /^[\[.]/.test(reason) ? "" : ": ";
    throw new WireError(`cannot encode ${typeName}${colon}${reason}`, { cause });
  }
}

/** Bounds of decoding. */
export interface DecodeOptions {
  /** Most texts, byte strings, messages and map entries that a message may hold, at all depths together; {@link MAX_FIELDS} unless given. */
  readonly fields?: number;
}

/**
 * Default bound of a message: 300,000 entries of `initial_resource_versions` and more. Without one, 16 MB
 * of empty messages, two bytes each, would become eight million objects.
 */
export const MAX_FIELDS = 1_000_000;

/**
 * Decodes a message. Unknown fields are skipped; a message nested deeper than 100 is refused, as other
 * implementations do. Throws {@link WireError} for an unknown type, for bytes that are not that message
 * (cut short, not UTF-8, …) and for what exceeds a bound.
 */
export function decode<T>(typeName: string, bytes: Uint8Array, options: DecodeOptions = {}): T {
  const { type, shape } = lookup(typeName);
  try {
    const reader = new BoundedReader(bytes, options.fields ?? MAX_FIELDS);
    return shape.fromWire(type.decode(reader)) as T;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WireError(`cannot decode ${typeName} from ${bytes.byteLength} bytes: ${reason}`, {
      cause,
    });
  }
}

/** Counts what has a length: it is asked for the size of each. */
class BoundedReader extends protobuf.Reader {
  #left: number;

  constructor(bytes: Uint8Array, private readonly limit: number) {
    // A Buffer would be read by protobufjs in another, laxer way.
    super(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#left = limit;
  }

  /** A field number has 29 bits; protobufjs drops what a tag has beyond, and would take it for another field. */
  override tag(): number {
    const from = this.pos;
    const tag = super.tag();
    for (let at = from + 4; at < this.pos; at++) {
      const beyond = at === from + 4 ? 0x70 : 0x7f;
      if ((this.buf[at]! & beyond) !== 0) throw new RangeError("a tag has more than 32 bits");
    }
    return tag;
  }

  override size(): number {
    if (this.#left-- === 0) throw new RangeError(`it holds more than ${this.limit} fields`);
    return super.size();
  }
}

interface Entry {
  readonly type: protobuf.Type;
  readonly shape: Shape;
}

/** Made of the embedded descriptor when first used; never changed. */
let types: ((typeName: string) => Entry | undefined) | undefined;

function lookup(typeName: string): Entry {
  types ??= loadTypes();
  const entry = types(typeName);
  if (entry === undefined) throw new WireError(`no message type is named ${typeName}`);
  return entry;
}

function loadTypes(): (typeName: string) => Entry | undefined {
  const root = protobuf.Root.fromJSON(JSON.parse(descriptorJson)).resolveAll();
  const shapeOf = Shape.cache();
  const entries = new Map<string, Entry>();
  return (typeName) => {
    let entry = entries.get(typeName);
    if (entry === undefined) {
      const type = root.lookup(typeName, protobuf.Type);
      if (!(type instanceof protobuf.Type) || type.fullName !== `.${typeName}`) return undefined;
      entry = { type, shape: shapeOf(type) };
      entries.set(typeName, entry);
    }
    return entry;
  };
}
