/**
 * Decoded messages in the forms in which the Go programs print their own: that of today, integers as text, floating point
 * numbers as the hexadecimal of their bits or NaN, bytes in base64. Compared so, two codecs agree to the bit.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";

type Fields = Readonly<Record<string, unknown>>;

/** The message in that form. */
export function plainMessage(type: protobuf.Type, message: object): Fields {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    const field = type.fields[name]!.resolve();
    const plain = (item: unknown) => plainItem(field, item);
    out[name] = field.map
      ? mapValues(value as Fields, plain)
      : field.repeated
      ? (value as unknown[]).map(plain)
      : plain(value);
  }
  return out;
}

function mapValues(map: Fields, plain: (item: unknown) => unknown): Fields {
  const out = Object.create(null);
  for (const [key, value] of Object.entries(map)) out[key] = plain(value);
  return out;
}

function plainItem(field: protobuf.Field, item: unknown): unknown {
  const type = field.resolvedType;
  if (type instanceof protobuf.Type) return plainMessage(type, item as object);
  if (type instanceof protobuf.Enum) return String(item);
  switch (field.type) {
    case "string":
    case "bool":
      return item;
    case "bytes":
      return (item as Uint8Array).toBase64();
    case "double":
    case "float":
      return bits(item as number);
    default:
      return String(item);
  }
}

function bits(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/**
 * Decoded messages in the form that an old Go struct has as JSON: names as in the .proto file, what is
 * zero or empty left out, bytes in base64. 64-bit integers as numbers, rounded where they must be.
 */
export function sparseMessage(type: protobuf.Type, message: object): Fields {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    const field = type.fields[name]!.resolve();
    const sparse = (item: unknown) => sparseItem(field, item);
    if (field.map) {
      const map = mapValues(value as Fields, sparse);
      if (Object.keys(map).length > 0) out[field.protoName] = map;
    } else if (field.repeated) {
      const list = (value as unknown[]).map(sparse);
      if (list.length > 0) out[field.protoName] = list;
    } else {
      const item = sparse(value);
      if (item !== "" && item !== 0 && item !== false) out[field.protoName] = item;
    }
  }
  return out;
}

function sparseItem(field: protobuf.Field, item: unknown): unknown {
  if (field.resolvedType instanceof protobuf.Type) {
    return sparseMessage(field.resolvedType, item as object);
  }
  if (item instanceof Uint8Array) return item.toBase64();
  return typeof item === "bigint" ? Number(item) : item;
}
