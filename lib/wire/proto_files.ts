/**
 * The .proto files of this program, as reflection gives them out: made of the embedded descriptor, so
 * that what is told is what is coded with.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { descriptorJson, filesJson } from "../../proto/descriptor.ts";
import { encodeFile, entryName, namedBy, protoName } from "./file_descriptor.ts";

/** One .proto file. */
export interface DescribedFile {
  /** Path, as other files import it. */
  readonly path: string;
  /** A `google.protobuf.FileDescriptorProto`. */
  readonly bytes: Uint8Array;
  /** Paths of the files that it imports, in the order of their names. */
  readonly dependencies: readonly string[];
}

/** Finds .proto files. Everything is made when it is first asked for. */
export class ProtoFiles {
  #index: Index | undefined;
  readonly #described = new Map<string, DescribedFile>();

  /** The file at this path. */
  file(path: string): DescribedFile | undefined {
    let described = this.#described.get(path);
    if (described === undefined) {
      described = describe(this.#files(), path);
      if (described !== undefined) this.#described.set(path, described);
    }
    return described;
  }

  /** The file that defines a message, an enum, a service, a method, a field or a value of an enum, by full name. */
  defining(symbol: string): DescribedFile | undefined {
    const { fileOf, root } = this.#files();
    let name = symbol;
    while (!fileOf.has(name)) {
      const dot = name.lastIndexOf(".");
      if (dot < 0) return undefined;
      name = name.slice(0, dot);
    }
    if (name !== symbol && !isWithin(root.lookup(name)!, symbol.slice(name.length + 1))) {
      return undefined;
    }
    return this.file(fileOf.get(name)!);
  }

  /** Whether this is the full name of a message. */
  isMessage(name: string): boolean {
    const { root } = this.#files();
    const found = root.lookup(name, protobuf.Type);
    return found !== null && found.fullName === `.${name}`;
  }

  #files(): Index {
    return this.#index ??= readIndex();
  }
}

/** The definitions, and which file each is in. */
interface Index {
  readonly root: protobuf.Namespace;
  readonly packages: ReadonlyMap<string, { readonly package: string; readonly names: string[] }>;
  /** By full name of what is at the top of a file. */
  readonly fileOf: ReadonlyMap<string, string>;
}

function readIndex(): Index {
  const root = protobuf.Root.fromJSON(JSON.parse(descriptorJson)).resolveAll();
  const packages: Index["packages"] = new Map(Object.entries(JSON.parse(filesJson)));
  const fileOf = new Map<string, string>();
  for (const [path, { package: scope, names }] of packages) {
    for (const name of names) fileOf.set(`${scope}.${name}`, path);
  }
  return { root, packages, fileOf };
}

function describe({ root, packages, fileOf }: Index, path: string): DescribedFile | undefined {
  const file = packages.get(path);
  if (file === undefined) return undefined;
  const scope = root.lookup(file.package) as protobuf.Namespace;
  const definitions = file.names.map((name) => scope.get(name)!);
  const named = definitions.flatMap(namedBy).map((one) => fileOf.get(topOf(one, fileOf))!);
  const dependencies = [...new Set(named)].filter((other) => other !== path).sort();
  const bytes = encodeFile({ path, package: file.package, definitions }, dependencies);
  return { path, bytes, dependencies };
}

/** Full name of the definition at the top of a file that this one is in. */
function topOf(definition: protobuf.ReflectionObject, fileOf: ReadonlyMap<string, string>): string {
  let one = definition;
  while (!fileOf.has(one.fullName.slice(1))) one = one.parent!;
  return one.fullName.slice(1);
}

/** Whether a definition has this within it, by the names that its file has. */
function isWithin(definition: protobuf.ReflectionObject, path: string): boolean {
  const [first, ...rest] = path.split(".") as [string, ...string[]];
  if (rest.length === 0) return namesIn(definition).includes(first);
  if (!(definition instanceof protobuf.Type)) return false;
  const inner = definition.nestedArray.find(({ name }) => name === first);
  if (inner !== undefined) return isWithin(inner, rest.join("."));
  return entriesOf(definition).includes(first) && ["key", "value"].includes(rest.join("."));
}

function namesIn(definition: protobuf.ReflectionObject): string[] {
  if (definition instanceof protobuf.Service) return Object.keys(definition.methods);
  if (definition instanceof protobuf.Enum) return Object.keys(definition.values);
  if (!(definition instanceof protobuf.Type)) return [];
  const { nestedArray, fieldsArray } = definition;
  return [
    ...nestedArray.map(({ name }) => name),
    ...fieldsArray.map(protoName),
    ...entriesOf(definition),
  ];
}

/** Messages that the entries of a message's maps are. */
function entriesOf({ fieldsArray }: protobuf.Type): string[] {
  return fieldsArray.filter((field) => field instanceof protobuf.MapField).map(entryName);
}
