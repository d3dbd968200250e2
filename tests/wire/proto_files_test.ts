import { assert, assertEquals } from "@std/assert";
import descriptor from "protobufjs/ext/descriptor.js";
import protobuf from "protobufjs/light.js";
import { descriptorJson, filesJson } from "../../proto/descriptor.ts";
import { type DescribedFile, ProtoFiles } from "../../lib/wire/proto_files.ts";

const PATHS = Object.keys(JSON.parse(filesJson));
const FILE = (descriptor as unknown as protobuf.Namespace).lookupType("FileDescriptorProto");

/** A FileDescriptorProto, as far as it is looked at here. */
interface File {
  readonly name: string;
  readonly package: string;
  readonly syntax: string;
  readonly dependency: readonly string[];
  readonly messageType: readonly Message[];
}

interface Message {
  readonly name: string;
  readonly field: readonly {
    readonly name: string;
    readonly number: number;
    readonly label: number;
    readonly type: number;
    readonly typeName: string;
    readonly jsonName: string;
    readonly oneofIndex?: number;
  }[];
  readonly nestedType: readonly (Message & { readonly options?: { readonly mapEntry: boolean } })[];
  readonly oneofDecl: readonly { readonly name: string }[];
  readonly reservedRange: readonly { readonly start: number; readonly end: number }[];
  readonly reservedName: readonly string[];
}

function read({ bytes }: DescribedFile): File {
  return FILE.toObject(FILE.decode(bytes), { arrays: true }) as unknown as File;
}

/** Full names of types that the fields of messages name. */
function* named(messages: readonly Message[]): Iterable<string> {
  for (const { field, nestedType } of messages) {
    for (const { typeName } of field) if (typeName) yield typeName.slice(1);
    yield* named(nestedType);
  }
}

Deno.test("proto files: every .proto file is there, and everything it names is in it or imported", () => {
  const files = new ProtoFiles();
  assert(PATHS.length > 30);
  for (const path of PATHS) {
    const file = files.file(path)!;
    const { name, package: scope, syntax, dependency, messageType } = read(file);
    assertEquals([name, syntax], [path, "proto3"]);
    assertEquals([...dependency], [...file.dependencies]);
    assert(path.startsWith(scope.replaceAll(".", "/")), `${path} is of package ${scope}`);
    for (const type of named(messageType)) {
      const where = files.defining(type)!.path;
      assert(where === path || dependency.includes(where), `${path} names ${type} of ${where}`);
    }
  }
});

Deno.test("proto files: read by another, they are the descriptor that messages are coded with", () => {
  const files = new ProtoFiles();
  const set = { file: PATHS.map((path) => FILE.decode(files.file(path)!.bytes)) };
  const root = (protobuf.Root as unknown as { fromDescriptor(set: unknown): protobuf.Root })
    .fromDescriptor(set);
  const ours = protobuf.Root.fromJSON(JSON.parse(descriptorJson)).resolveAll();
  let compared = 0;
  const compare = (one: protobuf.NamespaceBase) => {
    for (const inner of one.nestedArray) {
      if (inner instanceof protobuf.Type) {
        const other = root.lookupType(inner.fullName);
        for (const field of inner.fieldsArray) {
          const same = other.fields[field.name]!.resolve();
          field.resolve();
          const facts = (f: protobuf.Field) => [
            ...[f.id, f.type, f.repeated, f.map, f.partOf?.name.replaceAll("_", "").toLowerCase()],
            f.resolvedType?.fullName,
          ];
          const type = (f: protobuf.Field) => f.resolvedType === null ? f.type : undefined;
          assertEquals(
            [...facts(same).toSpliced(1, 1), type(same)],
            [...facts(field).toSpliced(1, 1), type(field)],
            field.fullName,
          );
          compared++;
        }
      } else if (inner instanceof protobuf.Enum) {
        assertEquals({ ...root.lookupEnum(inner.fullName).values }, { ...inner.values });
      } else if (inner instanceof protobuf.Service) {
        const methods = (service: protobuf.Service) =>
          service.methodsArray.map((one) => one.resolve() as protobuf.Method).map((method) => [
            ...[
              method.name,
              method.requestStream ?? false,
              method.responseStream ?? false,
            ],
            ...[method.resolvedRequestType!.fullName, method.resolvedResponseType!.fullName],
          ]);
        assertEquals(methods(root.lookupService(inner.fullName)), methods(inner));
      }
      if (inner instanceof protobuf.Namespace) compare(inner);
    }
  };
  compare(ours);
  assert(compared > 300, `${compared} fields compared`);
});

Deno.test("proto files: names as files have them, in JSON as protobuf has them", () => {
  const file = read(new ProtoFiles().file("envoy/config/core/v3/base.proto")!);
  const node = file.messageType.find(({ name }) => name === "Node")!;
  const version = node.field.find(({ name }) => name === "user_agent_version")!;
  assertEquals([version.jsonName, version.number, version.type], ["userAgentVersion", 7, 9]);
  assertEquals(node.oneofDecl.map(({ name }) => name), ["user_agent_version_type"]);
  assertEquals(version.oneofIndex, 0);
  assertEquals(node.reservedRange.map(({ start, end }) => [start, end]), [[5, 6]]);
  assertEquals(node.reservedName, ["build_version"]);
});

Deno.test("proto files: a symbol is found where it is defined, and nothing else is", () => {
  const files = new ProtoFiles();
  const table: [string, string | undefined][] = [
    ["google.protobuf.Any", "google/protobuf/any.proto"],
    ["google.protobuf.Any.type_url", "google/protobuf/any.proto"],
    ["google.protobuf.Any.typeUrl", undefined],
    ["google.protobuf", undefined],
    ["google", undefined],
    ["", undefined],
    ["google.protobuf.Struct.FieldsEntry", "google/protobuf/struct.proto"],
    ["google.protobuf.Struct.FieldsEntry.value", "google/protobuf/struct.proto"],
    ["google.protobuf.Struct.FieldsEntry.no", undefined],
    ["grpc.health.v1.Health.Check", "grpc/health/v1/health.proto"],
    ["grpc.health.v1.Health.toString", undefined],
    ["grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"],
    ["grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING", "grpc/health/v1/health.proto"],
    ["grpc.health.v1.HealthCheckResponse.ServingStatus.NO", undefined],
    ["grpc.health.v1.HealthCheckRequest.service.more", undefined],
    ["istio.networking.v1alpha3.ServiceEntry", "istio/networking/v1alpha3/service_entry.proto"],
  ];
  for (const [symbol, path] of table) assertEquals(files.defining(symbol)?.path, path, symbol);
  assertEquals(files.file("no/such.proto"), undefined);
  assertEquals(files.file("__proto__"), undefined);
  assertEquals(files.isMessage("google.protobuf.Any"), true);
  for (const name of ["google.protobuf", "protobuf.Any", "Any", "grpc.health.v1.Health"]) {
    assertEquals(files.isMessage(name), false, name);
  }
});
