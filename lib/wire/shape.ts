/**
 * What the codec must know of a message type beyond what protobufjs does: how the value of each field
 * is checked before it is written, and what it becomes once it was read.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { type Converter, enumConverter, mismatch, scalarConverter } from "./scalars.ts";
import { WireError } from "./wire_error.ts";

/** One field of a message. */
interface FieldShape {
  /** In camelCase, as in our TypeScript interfaces. */
  readonly name: string;
  readonly converter: Converter;
  /** The value where the field was not on the wire; undefined: the property is left out. */
  readonly absent: unknown;
  /** Name of the oneof that it is part of. */
  readonly oneof: string | undefined;
}

type Fields = Record<string, unknown>;

// What is empty is shared: a hostile message may hold a million empty messages.
const NO_ENTRIES: Fields = Object.freeze(newMap());
const NO_ITEMS: readonly unknown[] = Object.freeze([]);
const NO_BYTES = new Uint8Array(0);

/** A message type, ready to convert its values. */
export class Shape implements Converter {
  readonly #byName: ReadonlyMap<string, FieldShape>;
  readonly #fields: readonly FieldShape[];

  private constructor(fields: readonly FieldShape[]) {
    this.#fields = fields;
    this.#byName = new Map(fields.map((field) => [field.name, field]));
  }

  /** Shapes of messages, each made when first asked for; types that refer to each other may. */
  static cache(): (type: protobuf.Type) => Shape {
    const shapes = new Map<protobuf.Type, Shape>();
    const shapeOf = (type: protobuf.Type): Shape => {
      let shape = shapes.get(type);
      if (shape === undefined) {
        shape = new Shape(type.fieldsArray.map((field) => fieldShape(field, shapeOf)));
        shapes.set(type, shape);
      }
      return shape;
    };
    return shapeOf;
  }

  /** A copy that protobufjs can write: checked, the keys of maps sorted. */
  readonly toWire = (value: unknown): Fields => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      throw mismatch("an object", value);
    }
    const out: Fields = {};
    let oneofs: Map<string, string> | undefined;
    for (const name of Object.keys(value)) {
      const item = (value as Fields)[name];
      if (item === undefined) continue;
      const field = this.#byName.get(name);
      if (field === undefined) throw new WireError(`no field is named ${JSON.stringify(name)}`);
      if (field.oneof !== undefined) {
        oneofs ??= new Map();
        const other = oneofs.get(field.oneof);
        if (other !== undefined) throw new WireError(`only one of ${other} and ${name} may be set`);
        oneofs.set(field.oneof, name);
      }
      out[name] = at(name, afterDot, field.converter.toWire, item);
    }
    return out;
  };

  /** A plain object of what protobufjs read: scalars, lists and maps always, messages and members of a oneof only where they were sent. */
  readonly fromWire = (message: unknown): Fields => {
    const read = message as Fields;
    const out: Fields = {};
    for (const { name, converter, absent } of this.#fields) {
      if (Object.hasOwn(read, name)) {
        const value = read[name];
        out[name] = converter.fromWire === undefined ? value : converter.fromWire(value);
      } else if (absent !== undefined) {
        out[name] = absent;
      }
    }
    return out;
  };
}

function fieldShape(
  field: protobuf.Field,
  shapeOf: (type: protobuf.Type) => Shape,
): FieldShape {
  field.resolve();
  const item = itemConverter(field, shapeOf);
  const common = { name: field.name, oneof: field.partOf?.name };
  if (field.map) return { ...common, converter: mapConverter(item), absent: NO_ENTRIES };
  if (field.repeated) return { ...common, converter: listConverter(item), absent: NO_ITEMS };
  if (field.hasPresence || field.resolvedType instanceof protobuf.Type) {
    return { ...common, converter: item, absent: undefined };
  }
  const absent = field.resolvedType instanceof protobuf.Enum
    ? item.fromWire!(0)
    : field.type === "bytes"
    ? NO_BYTES
    : (protobuf.types.defaults as Record<string, unknown>)[field.type];
  return { ...common, converter: item, absent };
}

function itemConverter(
  field: protobuf.Field,
  shapeOf: (type: protobuf.Type) => Shape,
): Converter {
  const type = field.resolvedType;
  if (type instanceof protobuf.Enum) return enumConverter(type);
  if (type === null) return scalarConverter(field.type);
  // Looked up at use: a type may contain itself.
  return {
    toWire: (value) => shapeOf(type).toWire(value),
    fromWire: (value) => shapeOf(type).fromWire(value),
  };
}

function listConverter(item: Converter): Converter {
  const { toWire, fromWire } = item;
  return {
    toWire: (value) => {
      if (!Array.isArray(value)) throw mismatch("a list", value);
      return value.map((v, index) => at(index, inBrackets, toWire, v));
    },
    fromWire: (value) => {
      const items = value as unknown[];
      if (items.length === 0) return NO_ITEMS;
      return fromWire === undefined ? items : items.map(fromWire);
    },
  };
}

function mapConverter(item: Converter): Converter {
  const { toWire, fromWire } = item;
  return {
    toWire: (value) => {
      if (value === null || typeof value !== "object" || Array.isArray(value)) {
        throw mismatch("a map", value);
      }
      const out = newMap();
      for (const key of Object.keys(value).sort()) {
        if (!key.isWellFormed()) throw mismatch("keys of well-formed Unicode", key);
        out[key] = at(key, inBrackets, toWire, (value as Fields)[key]);
      }
      return out;
    },
    fromWire: (value) => {
      // Without a prototype no key that a peer sends ("constructor") finds what it did not send.
      const map = Object.setPrototypeOf(value, null) as Fields;
      let empty = true;
      for (const key in map) {
        empty = false;
        if (fromWire === undefined) break;
        map[key] = fromWire(map[key]);
      }
      return empty ? NO_ENTRIES : map;
    },
  };
}

function newMap(): Fields {
  return Object.create(null);
}

/** Converts one part of a value; an error says which part it was. The text for it is made only then. */
function at<K>(
  key: K,
  place: (key: K) => string,
  convert: (value: unknown) => unknown,
  value: unknown,
): unknown {
  try {
    return convert(value);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const rest = /^[\[.]/.test(error.message) ? "" : ": ";
    throw new WireError(`${place(key)}${rest}${error.message}`);
  }
}

function inBrackets(key: number | string): string {
  return `[${JSON.stringify(key)}]`;
}

function afterDot(name: string): string {
  return `.${name}`;
}
