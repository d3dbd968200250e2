/**
 * What is told of clients: sessions with the machines of the program on streams in memory, and both
 * methods on a real port.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { XDS_TYPES, xdsType } from "../../lib/model/xds_type.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { answerTo } from "../../lib/transport/client_status.ts";
import { ClientWatch } from "../../lib/transport/client_watch.ts";
import { deltaCodec, mcpCodec, sotwCodec } from "../../lib/transport/codecs.ts";
import { listen } from "../../lib/transport/listener.ts";
import type { EndStatus } from "../../lib/transport/push_stream.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { ServingState } from "../../lib/transport/serving_state.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { addSideServices } from "../../lib/transport/side_services.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import {
  type ClientConfig,
  type ClientStatusRequest,
  clientStatusRequestCodec,
  clientStatusResponseCodec,
  type DeltaDiscoveryRequest,
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  type DiscoveryRequest,
  discoveryRequestCodec,
  discoveryResponseCodec,
  type GenericXdsConfig,
  type Partially,
  requestResourcesCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { Caller } from "./serving.ts";
import { now, until } from "./sockets.ts";

const CDS = xdsType("Cluster").typeUrl;
const EDS = xdsType("ClusterLoadAssignment").typeUrl;
const LDS = xdsType("Listener").typeUrl;

/** Sessions in memory, and what is told of them. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly watch = new ClientWatch(this.clock);
  readonly sender = new Sender({ now });
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.sender,
    clock: this.clock,
    observer: this.watch,
  });
  readonly #resolvers = xdsResolvers({
    empty: (_, name) => ({ name, version: "0", bytes: new Uint8Array(0) }),
    variant: (routes) => routes,
  });

  /** Publishes resources of every xDS type under these names, `name@version` each. */
  async publish(...names: readonly string[]): Promise<void> {
    const empty = emptySnapshot(SETTINGS);
    const collections = new Map(empty.collections);
    for (const { name: type, typeUrl } of XDS_TYPES) {
      const resources = names.map((text) => {
        const [name, version] = text.split("@") as [string, string];
        return { name, version, bytes: new TextEncoder().encode(`${type} ${text}`) };
      });
      collections.set(type, Collection.of(typeUrl, resources));
    }
    const snapshot = makeSnapshot({ ...empty, collections });
    this.hub.publish({ snapshot, changedAt: this.clock.now() });
    await settle();
  }

  sotw(id: string, port: number): SotwClient {
    const stream = new FakeStream({ address: "192.0.2.1", port });
    this.sessions.open(
      stream,
      (prefix, kind) => new SotwMachine({ prefix, resolver: this.#resolvers(kind) }),
      sotwCodec("test"),
    );
    return new SotwClient(stream, id);
  }

  delta(port: number): FakeStream {
    const stream = new FakeStream({ address: "192.0.2.1", port });
    this.sessions.open(
      stream,
      (prefix, kind) => new DeltaMachine({ prefix, resolver: this.#resolvers(kind) }),
      deltaCodec("test"),
    );
    return stream;
  }

  answer(
    request: Partially<ClientStatusRequest> = {},
    { address = "127.0.0.1", largest }: { address?: string; largest?: number } = {},
  ): Uint8Array | EndStatus {
    return answerTo(clientStatusRequestCodec.encode(request), address, {
      sessions: () => this.sessions.list(),
      watch: this.watch,
      ...(largest === undefined ? {} : { largest }),
    });
  }

  tell(...args: Parameters<Bench["answer"]>): readonly ClientConfig[] {
    const answer = this.answer(...args);
    assert(answer instanceof Uint8Array, JSON.stringify(answer));
    return clientStatusResponseCodec.decode(answer).config;
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.sender[Symbol.dispose]();
  }
}

/** An Envoy on a stream in memory. */
class SotwClient {
  readonly stream: FakeStream;
  readonly #id: string;

  constructor(stream: FakeStream, id: string) {
    this.stream = stream;
    this.#id = id;
  }

  async send(request: Partially<DiscoveryRequest>): Promise<void> {
    const node = { id: this.#id, userAgentName: "envoy", cluster: "edge" };
    this.stream.request(discoveryRequestCodec.encode({ node, ...request }));
    await settle();
  }

  /** Accepts the last response, or refuses it with this message. */
  async settle(resourceNames: readonly string[], refusal?: string): Promise<void> {
    const { typeUrl, nonce, versionInfo } = discoveryResponseCodec.decode(
      this.stream.written.at(-1)!,
    );
    await this.send({
      typeUrl,
      resourceNames,
      responseNonce: nonce,
      versionInfo,
      ...(refusal === undefined ? {} : { errorDetail: { code: 13, message: refusal } }),
    });
  }
}

/** An entry in short: what it is of, the two states, the version. */
function brief({ name, clientStatus, configStatus, versionInfo }: GenericXdsConfig): string {
  return [name, clientStatus, configStatus, versionInfo].join(" ").trim();
}

function entries(config: ClientConfig | undefined, type: string): string[] {
  return config!.genericXdsConfigs.filter(({ typeUrl }) => typeUrl === type).map(brief);
}

Deno.test("client status: each client with its node, in the order of ids, and of a type asked for whole one entry", async () => {
  using bench = new Bench();
  await bench.publish("a@1", "b@1");
  const second = bench.sotw("envoy-2", 1002);
  const first = bench.sotw("envoy-1", 1001);
  bench.sotw("silent", 1003);
  await second.send({ typeUrl: CDS });
  await first.send({ typeUrl: CDS });
  await first.settle([]);
  const told = bench.tell();
  assertEquals(told.map(({ node }) => [node!.id, node!.cluster, node!.userAgentName]), [
    ["envoy-1", "edge", "envoy"],
    ["envoy-2", "edge", "envoy"],
  ]);
  const { version } = bench.watch.of(2, CDS)!.accepted!;
  assertEquals(entries(told[0], CDS), [` ACKED SYNCED ${version}`.trim()]);
  assertEquals(entries(told[1], CDS), ["REQUESTED STALE"]);
  assertEquals(told[0]!.genericXdsConfigs[0]!.lastUpdated!.seconds, 1_700_000_000);
});

Deno.test("client status: a type asked for by names has an entry for each, with its version and content", async () => {
  using bench = new Bench();
  await bench.publish("a@1", "b@1");
  const client = bench.sotw("e", 1);
  await client.send({ typeUrl: EDS, resourceNames: ["a", "later"] });
  assertEquals(entries(bench.tell()[0], EDS), ["a REQUESTED STALE", "later REQUESTED NOT_SENT"]);
  await client.settle(["a", "later"]);
  const [config] = bench.tell();
  assertEquals(entries(config, EDS), ["a ACKED SYNCED 1", "later REQUESTED NOT_SENT"]);
  const { xdsConfig } = config!.genericXdsConfigs[0]!;
  assertEquals(xdsConfig!.typeUrl, EDS);
  assertEquals(new TextDecoder().decode(xdsConfig!.value), "ClusterLoadAssignment a@1");
  const [without] = bench.tell({ excludeResourceContents: true });
  assertEquals(without!.genericXdsConfigs.map((one) => one.xdsConfig), [undefined, undefined]);
  await bench.publish("a@2", "later@1");
  assertEquals(entries(bench.tell()[0], EDS), ["a ACKED STALE 1", "later REQUESTED STALE"]);
});

Deno.test("client status: a name given up is gone at once; a listener that is not there does not exist", async () => {
  using bench = new Bench();
  await bench.publish("a@1", "b@1");
  const client = bench.sotw("e", 1);
  await client.send({ typeUrl: LDS, resourceNames: ["a", "b", "none"] });
  await client.settle(["a", "none"]);
  assertEquals(entries(bench.tell()[0], LDS), ["a ACKED SYNCED 1", "none DOES_NOT_EXIST SYNCED"]);
});

Deno.test("client status: what a client refused is told with its reason until it takes something else", async () => {
  using bench = new Bench();
  await bench.publish("a@1", "b@1");
  const client = bench.sotw("e", 1);
  await client.send({ typeUrl: EDS, resourceNames: ["a", "b"] });
  await client.settle(["a", "b"]);
  await bench.publish("a@2", "b@1");
  bench.clock.pass(5000);
  await settle();
  await client.settle(["a", "b"], "a is no good");
  const [config] = bench.tell();
  assertEquals(entries(config, EDS), ["a NACKED ERROR 1", "b ACKED SYNCED 1"]);
  const { errorState } = config!.genericXdsConfigs[0]!;
  assertEquals([errorState!.details, errorState!.lastUpdateAttempt!.seconds], [
    "a is no good",
    1_700_000_005,
  ]);
  assert(errorState!.versionInfo !== "");
  await bench.publish("a@3", "b@2");
  await client.settle(["a", "b"]);
  assertEquals(entries(bench.tell()[0], EDS), ["a ACKED SYNCED 3", "b ACKED SYNCED 2"]);
});

Deno.test("client status: the first push refused leaves a type with nothing but the error", async () => {
  using bench = new Bench();
  await bench.publish("a@1");
  const client = bench.sotw("e", 1);
  await client.send({ typeUrl: CDS });
  await client.settle([], "no");
  const [config] = bench.tell();
  assertEquals(entries(config, CDS), ["NACKED ERROR"]);
  assertEquals(config!.genericXdsConfigs[0]!.errorState!.details, "no");
});

Deno.test("client status: a delta client's resources, and those of which only it has the content", async () => {
  using bench = new Bench();
  await bench.publish("a@1", "b@1");
  const stream = bench.delta(1);
  const send = async (request: Partially<DeltaDiscoveryRequest>) => {
    stream.request(
      deltaDiscoveryRequestCodec.encode({ node: { id: "d", userAgentName: "envoy" }, ...request }),
    );
    await settle();
  };
  await send({
    typeUrl: EDS,
    resourceNamesSubscribe: ["a", "b"],
    initialResourceVersions: { a: "1" },
  });
  const { nonce } = deltaDiscoveryResponseCodec.decode(stream.written[0]!);
  await send({ typeUrl: EDS, responseNonce: nonce });
  assertEquals(entries(bench.tell()[0], EDS), ["a ACKED SYNCED 1", "b ACKED SYNCED 1"]);
  await send({ typeUrl: EDS, resourceNamesUnsubscribe: ["a"] });
  assertEquals(entries(bench.tell()[0], EDS), ["b ACKED SYNCED 1"]);
});

Deno.test("client status: streams of one node on one connection are one client; who left is not told of, nor are MCP's sinks", async () => {
  using bench = new Bench();
  await bench.publish("a@1");
  const cds = bench.sotw("e", 1);
  const eds = bench.sotw("e", 1);
  const other = bench.sotw("e", 2);
  await cds.send({ typeUrl: CDS });
  await eds.send({ typeUrl: EDS, resourceNames: ["a"] });
  await other.send({ typeUrl: CDS });
  const sink = new FakeStream();
  const resolver = collectionResolver({ unknownCollection: "empty" });
  bench.sessions.open(
    sink,
    (prefix) => new McpSourceMachine({ prefix, resolver }),
    mcpCodec("mcp-source"),
  );
  sink.request(requestResourcesCodec.encode({ sinkNode: { id: "s" }, collection: "x" }));
  await settle();
  assertEquals(bench.tell().map((one) => one.genericXdsConfigs.map(({ typeUrl }) => typeUrl)), [
    [CDS, EDS],
    [CDS],
  ]);
  other.stream.leave();
  assertEquals(bench.tell().length, 1);
  assertEquals(bench.watch.of(3, CDS), undefined);
});

Deno.test("client status: node matchers choose clients; one that cannot be used is refused", async () => {
  using bench = new Bench();
  await bench.publish("a@1");
  for (const [i, id] of ["edge-1", "edge-2", "core-1"].entries()) {
    await bench.sotw(id, i + 1).send({ typeUrl: CDS });
  }
  const ids = (request: Partially<ClientStatusRequest>) =>
    bench.tell(request).map(({ node }) => node!.id);
  assertEquals(ids({ nodeMatchers: [{ nodeId: { prefix: "edge" } }] }), ["edge-1", "edge-2"]);
  assertEquals(ids({ nodeMatchers: [{ nodeId: { exact: "no" } }] }), []);
  const refused = bench.answer({ nodeMatchers: [{ nodeId: { safeRegex: { regex: "(" } } }] });
  assertEquals((refused as EndStatus).code, "INVALID_ARGUMENT");
  const none = answerTo(Uint8Array.of(10, 99), "::1", {
    sessions: () => bench.sessions.list(),
    watch: bench.watch,
  });
  assertEquals((none as EndStatus).code, "INVALID_ARGUMENT");
});

Deno.test("client status: it is told to this machine alone", () => {
  using bench = new Bench();
  for (const address of ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"]) {
    assertEquals(bench.tell({}, { address }), []);
  }
  for (const address of ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", ""]) {
    const refused = bench.answer({}, { address }) as EndStatus;
    assertEquals(refused.code, "PERMISSION_DENIED");
    assertStringIncludes(refused.message, "this machine");
  }
});

Deno.test("client status: where all is too much, contents go first, then names, then it says how to ask", async () => {
  using bench = new Bench();
  await bench.publish(...Array.from({ length: 20 }, (_, i) => `name-${i}@${"v".repeat(100)}`));
  const client = bench.sotw("e", 1);
  const names = Array.from({ length: 20 }, (_, i) => `name-${i}`);
  await client.send({ typeUrl: EDS, resourceNames: names });
  await client.settle(names);
  const told = (largest: number) => bench.tell({}, { largest })[0]!.genericXdsConfigs;
  assert(told(100_000).every(({ xdsConfig }) => xdsConfig !== undefined));
  assertEquals(
    told(7000).map(({ name, xdsConfig }) => [name !== "", xdsConfig]),
    Array(20).fill([true, undefined]),
  );
  assertEquals(told(1000).map(brief).length, 1);
  const refused = bench.answer({}, { largest: 100 }) as EndStatus;
  assertEquals(refused.code, "RESOURCE_EXHAUSTED");
  assertStringIncludes(refused.message, "node_matchers");
});

Deno.test("client status: of a client that names thousands each type is told whole", async () => {
  using bench = new Bench();
  await bench.publish("a@1");
  const client = bench.sotw("e", 1);
  await client.send({
    typeUrl: EDS,
    resourceNames: Array.from({ length: 1001 }, (_, i) => `n${i}`),
  });
  assertEquals(entries(bench.tell()[0], EDS), ["REQUESTED STALE"]);
});

Deno.test("client status: asked once or on a stream, over a connection", async () => {
  using bench = new Bench();
  await bench.publish("a@1");
  await bench.sotw("envoy-1", 1).send({ typeUrl: CDS });
  await using server = new PushServer({ now });
  addSideServices(server, {
    state: new ServingState(true),
    sender: bench.sender,
    clients: { sessions: () => bench.sessions.list(), watch: bench.watch },
  });
  await using listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now });
  await using caller = new Caller(listener.address.port);
  const service = "/envoy.service.status.v3.ClientStatusDiscoveryService";
  const ids = (bytes: Uint8Array) =>
    clientStatusResponseCodec.decode(bytes).config.map(({ node }) => node!.id);
  const ask = (id: string) =>
    clientStatusRequestCodec.encode({ nodeMatchers: [{ nodeId: { exact: id } }] });
  assertEquals(ids(await caller.unary(`${service}/FetchClientStatus`, ask("envoy-1"))), [
    "envoy-1",
  ]);
  const call = caller.call(`${service}/StreamClientStatus`);
  call.send(ask("envoy-1")).send(ask("envoy-2")).raw.end();
  assertEquals((await call.ended()).code, 0);
  assertEquals(call.received.map(ids), [["envoy-1"], []]);
  await caller[Symbol.asyncDispose]();
  await until(() => server.connections === 0, "every connection is closed");
});
