/**
 * Our wire types in the form in which the Go programs of this folder describe theirs.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { descriptorJson } from "../../../proto/descriptor.ts";

/** One field of a message. */
export interface Field {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
  /** A scalar type, `message` or `enum`; of a map, that of its values. */
  readonly type: string;
  readonly typeName?: string;
  readonly repeated?: boolean;
  /** Type of the keys of a map. */
  readonly mapKey?: string;
  /** In camelCase. */
  readonly oneof?: string;
  /** Marked `optional`. */
  readonly optional?: boolean;
}

/** One method of a service. */
export interface Method {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly clientStream: boolean;
  readonly serverStream: boolean;
}

/** A message, enum or service. */
export interface Description {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Full names of the types within it. */
  readonly nested: readonly string[];
  readonly values: Readonly<Record<string, number>>;
  readonly methods: readonly Method[];
}

/** Every message, enum and service of the embedded descriptor, by full name. */
export function describeOurs(): Map<string, Description> {
  const root = protobuf.Root.fromJSON(JSON.parse(descriptorJson)).resolveAll();
  return byName([...describeScope(root)]);
}

/** What a Go program printed, by full name. */
export function parseTheirs(json: string): Map<string, Description> {
  const list = JSON.parse(json) as (Partial<Description> & { name: string })[];
  return byName(list.map((d) => ({
    name: d.name,
    nested: [...d.nested ?? []].sort(),
    values: d.values ?? {},
    methods: sortedBy(d.methods ?? [], (m) => m.name),
    fields: sortedBy(d.fields ?? [], (f) => f.number).map((f) =>
      f.oneof === undefined ? f : { ...f, oneof: protobuf.util.camelCase(f.oneof) }
    ),
  })));
}

function* describeScope(scope: protobuf.NamespaceBase): Generator<Description> {
  for (const item of scope.nestedArray) {
    const description: Description = {
      name: fullName(item),
      fields: item instanceof protobuf.Type
        ? sortedBy(item.fieldsArray.map(describeField), (f) => f.number)
        : [],
      nested: item instanceof protobuf.Type ? item.nestedArray.map(fullName).sort() : [],
      values: item instanceof protobuf.Enum ? item.values : {},
      methods: item instanceof protobuf.Service
        ? sortedBy(item.methodsArray.map(describeMethod), (m) => m.name)
        : [],
    };
    const isNamespace = item instanceof protobuf.Namespace;
    const holdsNothingItself = isNamespace && !(item instanceof protobuf.Type) &&
      !(item instanceof protobuf.Service);
    if (!holdsNothingItself) yield description;
    if (isNamespace) yield* describeScope(item);
  }
}

function describeField(field: protobuf.Field): Field {
  const type = field.resolvedType;
  return {
    name: field.protoName,
    jsonName: field.name,
    number: field.id,
    type: type instanceof protobuf.Type
      ? "message"
      : type instanceof protobuf.Enum
      ? "enum"
      : field.type,
    ...(type === null ? {} : { typeName: fullName(type) }),
    ...(field.repeated ? { repeated: true } : {}),
    ...(field instanceof protobuf.MapField ? { mapKey: field.keyType } : {}),
    ...(field.partOf === null ? {} : { oneof: field.partOf.name }),
    ...(field.options?.["proto3_optional"] === true ? { optional: true } : {}),
  };
}

function describeMethod(method: protobuf.Method): Method {
  return {
    name: method.name,
    input: fullName(method.resolvedRequestType!),
    output: fullName(method.resolvedResponseType!),
    clientStream: method.requestStream === true,
    serverStream: method.responseStream === true,
  };
}

function fullName(item: protobuf.ReflectionObject): string {
  return item.fullName.slice(1);
}

function byName(list: readonly Description[]): Map<string, Description> {
  return new Map(list.map((d) => [d.name, d]));
}

function sortedBy<T, K extends string | number>(items: readonly T[], key: (item: T) => K): T[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
