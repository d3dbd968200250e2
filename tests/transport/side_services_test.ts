/**
 * Health and reflection on a real port, with ordinary clients of another library.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import protobuf from "protobufjs/light.js";
import descriptor from "protobufjs/ext/descriptor.js";
import { addCertificateService } from "../../lib/transport/certificate_service.ts";
import { listen, type Listener } from "../../lib/transport/listener.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { ServingState } from "../../lib/transport/serving_state.ts";
import { addSideServices } from "../../lib/transport/side_services.ts";
import {
  healthCheckRequestCodec,
  healthCheckResponseCodec,
  healthListResponseCodec,
  REFLECTION_VERSIONS,
  reflectionRequestCodec,
  reflectionResponseCodec,
  type ReflectionVersion,
  type ServerReflectionResponse,
} from "../../lib/wire/side_messages.ts";
import { type Call, Caller } from "./serving.ts";
import { now, until } from "./sockets.ts";

const ADS = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const NAMES = [
  ADS,
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

/** A server with the side services and a method beside them. */
class Side implements AsyncDisposable {
  readonly state = new ServingState();
  readonly server: PushServer;
  readonly #sender = new Sender({ now });
  readonly #listener: Listener;
  readonly caller: Caller;

  private constructor(server: PushServer, listener: Listener) {
    this.server = server;
    this.#listener = listener;
    this.caller = new Caller(listener.address.port);
    addSideServices(server, { state: this.state, sender: this.#sender });
    server.addStream(`/${ADS}/StreamAggregatedResources`, (stream) => stream.end());
    addCertificateService(server); // which only says why not
  }

  static async start(): Promise<Side> {
    const server = new PushServer({ now });
    return new Side(server, await listen({ host: "127.0.0.1", port: 0 }, server, { now }));
  }

  /** What a health check of this service says. */
  async check(service: string): Promise<string> {
    const bytes = await this.caller.unary(
      "/grpc.health.v1.Health/Check",
      healthCheckRequestCodec.encode({ service }),
    );
    return healthCheckResponseCodec.decode(bytes).status;
  }

  watch(service: string): Call {
    const call = this.caller.call("/grpc.health.v1.Health/Watch");
    call.send(healthCheckRequestCodec.encode({ service })).raw.end();
    return call;
  }

  reflection(version: ReflectionVersion): Reflection {
    return new Reflection(this.caller, version);
  }

  async [Symbol.asyncDispose]() {
    await this.caller[Symbol.asyncDispose]();
    await this.#listener[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await until(() => this.server.connections === 0, "every connection is closed");
    this.#sender[Symbol.dispose]();
  }
}

/** One stream of reflection. */
class Reflection {
  readonly call: Call;
  readonly #version: ReflectionVersion;

  constructor(caller: Caller, version: ReflectionVersion) {
    this.#version = version;
    this.call = caller.call(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`);
  }

  send(request: Parameters<ReturnType<typeof reflectionRequestCodec>["encode"]>[0]): void {
    this.call.send(reflectionRequestCodec(this.#version).encode(request));
  }

  get answers(): ServerReflectionResponse[] {
    return this.call.received.map((bytes) => reflectionResponseCodec(this.#version).decode(bytes));
  }

  async ask(request: Parameters<Reflection["send"]>[0]): Promise<ServerReflectionResponse> {
    const before = this.call.received.length;
    this.send(request);
    await until(() => this.call.received.length > before, "an answer");
    return this.answers[before]!;
  }

  /** Paths of the files that describe a symbol, in the order in which they come. */
  async files(fileContainingSymbol: string): Promise<string[]> {
    const { fileDescriptorResponse } = await this.ask({ fileContainingSymbol });
    return fileDescriptorResponse!.fileDescriptorProto.map((bytes) => fileOf(bytes).name as string);
  }
}

const FILE = (descriptor as unknown as protobuf.Namespace).lookupType("FileDescriptorProto");

function fileOf(bytes: Uint8Array): Record<string, unknown> {
  return FILE.toObject(FILE.decode(bytes), { defaults: true });
}

function statuses(call: Call): string[] {
  return call.received.map((bytes) => healthCheckResponseCodec.decode(bytes).status);
}

Deno.test("health: the server and each service are SERVING once something can be served, and not before", async () => {
  await using side = await Side.start();
  for (const service of ["", ...NAMES]) assertEquals(await side.check(service), "NOT_SERVING");
  side.state.set(true);
  for (const service of ["", ...NAMES]) assertEquals(await side.check(service), "SERVING");
});

Deno.test("health: a service that is not there is NOT_FOUND, and says where to look", async () => {
  await using side = await Side.start();
  const error = await assertRejects(() => side.check("no.such.Service"), Error, "no.such.Service");
  assertEquals((error as Error & { code: number }).code, 5);
});

Deno.test("health: the list has each service and the server itself", async () => {
  await using side = await Side.start();
  side.state.set(true);
  const bytes = await side.caller.unary("/grpc.health.v1.Health/List", new Uint8Array(0));
  const { statuses } = healthListResponseCodec.decode(bytes);
  assertEquals(
    Object.entries(statuses).map(([name, { status }]) => [name, status]).sort(),
    ["", ...NAMES].map((name) => [name, "SERVING"]).sort(),
  );
});

Deno.test("health: whoever watches hears the status at once and each change of it", async () => {
  await using side = await Side.start();
  const calls = [side.watch(""), side.watch(ADS)];
  for (const call of calls) await until(() => call.received.length === 1, "the first status");
  side.state.set(true);
  for (const call of calls) await until(() => call.received.length === 2, "the change");
  side.state.set(true); // no change
  side.state.set(false);
  for (const call of calls) {
    await until(() => call.received.length === 3, "the change back");
    assertEquals(statuses(call), ["NOT_SERVING", "SERVING", "NOT_SERVING"]);
    assertEquals(call.status, undefined);
  }
});

Deno.test("health: a watch of a service that is not there stays, with SERVICE_UNKNOWN", async () => {
  await using side = await Side.start();
  const call = side.watch("no.such.Service");
  await until(() => call.received.length === 1, "the status");
  side.state.set(true);
  await side.check("");
  assertEquals([statuses(call), call.status], [["SERVICE_UNKNOWN"], undefined]);
});

Deno.test("health: while the server drains, watches are told before they end, and checks are answered", async () => {
  await using side = await Side.start();
  side.state.set(true);
  const call = side.watch("");
  await until(() => call.received.length === 1, "the first status");
  side.state.set(false);
  const checking = side.check("");
  const drained = side.server.drain(500);
  assertEquals(await checking, "NOT_SERVING");
  assertEquals((await call.ended()).code, 14);
  assertEquals(statuses(call), ["SERVING", "NOT_SERVING"]);
  await drained;
});

Deno.test("health: a request that is none, more than one, or larger than any could be, is refused", async () => {
  await using side = await Side.start();
  const refused = await assertRejects(() =>
    side.caller.unary("/grpc.health.v1.Health/Check", Uint8Array.of(10, 200))
  );
  assertEquals((refused as Error & { code: number }).code, 3);
  const none = side.caller.call("/grpc.health.v1.Health/Watch");
  none.raw.end();
  assertEquals((await none.ended()).code, 12);
  const two = side.caller.call("/grpc.health.v1.Health/Watch");
  two.send(new Uint8Array(0)).send(new Uint8Array(0));
  assertEquals((await two.ended()).code, 12);
  const large = await assertRejects(() => side.check("x".repeat(20_000)), Error, "at most 10000");
  assertEquals((large as Error & { code: number }).code, 8);
});

for (const version of REFLECTION_VERSIONS) {
  Deno.test(`reflection ${version}: lists every service of the server, whenever it was added`, async () => {
    await using side = await Side.start();
    const answer = await side.reflection(version).ask({ host: "h", listServices: "" });
    assertEquals(answer.validHost, "h");
    assertEquals(answer.listServicesResponse!.service.map(({ name }) => name), NAMES);
  });

  Deno.test(`reflection ${version}: a symbol comes with its file and all that it imports, each once a stream`, async () => {
    await using side = await Side.start();
    const stream = side.reflection(version);
    const files = await stream.files(ADS);
    assertEquals(files[0], "envoy/service/discovery/v3/ads.proto");
    assert(files.includes("envoy/config/core/v3/base.proto"));
    assert(files.includes("google/protobuf/any.proto"));
    assertEquals(files.length, new Set(files).size);
    const again = await stream.files("envoy.service.discovery.v3.DiscoveryRequest.type_url");
    assertEquals(again, ["envoy/service/discovery/v3/discovery.proto"]);
    assertEquals(await stream.files("grpc.health.v1.Health.Watch"), [
      "grpc/health/v1/health.proto",
    ]);
  });
}

Deno.test("reflection: files by their paths are what the .proto files say", async () => {
  await using side = await Side.start();
  const { fileDescriptorResponse } = await side.reflection("v1").ask({
    fileByFilename: "envoy/service/discovery/v3/discovery.proto",
  });
  const file = fileOf(fileDescriptorResponse!.fileDescriptorProto[0]!) as Record<string, [Named]>;
  assertEquals([file.package, file.syntax] as unknown[], ["envoy.service.discovery.v3", "proto3"]);
  const request = file.messageType!.find(({ name }) => name === "DeltaDiscoveryRequest")!;
  const field = request.field!.find(({ name }) => name === "initial_resource_versions")!;
  assertEquals(
    [field.number, field.label, field.type, field.jsonName, field.typeName] as unknown[],
    [
      5,
      3,
      11,
      "initialResourceVersions",
      ".envoy.service.discovery.v3.DeltaDiscoveryRequest.InitialResourceVersionsEntry",
    ],
  );
  const entry = request.nestedType!.find(({ name }) => name === "InitialResourceVersionsEntry")!;
  assertEquals((entry.options as { mapEntry: boolean }).mapEntry, true);
});

interface Named {
  readonly name: string;
  readonly [key: string]: [Named] | unknown;
  readonly field: [Named];
  readonly nestedType: [Named];
}

Deno.test("reflection: what is not there is said, and the stream goes on", async () => {
  await using side = await Side.start();
  const stream = side.reflection("v1");
  const wrong = [
    { fileContainingSymbol: "no.such.Symbol" },
    { fileContainingSymbol: "envoy.service.discovery.v3.DiscoveryRequest.no_such_field" },
    { fileByFilename: "no/such.proto" },
    { allExtensionNumbersOfType: "no.such.Message" },
    { fileContainingExtension: { containingType: "no.such.Message", extensionNumber: 1 } },
  ];
  for (const request of wrong) {
    assertEquals((await stream.ask(request)).errorResponse?.errorCode, 5, JSON.stringify(request));
  }
  assertEquals((await stream.ask({})).errorResponse?.errorCode, 3);
  const type = "google.protobuf.Any";
  assertEquals(
    (await stream.ask({ allExtensionNumbersOfType: type })).allExtensionNumbersResponse,
    {
      baseTypeName: type,
      extensionNumber: [],
    },
  );
});

Deno.test("reflection: what was asked before the client closed its side is answered, then the stream ends well", async () => {
  await using side = await Side.start();
  const stream = side.reflection("v1");
  for (let i = 0; i < 20; i++) stream.send({ host: String(i), listServices: "*" });
  stream.call.raw.end();
  assertEquals((await stream.call.ended()).code, 0);
  assertEquals(stream.answers.map(({ validHost }) => Number(validHost)), [...Array(20).keys()]);
});

Deno.test("reflection: a request beyond all that could be meant ends the stream", async () => {
  await using side = await Side.start();
  const large = side.reflection("v1");
  large.send({ fileContainingSymbol: "x".repeat(20_000) });
  assertEquals((await large.call.ended()).code, 8);
});
