/**
 * Sessions by kind of client: who is served what, and how transitions end in time.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ClientKind, PeerRule } from "../../lib/model/settings.ts";
import { xdsType } from "../../lib/model/xds_type.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import { deltaCodec, mcpCodec, sotwCodec } from "../../lib/transport/codecs.ts";
import { Sender } from "../../lib/transport/sender.ts";
import type { Session } from "../../lib/transport/session.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { TRANSITION_LIMIT } from "../../lib/transport/transition_timer.ts";
import {
  deltaDiscoveryRequestCodec,
  discoveryRequestCodec,
  discoveryResponseCodec,
  requestResourcesCodec,
} from "../../lib/wire/messages.ts";
import { type Contents, DUBBO_ANSWERS, snapshotOf } from "../protocol/fixtures.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { quietObserver } from "./quiet_observer.ts";

const CDS = xdsType("Cluster").typeUrl;
const EDS = xdsType("ClusterLoadAssignment").typeUrl;
const LDS = xdsType("Listener").typeUrl;
const RDS = xdsType("RouteConfiguration").typeUrl;
const SERVICE_ENTRY = "networking.istio.io/v1/ServiceEntry";
const SIDECAR = "sidecar~192.0.2.1~shop-1~shop.svc.cluster.local";

function as(kind: ClientKind): PeerRule {
  return { match: {}, as: kind, namespaces: [], labels: {} };
}

/** Sessions over fake streams. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly sender = new Sender({ now: () => this.clock.now() });
  readonly overdue: string[] = [];
  readonly closed: (string | undefined)[] = [];
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.sender,
    clock: this.clock,
    observer: {
      ...quietObserver,
      overdue: (_session, phase) => void this.overdue.push(phase),
      closed: (_session, reason) => void this.closed.push(reason),
    },
  });
  readonly #resolvers = xdsResolvers(DUBBO_ANSWERS);
  #snapshot: Snapshot = emptySnapshot(SETTINGS);

  async publish(
    contents: Readonly<Record<string, Contents>>,
    peers: readonly PeerRule[] = [],
  ): Promise<void> {
    const before = { ...this.#snapshot, settings: { ...SETTINGS, peers } };
    this.#snapshot = snapshotOf(contents, before);
    this.hub.publish({ snapshot: this.#snapshot, changedAt: this.clock.now() });
    await settle();
  }

  client(node: Node): TestClient {
    const stream = new FakeStream();
    const session = this.sessions.open(
      stream,
      (prefix, kind) => new SotwMachine({ prefix, resolver: this.#resolvers(kind) }),
      sotwCodec("me"),
    );
    return new TestClient(stream, session as Session<unknown>, node);
  }

  deltaClient(node: Node, typeUrl: string): Session<unknown> {
    const stream = new FakeStream();
    const session = this.sessions.open(
      stream,
      (prefix, kind) => new DeltaMachine({ prefix, resolver: this.#resolvers(kind) }),
      deltaCodec("me"),
    );
    stream.request(deltaDiscoveryRequestCodec.encode({ node: nodeOf(node), typeUrl }));
    return session as Session<unknown>;
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.sender[Symbol.dispose]();
  }
}

/** What a client says of itself. */
interface Node {
  readonly id: string;
  readonly userAgent?: string;
  readonly generator?: string;
}

function nodeOf({ id, userAgent = "", generator }: Node) {
  const fields = generator === undefined ? {} : { GENERATOR: { stringValue: generator } };
  return { id, userAgentName: userAgent, metadata: { fields } };
}

/** A state-of-the-world client that answers only when told. */
class TestClient {
  constructor(
    readonly stream: FakeStream,
    readonly session: Session<unknown>,
    readonly node: Node,
  ) {}

  async ask(typeUrl: string, names: readonly string[] = [], responseNonce = ""): Promise<this> {
    const request = { node: nodeOf(this.node), typeUrl, resourceNames: names, responseNonce };
    this.stream.request(discoveryRequestCodec.encode(request));
    await settle();
    return this;
  }

  /** ACKs the last response of a type. */
  async ack(typeUrl: string, names: readonly string[] = []): Promise<this> {
    return await this.ask(typeUrl, names, this.responses(typeUrl).at(-1)!.nonce);
  }

  responses(typeUrl: string) {
    return this.stream.written.map((bytes) => discoveryResponseCodec.decode(bytes))
      .filter((response) => response.typeUrl === typeUrl);
  }

  /** Content of the last response of a type, as `name@version`. */
  last(typeUrl: string): string[] | undefined {
    const response = this.responses(typeUrl).at(-1);
    return response?.resources.map(({ value }) => new TextDecoder().decode(value));
  }
}

Deno.test("client kinds: who says nothing of itself is what it asks for first", async () => {
  using bench = new Bench();
  await bench.publish({ CDS: { c: "1" }, ServiceEntry: { "shop/a": "1" } });
  const kindOf = async (node: Node, typeUrl: string) =>
    (await bench.client(node).ask(typeUrl)).session.kind;
  assertEquals(await kindOf({ id: SIDECAR }, LDS), "dubbo");
  assertEquals(await kindOf({ id: "proxy-1" }, CDS), "envoy");
  assertEquals(await kindOf({ id: SIDECAR, userAgent: "envoy" }, CDS), "envoy");
  assertEquals(await kindOf({ id: SIDECAR, userAgent: "other" }, CDS), "envoy");
  assertEquals(await kindOf({ id: "x", userAgent: "gRPC Go" }, LDS), "grpc");
  assertEquals(await kindOf({ id: SIDECAR }, SERVICE_ENTRY), "istio");
  assertEquals(await kindOf({ id: SIDECAR, generator: "api" }, SERVICE_ENTRY), "istio");
  assertEquals(bench.deltaClient({ id: "proxy-1" }, CDS).kind, "envoy");
});

Deno.test("client kinds: what was asked for first counts, whatever comes later", async () => {
  using bench = new Bench();
  await bench.publish({ CDS: { c: "1" }, ServiceEntry: { "shop/a": "1" } });
  const client = await bench.client({ id: "x" }).ask(SERVICE_ENTRY);
  await client.ask(CDS);
  assertEquals(client.session.kind, "istio");
  assertEquals(client.stream.ended?.code, "INVALID_ARGUMENT");
  assertStringIncludes(client.stream.ended!.message!, "`as: envoy`");
});

Deno.test("client kinds: the kind is known before the first request is answered", async () => {
  using bench = new Bench();
  const contents = { LDS: { l: "1" }, EDS: {}, ServiceEntry: { "shop/a": "1" } };
  await bench.publish(contents, [as("grpc")]);
  const client = await bench.client({ id: "x", userAgent: "envoy" }).ask(LDS);
  assertEquals([client.session.kind, client.stream.written.length], ["grpc", 0]);
  const dubbo = await bench.client({ id: SIDECAR }).ask(EDS, ["a"]);
  assertEquals([dubbo.session.kind, dubbo.last(EDS)], ["grpc", []]);
});

Deno.test("client kinds: a stream whose client the rules now call another ends, so that it comes back as that", async () => {
  using bench = new Bench();
  const contents = { CDS: { c: "1" } };
  await bench.publish(contents);
  const envoy = await bench.client({ id: "x", userAgent: "envoy" }).ask(CDS);
  const silent = bench.client({ id: "y" });
  const delta = bench.deltaClient({ id: "z", userAgent: "envoy" }, CDS);
  await settle();
  await bench.publish(contents, [as("envoy")]);
  assertEquals(envoy.stream.ended, undefined, "the same kind by a rule");
  const before = envoy.stream.written.length;
  await bench.publish(contents, [as("dubbo")]);
  assertEquals(envoy.stream.ended?.code, "UNAVAILABLE");
  assertStringIncludes(
    envoy.stream.ended!.message!,
    "now say that this client is dubbo, not envoy",
  );
  assertEquals(envoy.stream.written.length, before, "nothing of another kind is sent before");
  assertEquals(bench.closed.length, 2);
  assertEquals(bench.sessions.list().map(({ key }) => key), [silent.session.key]);
  assert(delta.kind === "dubbo");
});

Deno.test("client kinds: an MCP sink stays, whatever kind the rules call it", async () => {
  using bench = new Bench();
  await bench.publish({ ServiceEntry: { "shop/a": "1" } });
  const stream = new FakeStream();
  const resolver = collectionResolver({ unknownCollection: "empty" });
  bench.sessions.open(
    stream,
    (prefix) => new McpSourceMachine({ prefix, resolver }),
    mcpCodec("mcp-source"),
  );
  const collection = "istio/networking/v1alpha3/serviceentries";
  stream.request(requestResourcesCodec.encode({ sinkNode: { id: "s" }, collection }));
  await settle();
  await bench.publish({ ServiceEntry: { "shop/a": "1" } }, [as("envoy")]);
  assertEquals(stream.ended, undefined);
});

Deno.test("client kinds: without a view a client waits; it is not answered empty", async () => {
  using bench = new Bench();
  await bench.publish({ ServiceEntry: { "shop/a": "1" } });
  const client = await bench.client({ id: "x", userAgent: "envoy" }).ask(CDS);
  assertEquals(client.stream.written.length, 0);
  await bench.publish({ CDS: { c: "1" } });
  assertEquals(client.last(CDS), ["c@1"]);
});

/** An Envoy that has accepted `a` and a route to it; then `b` takes its place. */
async function inTransition(bench: Bench): Promise<TestClient> {
  await bench.publish({ CDS: { a: "1" }, RDS: { r: "a" } });
  const client = await bench.client({ id: "x", userAgent: "envoy" }).ask(CDS);
  await client.ack(CDS);
  await client.ask(RDS, ["r"]);
  await client.ack(RDS, ["r"]);
  await bench.publish({ CDS: { b: "1" }, RDS: { r: "b" } });
  assertEquals([client.last(CDS), client.last(RDS)], [["a@1", "b@1"], ["r@a"]]);
  return client;
}

Deno.test("transitions: routes wait for the new cluster, the old one for the routes; status tells how far it is", async () => {
  using bench = new Bench();
  const client = await inTransition(bench);
  const since = bench.clock.now();
  await bench.clock.pass(1000);
  assertEquals(client.session.transition, { phase: "clusters", since });
  await client.ack(CDS);
  assertEquals(client.last(RDS), ["r@b"]);
  assertEquals(client.session.transition, { phase: "routes", since });
  await client.ack(RDS, ["r"]);
  assertEquals([client.last(CDS), client.session.transition], [["b@1"], undefined]);
  await bench.clock.pass(2 * TRANSITION_LIMIT);
  assertEquals(bench.overdue, []);
});

Deno.test("transitions: one that is not answered ends in time, and is told", async () => {
  using bench = new Bench();
  const client = await inTransition(bench);
  await bench.clock.pass(TRANSITION_LIMIT - 1);
  assertEquals([client.last(RDS), bench.overdue], [["r@a"], []]);
  await bench.clock.pass(1);
  assertEquals([client.last(RDS), bench.overdue], [["r@b"], ["clusters"]]);
  assertEquals(client.session.transition, undefined);
  await client.ack(CDS);
  assertEquals(client.last(CDS), ["b@1"]);
});

Deno.test("transitions: newer snapshots do not put its end off", async () => {
  using bench = new Bench();
  const client = await inTransition(bench);
  for (let i = 0; i < 10; i++) {
    await bench.clock.pass(TRANSITION_LIMIT / 10);
    await bench.publish({ CDS: { [`c${i}`]: "1" }, RDS: { r: `c${i}` } });
  }
  assertEquals(bench.overdue, ["clusters"]);
  assertEquals(client.responses(RDS).length, 2);
});

Deno.test("transitions: one that goes on to a newer goal has its own time for that", async () => {
  using bench = new Bench();
  const client = await inTransition(bench);
  await bench.clock.pass(6000);
  await bench.publish({ CDS: { c: "1" }, RDS: { r: "c" } });
  await client.ack(CDS);
  assertEquals(client.last(RDS), ["r@b"]);
  await client.ack(RDS, ["r"]);
  assertEquals(client.session.transition?.since, bench.clock.now());
  await bench.clock.pass(6000);
  assertEquals([client.last(RDS), bench.overdue], [["r@b"], []]);
  await bench.clock.pass(4000);
  assertEquals([client.last(RDS), bench.overdue], [["r@c"], ["clusters"]]);
});

Deno.test("transitions: nothing is left to wait for when the stream is over", async () => {
  using bench = new Bench();
  const client = await inTransition(bench);
  client.stream.leave();
  await bench.clock.pass(2 * TRANSITION_LIMIT);
  assertEquals(bench.overdue, []);
});
