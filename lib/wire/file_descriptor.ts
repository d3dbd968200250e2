/**
 * A .proto file as a `google.protobuf.FileDescriptorProto`, made of its parsed definitions. All our
 * files are proto3 without extensions, which is what is understood here.
 *
 * @module
 */
import descriptor from "protobufjs/ext/descriptor.js";
import protobuf from "protobufjs/light.js";

/** A .proto file and what it defines. */
export interface ProtoFile {
  /** Path, as other files import it. */
  readonly path: string;
  readonly package: string;
  /** Messages, enums and services at its top, resolved. */
  readonly definitions: readonly protobuf.ReflectionObject[];
}

/** Encodes a file that imports `dependencies`. */
export function encodeFile(file: ProtoFile, dependencies: readonly string[]): Uint8Array {
  const { definitions } = file;
  return encodeDescriptor("FileDescriptorProto", {
    name: file.path,
    package: file.package,
    dependency: dependencies,
    messageType: definitions.filter((one) => one instanceof protobuf.Type).map(messageOf),
    enumType: definitions.filter((one) => one instanceof protobuf.Enum).map(enumOf),
    service: definitions.filter((one) => one instanceof protobuf.Service).map(serviceOf),
    syntax: "proto3",
  });
}

/** The definitions that this one names: types of fields, requests and responses. */
export function namedBy(definition: protobuf.ReflectionObject): protobuf.ReflectionObject[] {
  if (definition instanceof protobuf.Service) {
    return definition.methodsArray.flatMap((method) => {
      const { resolvedRequestType, resolvedResponseType } = method.resolve() as protobuf.Method;
      return [resolvedRequestType!, resolvedResponseType!];
    });
  }
  if (!(definition instanceof protobuf.Type)) return [];
  const types = definition.fieldsArray.map((field) => field.resolve().resolvedType);
  return [
    ...types.filter((type) => type !== null),
    ...definition.nestedArray.flatMap(namedBy),
  ];
}

/** Numbers of `FieldDescriptorProto.Type`. */
const TYPES: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};
const MESSAGE = 11;
const ENUM = 14;

/** Numbers of `FieldDescriptorProto.Label`. */
const OPTIONAL = 1;
const REPEATED = 3;

type Fields = Record<string, unknown>;

function encodeDescriptor(name: string, fields: Fields): Uint8Array {
  const type = (descriptor as unknown as protobuf.Namespace).lookupType(name);
  return type.encode(type.fromObject(fields), new protobuf.Writer()).finish();
}

function messageOf(type: protobuf.Type): Fields {
  const fields = type.fieldsArray;
  // Those of single fields (`optional`) come after those that were written.
  const oneofs = type.oneofsArray.toSorted((a, b) =>
    Number(isSynthetic(a)) - Number(isSynthetic(b))
  );
  const within = type.nestedArray;
  const maps = fields.filter((field) => field instanceof protobuf.MapField);
  return {
    name: type.name,
    field: fields.map((field) => fieldOf(field, oneofs)),
    nestedType: [
      ...within.filter((one) => one instanceof protobuf.Type).map(messageOf),
      ...maps.map(entryOf),
    ],
    enumType: within.filter((one) => one instanceof protobuf.Enum).map(enumOf),
    oneofDecl: oneofs.map(({ name }) => ({ name: snakeCase(name) })),
    ...reservedOf(type),
  };
}

function fieldOf(field: protobuf.Field, oneofs: readonly protobuf.OneOf[]): Fields {
  field.resolve();
  const name = protoName(field);
  const common = { name, number: field.id, jsonName: field.jsonName ?? field.name };
  if (field instanceof protobuf.MapField) {
    const typeName = `${field.parent!.fullName}.${entryName(field)}`;
    return { ...common, label: REPEATED, type: MESSAGE, typeName };
  }
  return {
    ...common,
    label: field.repeated ? REPEATED : OPTIONAL,
    ...typeOf(field.type, field.resolvedType),
    ...(field.partOf === null ? {} : { oneofIndex: oneofs.indexOf(field.partOf) }),
    ...(field.options?.["proto3_optional"] === true ? { proto3Optional: true } : {}),
    ...(field.options?.["deprecated"] === true ? { options: { deprecated: true } } : {}),
  };
}

function typeOf(name: string, resolved: protobuf.Type | protobuf.Enum | null): Fields {
  if (resolved === null) return { type: TYPES[name] };
  return { type: resolved instanceof protobuf.Enum ? ENUM : MESSAGE, typeName: resolved.fullName };
}

/** The message that an entry of a map is. */
function entryOf(field: protobuf.MapField): Fields {
  return {
    name: entryName(field),
    field: [
      { name: "key", number: 1, label: OPTIONAL, type: TYPES[field.keyType], jsonName: "key" },
      {
        name: "value",
        number: 2,
        label: OPTIONAL,
        ...typeOf(field.type, field.resolvedType),
        jsonName: "value",
      },
    ],
    options: { mapEntry: true },
  };
}

/** Name of the message that an entry of a map is: `labels` → `LabelsEntry`, `node_labels` → `NodeLabelsEntry`. */
export function entryName(field: protobuf.FieldBase): string {
  const words = protoName(field).split("_");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Entry`;
}

function enumOf({ name, values }: protobuf.Enum): Fields {
  return {
    name,
    value: Object.entries(values).map(([key, number]) => ({ name: key, number })),
  };
}

function serviceOf({ name, methodsArray }: protobuf.Service): Fields {
  return {
    name,
    method: methodsArray.map((method) => {
      const { resolvedRequestType, resolvedResponseType } = method.resolve() as protobuf.Method;
      return {
        name: method.name,
        inputType: resolvedRequestType!.fullName,
        outputType: resolvedResponseType!.fullName,
        clientStreaming: method.requestStream === true,
        serverStreaming: method.responseStream === true,
      };
    }),
  };
}

function reservedOf({ reserved = [] }: protobuf.Type): Fields {
  return {
    reservedRange: reserved.filter((one) => typeof one !== "string")
      .map(([start, end]) => ({ start, end: end! + 1 })),
    reservedName: reserved.filter((one) => typeof one === "string"),
  };
}

/** Name of a field as its file has it. */
export function protoName(field: protobuf.FieldBase): string {
  return (field as { protoName?: string }).protoName ?? field.name;
}

/** The oneof that an `optional` field makes up. */
function isSynthetic({ fieldsArray }: protobuf.OneOf): boolean {
  return fieldsArray.length === 1 && fieldsArray[0]!.options?.["proto3_optional"] === true;
}

/** The parsed form has names of oneofs in camelCase only; files have them in snake_case. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
