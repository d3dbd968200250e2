/** Pulling over real connections: from our own server, and from one that does what it likes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import net from "node:net";
import { KINDS } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { ADS_PATHS } from "../../lib/transport/method_paths.ts";
import type { PullTarget } from "../../lib/transport/pull_link.ts";
import { takesFromUs } from "../../lib/transport/pull_node.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { discoveryResponseCodec } from "../../lib/wire/messages.ts";
import { converted } from "../receive/pushes.ts";
import { frame, FrameType, goaway, settings } from "./frames.ts";
import { SERVICE_ENTRY } from "./pulling.ts";
import { messageOf, Serving } from "./serving.ts";
import { Relay } from "./relay.ts";
import { at, Downstream, namesOf, Upstream } from "./tiers.ts";
import { until } from "./sockets.ts";

/** Answers of a Pinnace that has service entries alone: of an empty kind every version is asked for. */
const ANSWERS = KINDS.reduce(
  (sum, { kind, versions }) => sum + (kind === "ServiceEntry" ? 1 : versions.length),
  0,
);

Deno.test("pull, served: from a Pinnace comes all there is, then what changed, and every push is ACKed", async () => {
  await using upstream = await Upstream.start("upstream");
  await using downstream = new Downstream();
  const target = at(upstream.port);
  const entries = converted(300);
  upstream.publish(entries);
  downstream.pulls.configure([target]);
  await until(() => upstream.acks === ANSWERS, "every kind is ACKed");
  assertEquals(namesOf(downstream, target), entries.map(({ name }) => name).sort());
  upstream.publish([...entries.slice(1, -1), ...converted(300, "b").slice(-1)]);
  await until(() => upstream.acks === ANSWERS + 1, "the change is ACKed");
  assertEquals(namesOf(downstream, target).length, 299);
  assertEquals(upstream.pushes, [300, 1]);
  assertEquals(downstream.log, ["up delta"]);
  assertEquals(upstream.events.filter(({ kind }) => kind === "nack" || kind === "stale"), []);
});

Deno.test("pull, served: after a reconnect only what changed meanwhile is sent", async () => {
  await using upstream = await Upstream.start("upstream");
  await using downstream = new Downstream();
  const target = at(upstream.port);
  const entries = converted(100);
  upstream.publish(entries);
  downstream.pulls.configure([target]);
  await until(() => upstream.acks === ANSWERS, "every kind is ACKed");
  downstream.pulls.configure([]);
  await until(() => upstream.streams === 0, "the stream is over");
  upstream.publish(entries.slice(2));
  downstream.pulls.configure([target]);
  await until(() => namesOf(downstream, target).length === 98, "the difference came");
  assertEquals(upstream.pushes, [100, 0]);
});

Deno.test("pull, served: from oneself nothing is taken", async () => {
  await using upstream = await Upstream.start("one");
  await using downstream = new Downstream("one");
  upstream.publish(converted(3));
  downstream.pulls.configure([at(upstream.port)]);
  await until(() => downstream.log.length > 0, "it is noticed");
  assertMatch(downstream.log[0]!, /^down: the server is this Pinnace itself/);
  assertEquals(namesOf(downstream, at(upstream.port)), []);
});

Deno.test("pull, served: of two that pull from each other, the one whose name comes later gives way", async () => {
  await using a = await Upstream.start("a");
  await using b = await Upstream.start("b");
  const serves = (nodeId: string, address: string) =>
    takesFromUs(b.sessions.list(), nodeId, address);
  await using ofA = new Downstream("a");
  await using ofB = new Downstream("b", { serves });
  a.publish(converted(3, "a"));
  b.publish(converted(3, "b"));
  ofA.pulls.configure([at(b.port)]);
  await until(() => namesOf(ofA, at(b.port)).length === 3, "a has what b gives");
  ofB.pulls.configure([at(a.port)]);
  await until(() => ofB.log.some((line) => line.startsWith("down")), "it is noticed");
  assertMatch(ofB.log.at(-1)!, /^down: the server, a, pulls from this Pinnace, b: /);
  assertEquals(namesOf(ofB, at(a.port)), []);
});

Deno.test("pull, served: where the path goes black the source is away, and dialled anew; what it gave stays", async () => {
  await using upstream = await Upstream.start("upstream");
  await using relay = await Relay.start(upstream.port);
  await using downstream = new Downstream("downstream", { ping: { every: 200, within: 2000 } });
  const target = at(relay.port);
  upstream.publish(converted(3));
  downstream.pulls.configure([target]);
  await until(() => namesOf(downstream, target).length === 3, "all came");
  await until(() => relay.pings >= 2, "signs of life are asked for");
  assertEquals([downstream.log, downstream.registry.connected], [["up delta"], 1]);
  relay.black = true;
  await until(() => downstream.log.length > 1, "it is noticed");
  assertMatch(downstream.log[1]!, /^down: the server gave no sign of life within 2 s/);
  assertEquals(downstream.registry.connected, 0);
  assertEquals(namesOf(downstream, target).length, 3);
  relay.black = false;
  upstream.publish(converted(4));
  await until(() => namesOf(downstream, target).length === 4, "it is pulled from again", 15_000);
});

Deno.test("pull, served: tiers that pull from each other come to rest, and send nothing that did not change", async () => {
  await using a = await Upstream.start("a");
  await using b = await Upstream.start("b");
  await using ofA = new Downstream("a");
  await using ofB = new Downstream("b");
  const own = { a: converted(4), b: [] as Resource[] };
  const unite = (
    upstream: Upstream,
    mine: Resource[],
    downstream: Downstream,
    from: PullTarget,
  ) => {
    const versions = downstream.registry.sets.get(from.url)?.get("ServiceEntry");
    const pulled = converted(9).filter(({ name }) => versions?.has(name));
    const names = new Set(mine.map(({ name }) => name));
    upstream.publish([...mine, ...pulled.filter(({ name }) => !names.has(name))]);
  };
  const publish = () => {
    unite(a, own.a, ofA, at(b.port));
    unite(b, own.b, ofB, at(a.port));
  };
  for (const [{ registry }] of [[ofA], [ofB]] as const) {
    const connect = registry.connect.bind(registry);
    registry.connect = (source) => {
      const connection = connect(source);
      assert("take" in connection);
      const { take } = connection;
      return {
        ...connection,
        take: async (...args) => {
          const taken = await take(...args);
          publish();
          return taken;
        },
      };
    };
  }
  publish();
  ofA.pulls.configure([at(b.port)]);
  ofB.pulls.configure([at(a.port)]);
  await until(() => namesOf(ofA, at(b.port)).length === 4, "what a has came back from b");
  own.b = converted(6).slice(4);
  publish();
  await until(() => namesOf(ofB, at(a.port)).length === 6, "what b has came back from a");
  await until(() => a.acks + b.acks >= 2 * ANSWERS + 2, "all is ACKed");
  const before = { pushes: a.pushes.length + b.pushes.length, acks: a.acks + b.acks };
  for (const count of [7, 8]) {
    publish(); // nothing new
    own.b = converted(count).slice(4);
    publish();
    await until(() => namesOf(ofB, at(a.port)).length === count, "the change went round");
  }
  await until(() => a.acks + b.acks >= before.acks + 4, "all is ACKed");
  // Each change goes to the other once and comes back once.
  assertEquals(a.pushes.length + b.pushes.length, before.pushes + 4);
});

/** A server of one variant of ADS. */
async function serveAds(
  variant: "sotw" | "delta",
  opened: (stream: PushStream) => void,
): Promise<Serving> {
  const serving = await Serving.start();
  serving.server.addStream(ADS_PATHS[variant], opened);
  return serving;
}

Deno.test("pull, served: a server without the delta variant is asked for all there is at once", async () => {
  const asked: string[] = [];
  await using serving = await serveAds("sotw", (stream) => {
    stream.onRequest(() => {
      if (asked.push("request") > 1) return;
      const response = { typeUrl: SERVICE_ENTRY, nonce: "1", versionInfo: "1" };
      stream.write(messageOf(discoveryResponseCodec.encode(response))).catch(() => {});
    });
  });
  await using downstream = new Downstream();
  downstream.pulls.configure([at(serving.port)]);
  await until(() => downstream.log.at(-1) === "up sotw", "it answers");
  assertMatch(downstream.log[0]!, /^learned: UNIMPLEMENTED/);
  await until(() => asked.length > KINDS.length, "its response is ACKed");
});

Deno.test("pull, served: a server that names the type that it refuses is asked for another version", async () => {
  const streams: PushStream[] = [];
  await using serving = await serveAds("delta", (stream) => {
    streams.push(stream);
    if (streams.length > 1) return;
    stream.onRequest(() => {
      stream.end({ code: "INVALID_ARGUMENT", message: `no ${SERVICE_ENTRY} here` });
    });
  });
  await using downstream = new Downstream();
  downstream.pulls.configure([at(serving.port)]);
  await until(() => streams.length === 2, "it is dialled again");
  const types = () => downstream.pulls.status()[0]!.types;
  await until(() => types()[0]?.type === "networking.istio.io/v1beta1/ServiceEntry", "older asked");
});

for (
  const [what, bytes] of [
    ["GOAWAY", [...goaway(0, 0)]],
    ["no HTTP/2", [...new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n")]],
    ["a frame that makes no sense", [...frame(FrameType.pushPromise, 0, 1, new Uint8Array(4))]],
  ] as const
) {
  Deno.test(`pull, served: a server that answers with ${what} is dialled again, and said why`, async () => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {}).on("data", () => {});
      socket.write(Buffer.from([...what === "no HTTP/2" ? [] : settings(), ...bytes]));
    });
    server.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as net.AddressInfo;
    const downstream = new Downstream();
    try {
      downstream.pulls.configure([at(port)]);
      await until(() => downstream.log.length >= 2, "it is dialled again", 10_000);
      assert(downstream.log.every((line) => line.startsWith("down: ")), downstream.log.join());
    } finally {
      await downstream[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
}
