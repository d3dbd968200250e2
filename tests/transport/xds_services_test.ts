/**
 * CDS, EDS, LDS and RDS on a real port, with ordinary clients of another library.
 */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { XDS_TYPES, type XdsType, xdsType } from "../../lib/model/xds_type.ts";
import { xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { listen, type Listener } from "../../lib/transport/listener.ts";
import { xdsPaths } from "../../lib/transport/method_paths.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { addXdsServices } from "../../lib/transport/xds_services.ts";
import {
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  type DiscoveryRequest,
  discoveryRequestCodec,
  type DiscoveryResponse,
  discoveryResponseCodec,
  type Node,
  type Partially,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { Caller } from "./serving.ts";
import { now, until } from "./sockets.ts";
import { quietObserver } from "./quiet_observer.ts";

const ENVOY: Partially<Node> = { id: "e1", userAgentName: "envoy" };
const GRPC: Partially<Node> = { id: "g1", userAgentName: "gRPC Go" };

/** The services on a loopback port. */
class Served implements AsyncDisposable {
  readonly hub = new Hub();
  readonly #sender = new Sender({ now });
  readonly server: PushServer;
  readonly #listener: Listener;
  readonly caller: Caller;
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.#sender,
    clock: systemClock,
    observer: quietObserver,
  });

  private constructor(server: PushServer, listener: Listener) {
    this.server = server;
    this.#listener = listener;
    this.caller = new Caller(listener.address.port);
    addXdsServices(server, {
      sessions: this.sessions,
      instance: "test",
      typeUrls: xdsResolvers({
        empty: (type, name) => ({ name, version: `no ${type}`, bytes: new Uint8Array(0) }),
        variant: (routes) => routes,
      }),
    });
  }

  static async start(): Promise<Served> {
    const server = new PushServer({ now });
    return new Served(server, await listen({ host: "127.0.0.1", port: 0 }, server, { now }));
  }

  /** Publishes resources of every xDS type under these names, `name@version` each. */
  publish(...names: readonly string[]): void {
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
    this.hub.publish({ snapshot, changedAt: systemClock.now() });
  }

  async fetch(type: XdsType, request: Partially<DiscoveryRequest>): Promise<DiscoveryResponse> {
    const bytes = discoveryRequestCodec.encode(request);
    return discoveryResponseCodec.decode(await this.caller.unary(xdsPaths(type).fetch, bytes));
  }

  async [Symbol.asyncDispose]() {
    this.sessions[Symbol.dispose]();
    await this.caller[Symbol.asyncDispose]();
    await this.#listener[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await until(() => this.server.connections === 0, "every connection is closed");
    this.#sender[Symbol.dispose]();
  }
}

/** The resources of a response as they were published. */
function contents({ resources }: DiscoveryResponse): string[] {
  return resources.map(({ value }) => new TextDecoder().decode(value));
}

for (const type of XDS_TYPES) {
  const { name, shortName, typeUrl } = type;
  const names = type.wildcard ? [] : ["a", "b"];

  Deno.test(`${shortName}: a stream needs no type_url, and follows changes`, async () => {
    await using served = await Served.start();
    served.publish("a@1", "b@1");
    const call = served.caller.call(xdsPaths(type).stream);
    const ask = (responseNonce: string) =>
      call.send(discoveryRequestCodec.encode({ node: ENVOY, resourceNames: names, responseNonce }));
    ask("");
    await until(() => call.received.length === 1, "the first answer");
    const first = discoveryResponseCodec.decode(call.received[0]!);
    assertEquals([first.typeUrl, contents(first)], [typeUrl, [`${name} a@1`, `${name} b@1`]]);
    assertEquals(first.resources.map((one) => one.typeUrl), [typeUrl, typeUrl]);
    assertEquals(first.controlPlane?.identifier, "test");
    ask(first.nonce);
    await until(() => served.sessions.list()[0]!.subscriptions()[0]?.acks === 1, "the ACK");
    served.publish("a@2", "b@1");
    await until(() => call.received.length === 2, "the change");
    const second = discoveryResponseCodec.decode(call.received[1]!);
    assertEquals(contents(second), [`${name} a@2`, `${name} b@1`]);
    assertEquals(served.sessions.list()[0]!.kind, "envoy");
  });

  Deno.test(`${shortName}: a delta stream needs no type_url, and gives what changed`, async () => {
    await using served = await Served.start();
    served.publish("a@1", "b@1");
    const call = served.caller.call(xdsPaths(type).delta);
    call.send(
      deltaDiscoveryRequestCodec.encode({
        node: ENVOY,
        typeUrl,
        resourceNamesSubscribe: names,
        initialResourceVersions: { a: "1" },
      }),
    );
    await until(() => call.received.length === 1, "the first answer");
    const first = deltaDiscoveryResponseCodec.decode(call.received[0]!);
    const got = first.resources.map((one) => one.name);
    assertEquals([first.typeUrl, got], [typeUrl, type.wildcard ? ["b"] : ["a", "b"]]);
    call.send(deltaDiscoveryRequestCodec.encode({ responseNonce: first.nonce }));
    await until(() => served.sessions.list()[0]!.subscriptions()[0]?.acks === 1, "the ACK");
    served.publish("a@1");
    await until(() => call.received.length === 2, "the change");
    const second = deltaDiscoveryResponseCodec.decode(call.received[1]!);
    assertEquals([second.resources, second.removedResources], [[], ["b"]]);
  });

  Deno.test(`${shortName}: another type is refused with the service that serves it`, async () => {
    await using served = await Served.start();
    served.publish("a@1");
    const other = XDS_TYPES.find((one) => one !== type)!;
    for (const path of [xdsPaths(type).stream, xdsPaths(type).delta]) {
      const call = served.caller.call(path);
      const codec = path === xdsPaths(type).stream
        ? discoveryRequestCodec
        : deltaDiscoveryRequestCodec;
      call.send(codec.encode({ node: ENVOY, typeUrl: other.typeUrl }));
      const { code, details } = await call.ended();
      assertEquals(code, 3);
      assertStringIncludes(details, type.service);
      assertStringIncludes(details, other.service);
    }
    const request = {
      node: ENVOY,
      typeUrl: "networking.istio.io/v1/ServiceEntry",
      resourceNames: ["a"],
    };
    const error = await assertRejects(() => served.fetch(type, request), Error, "alone");
    assertEquals((error as Error & { code: number }).code, 3);
  });

  Deno.test(`${shortName}: a fetch is answered in full, whatever version it claims`, async () => {
    await using served = await Served.start();
    served.publish("a@1", "b@1", "c@1");
    const first = await served.fetch(type, { node: ENVOY, resourceNames: names });
    const all = ["a", "b", ...(type.wildcard ? ["c"] : [])].map((one) => `${name} ${one}@1`);
    assertEquals([first.typeUrl, contents(first)], [typeUrl, all]);
    assertEquals(first.controlPlane?.identifier, "test");
    const again = await served.fetch(type, {
      node: ENVOY,
      typeUrl,
      resourceNames: names,
      versionInfo: first.versionInfo,
      responseNonce: first.nonce,
      errorDetail: { code: 3 },
    });
    assertEquals([contents(again), again.versionInfo], [all, first.versionInfo]);
    assertEquals(served.sessions.list(), []);
    assertEquals(again.nonce === first.nonce, false);
  });
}

Deno.test("fetch: what asks for nothing that can be given hears what to ask for", async () => {
  await using served = await Served.start();
  const refusal = async (type: XdsType, request: Partially<DiscoveryRequest>) => {
    const error = await assertRejects(() => served.fetch(type, request), Error);
    return [(error as Error & { code: number }).code, error.message] as const;
  };
  served.publish("a@1");
  const eds = await refusal(xdsType("ClusterLoadAssignment"), { node: ENVOY });
  assertEquals(eds[0], 3);
  assertStringIncludes(eds[1], "EDS is asked for by resource_names");
  const grpc = await refusal(xdsType("Cluster"), { node: GRPC });
  assertEquals(grpc[0], 3);
  assertStringIncludes(grpc[1], "grpc");
  const wildcard = { node: GRPC, resourceNames: ["*"] };
  const [code, message] = await refusal(xdsType("Cluster"), wildcard);
  assertEquals(code, 3);
  assertStringIncludes(message, "none of these resource_names");
  const anonymous = await refusal(xdsType("Cluster"), {});
  assertEquals(anonymous[0], 3);
  assertStringIncludes(anonymous[1], "node.id");
  const istiod = { id: "sidecar~i", metadata: { fields: { GENERATOR: { stringValue: "api" } } } };
  assertEquals((await refusal(xdsType("Cluster"), { node: istiod }))[0], 3);
});

Deno.test("fetch: what comes before there is anything to serve is answered as soon as there is", async () => {
  await using served = await Served.start();
  const fetching = served.fetch(xdsType("Cluster"), { node: ENVOY });
  const gone = served.caller.call(xdsPaths(xdsType("Cluster")).fetch);
  gone.send(discoveryRequestCodec.encode({ node: ENVOY })).raw.end();
  await until(() => served.server.streams === 2, "both are asked");
  gone.raw.cancel();
  await until(() => served.server.streams === 1, "one is given up");
  served.publish("a@1");
  assertEquals(contents(await fetching), ["Cluster a@1"]);
});

Deno.test("fetch: names that are not there are left out, and an empty answer is one", async () => {
  await using served = await Served.start();
  served.publish("a@1");
  for (const type of XDS_TYPES) {
    const some = await served.fetch(type, { node: GRPC, resourceNames: ["a", "no-such"] });
    assertEquals(contents(some), [`${type.name} a@1`]);
    const none = await served.fetch(type, { node: GRPC, resourceNames: ["no-such"] });
    assertEquals(none.resources, []);
  }
});

Deno.test("fetch: a hundred at once are all answered, and nothing of them is left", async () => {
  await using served = await Served.start();
  served.publish(...Array.from({ length: 200 }, (_, i) => `service-${i}@1`));
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => served.fetch(xdsType("Cluster"), { node: ENVOY })),
  );
  assertEquals(new Set(answers.map(({ resources }) => resources.length)), new Set([200]));
  await until(() => served.server.streams === 0, "every call is over");
});
