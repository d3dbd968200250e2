/**
 * Random messages of any type of the descriptor, in the very form that decoding gives.
 *
 * @module
 */
import fc from "fast-check";
import protobuf from "protobufjs/light.js";
import { descriptorJson } from "../../proto/descriptor.ts";

/** Messages within messages, at most. */
const MAX_DEPTH = 3;

/** Everything that the descriptor holds, for reflection. */
export const root: protobuf.Root = protobuf.Root.fromJSON(JSON.parse(descriptorJson));

/** Every message type, in order of names. */
export function messageTypes(): protobuf.Type[] {
  return [...walk(root)].sort((a, b) => (a.fullName < b.fullName ? -1 : 1));
}

function* walk(scope: protobuf.NamespaceBase): Generator<protobuf.Type> {
  for (const item of scope.nestedArray) {
    if (item instanceof protobuf.Type) yield item;
    if (item instanceof protobuf.Namespace) yield* walk(item);
  }
}

/** A message's full name without the leading dot. */
export function nameOf(type: protobuf.ReflectionObject): string {
  return type.fullName.slice(1);
}

/** Random messages of a type. */
export function arbitraryMessage(type: protobuf.Type, depth = 0): fc.Arbitrary<object> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  const oneofs: fc.Arbitrary<object>[] = [];
  const optional: string[] = [];
  for (const field of type.fieldsArray) {
    field.resolve();
    if (field.partOf) continue;
    fields[field.name] = arbitraryField(field, depth);
    if (!field.repeated && !field.map && field.resolvedType instanceof protobuf.Type) {
      optional.push(field.name);
    }
  }
  for (const oneof of type.oneofsArray) {
    const members = oneof.fieldsArray.map((field) =>
      fc.record({ [field.name]: arbitraryItem(field.resolve(), depth) })
    );
    oneofs.push(fc.oneof(fc.constant({}), ...members));
  }
  const required = Object.keys(fields).filter((name) => !optional.includes(name));
  const plain = fc.record(fields, { requiredKeys: required });
  return fc.tuple(plain, ...oneofs).map((parts) => Object.assign({}, ...parts));
}

function arbitraryField(field: protobuf.Field, depth: number): fc.Arbitrary<unknown> {
  const deepest = depth >= MAX_DEPTH && field.resolvedType instanceof protobuf.Type;
  const size = { maxLength: deepest ? 0 : 3 };
  if (field.map) {
    const entry = fc.tuple(texts, arbitraryItem(field, depth));
    return fc.array(entry, size).map((entries) => {
      const map = Object.create(null);
      for (const [key, value] of entries) map[key] = value;
      return map;
    });
  }
  return field.repeated ? fc.array(arbitraryItem(field, depth), size) : arbitraryItem(field, depth);
}

function arbitraryItem(field: protobuf.Field, depth: number): fc.Arbitrary<unknown> {
  const type = field.resolvedType;
  if (type instanceof protobuf.Type) {
    return depth >= MAX_DEPTH ? emptyMessage(type) : arbitraryMessage(type, depth + 1);
  }
  if (type instanceof protobuf.Enum) {
    return fc.constantFrom<string | number>(...Object.keys(type.values), 99, -1);
  }
  return SCALARS[field.type]!;
}

function emptyMessage(type: protobuf.Type): fc.Arbitrary<object> {
  const message: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    field.resolve();
    if (field.map) message[field.name] = Object.create(null);
    else if (field.repeated) message[field.name] = [];
    else if (field.partOf || field.resolvedType instanceof protobuf.Type) continue;
    else if (field.resolvedType instanceof protobuf.Enum) {
      message[field.name] = field.resolvedType.valuesById[0];
    } else message[field.name] = ZEROS[field.type];
  }
  return fc.constant(message);
}

const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("__proto__", "constructor", "toString", "7", "shop/billing", "x".repeat(200)),
);

const int64 = (min: bigint, max: bigint) =>
  fc.bigInt({ min, max }).map((big) => {
    const number = Number(big);
    return Number.isSafeInteger(number) ? number : big;
  });

const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: texts,
  bytes: fc.uint8Array({ maxLength: 12 }).map((bytes) => new Uint8Array(bytes)),
  bool: fc.boolean(),
  int32: fc.integer(),
  uint32: fc.nat(2 ** 32 - 1),
  int64: int64(-(2n ** 63n), 2n ** 63n - 1n),
  uint64: int64(0n, 2n ** 64n - 1n),
  double: fc.double(),
  float: fc.float(),
};

const ZEROS: Readonly<Record<string, unknown>> = {
  string: "",
  bytes: new Uint8Array(0),
  bool: false,
  int32: 0,
  uint32: 0,
  int64: 0,
  uint64: 0,
  double: 0,
  float: 0,
};
