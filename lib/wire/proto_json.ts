/**
 * Messages as people read them: proto3's JSON, by which Envoy is configured too. Messages within an Any
 * are decoded where their type is known, at all depths.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { descriptorJson } from "../../proto/descriptor.ts";
import { decode, type DecodeOptions, encode } from "./codec.ts";
import type { Any, Duration, Value } from "./messages/common.ts";

/** What JSON is made of. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Anys within Anys that are decoded. What is deeper is given as what is unknown is. */
const DEEPEST = 16;

const TYPE_PREFIX = "type.googleapis.com/";

/**
 * The message in an Any as JSON, its type as `@type`: fields in camelCase, without those that have their
 * default; integers of 64 bits that are no exact numbers as texts. A type that is unknown here is its
 * `@type` and number of `bytes`; of bytes that are not that message `error` says why; fields that are
 * unknown here are counted as `unknownBytes`.
 */
export function anyJson(any: Any, options: DecodeOptions = {}): JsonObject {
  return within(any, { options, left: DEEPEST });
}

interface Depth {
  readonly options: DecodeOptions;
  /** Anys within that are still decoded. */
  readonly left: number;
}

function within({ typeUrl, value }: Any, { options, left }: Depth): JsonObject {
  const unread = { "@type": typeUrl, bytes: value.length };
  const type = left > 0 && typeUrl.startsWith(TYPE_PREFIX)
    ? typeNamed(typeUrl.slice(TYPE_PREFIX.length))
    : undefined;
  if (type === undefined) return unread;
  const name = type.fullName.slice(1);
  try {
    const message = decode<Fields>(name, value, options);
    const json = messageJson(type, message, { options, left: left - 1 });
    const unknown = value.length - encode(name, message).length;
    return {
      "@type": typeUrl,
      ...(WELL_KNOWN.has(name) ? { value: json } : json as JsonObject),
      ...(unknown > 0 ? { unknownBytes: unknown } : {}),
    };
  } catch (error) {
    return { ...unread, error: error instanceof Error ? error.message : String(error) };
  }
}

/** Made of the embedded descriptor when first used; never changed. */
let root: protobuf.Namespace | undefined;

function typeNamed(name: string): protobuf.Type | undefined {
  root ??= protobuf.Root.fromJSON(JSON.parse(descriptorJson)).resolveAll();
  const type = root.lookup(name, protobuf.Type);
  return type instanceof protobuf.Type && type.fullName === `.${name}` ? type : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

type Writer = (value: Fields, depth: Depth) => Json;

/** Types that are other JSON than an object of their fields. */
const WELL_KNOWN: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ["google.protobuf.Any", (value, depth) => within(value as unknown as Any, depth)],
  ["google.protobuf.Duration", (value) => durationText(value as unknown as Duration)],
  ["google.protobuf.Timestamp", (value) => timeText(value as unknown as Duration)],
  ["google.protobuf.Struct", (value) => structJson(value["fields"] as Fields)],
  ["google.protobuf.Value", (value) => valueJson(value as Value)],
  ["google.protobuf.ListValue", (value) => listJson(value as { values: Value[] })],
  ...["Bool", "Bytes", "Double", "Float", "Int32", "Int64", "String", "UInt32", "UInt64"].map(
    (name): [string, Writer] => [`google.protobuf.${name}Value`, ({ value }) => scalarJson(value)],
  ),
]);

function messageJson(type: protobuf.Type, message: Fields, depth: Depth): Json {
  const wellKnown = WELL_KNOWN.get(type.fullName.slice(1));
  if (wellKnown !== undefined) return wellKnown(message, depth);
  const fields = type.fieldsArray.flatMap((field): [string, Json][] => {
    const value = message[field.name];
    return value === undefined || isDefault(field, value)
      ? []
      : [[field.name, fieldJson(field, value, depth)]];
  });
  return Object.fromEntries(fields);
}

function fieldJson(field: protobuf.Field, value: unknown, depth: Depth): Json {
  const { resolvedType } = field;
  const one = (item: unknown): Json =>
    resolvedType instanceof protobuf.Type
      ? messageJson(resolvedType, item as Fields, depth)
      : scalarJson(item);
  if (field.map) {
    const map = value as Fields;
    return Object.fromEntries(Object.keys(map).sort().map((key) => [key, one(map[key])]));
  }
  return field.repeated ? (value as unknown[]).map(one) : one(value);
}

/** Whether a field has the value that it has where it is left out. */
function isDefault(field: protobuf.Field, value: unknown): boolean {
  if (field.map) return Object.keys(value as Fields).length === 0;
  if (field.repeated) return (value as unknown[]).length === 0;
  const { resolvedType } = field;
  if (field.hasPresence || resolvedType instanceof protobuf.Type) return false;
  if (resolvedType instanceof protobuf.Enum) return value === resolvedType.valuesById[0];
  if (value instanceof Uint8Array) return value.length === 0;
  return value === "" || value === 0 || value === false;
}

function scalarJson(value: unknown): Json {
  if (value instanceof Uint8Array) return value.toBase64();
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return value as string | boolean;
}

function structJson(fields: Fields): Json {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, valueJson(value as Value)]),
  );
}

function valueJson(value: Value): Json {
  const { structValue, listValue, nullValue: _, ...scalars } = value;
  if (structValue !== undefined) return structJson(structValue.fields as Fields);
  if (listValue !== undefined) return listJson(listValue);
  const [scalar] = Object.values(scalars);
  return scalar === undefined ? null : scalarJson(scalar);
}

function listJson({ values }: { readonly values: readonly Value[] }): Json {
  return values.map(valueJson);
}

/** `1.5s` */
function durationText({ seconds, nanos }: Duration): string {
  const sign = nanos < 0 || seconds < 0 ? "-" : "";
  const whole = String(seconds).replace("-", "");
  return `${sign}${whole}${fraction(Math.abs(nanos))}s`;
}

/** `2020-01-01T00:00:00Z`; what no calendar has as its seconds. */
function timeText({ seconds, nanos }: Duration): string {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return durationText({ seconds, nanos });
  return date.toISOString().replace(".000Z", `${fraction(nanos)}Z`);
}

function fraction(nanos: number): string {
  return nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}
