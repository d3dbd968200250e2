import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { judge } from "../../lib/receive/judge.ts";
import type { Judgement } from "../../lib/receive/received.ts";
import { ADS_PATHS } from "../../lib/transport/method_paths.ts";
import { pullNodeId, takesFromUs } from "../../lib/transport/pull_node.ts";
import type { ProtocolName } from "../../lib/transport/session_info.ts";
import { PullBench, SERVICE_ENTRY, sotwBench } from "./pulling.ts";

const DELTA = ADS_PATHS.delta;
const SOTW = ADS_PATHS.sotw;

Deno.test("pull stream: every kind is asked for in its newest version, by a node as istiod's, delta first", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  assertEquals(stream.path, DELTA);
  const requests = stream.requests();
  assertEquals(
    requests.map((request) => request.typeUrl),
    KINDS.map(({ group, versions, kind }) => `${group}/${versions[0]}/${kind}`),
  );
  const { node } = requests[0]!;
  assertEquals(node?.id, "sidecar~127.0.0.1~edge-1.pinnace~pinnace.svc.cluster.local");
  assertEquals(node?.metadata?.fields["GENERATOR"]?.stringValue, "api");
  assertEquals(requests.filter((request) => request.node !== undefined).length, 1);
});

Deno.test("pull stream: what comes is kept, then ACKed", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.requests();
  stream.respond("n1", ["shop/a@1", "shop/b@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a", "shop/b"]);
  const [ack] = stream.requests();
  assertEquals([ack?.responseNonce, ack?.errorDetail], ["n1", undefined]);
  stream.respond("n2", ["shop/c@1"], { removed: ["shop/a"] });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b", "shop/c"]);
  assertEquals(bench.log, ["up 192.0.2.1:15010 delta"]);
  const [status] = bench.pulls.status();
  assertEquals([status!.state.kind, status!.variant, status!.address], [
    "up",
    "delta",
    "192.0.2.1:15010",
  ]);
  assertEquals(status!.types.find(({ type }) => type === SERVICE_ENTRY)?.acks, 2);
});

Deno.test("pull stream: nothing is ACKed before it is kept", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.requests();
  const kept = Promise.withResolvers<void>();
  const connect = bench.registry.connect.bind(bench.registry);
  bench.registry.connect = (source) => {
    const connection = connect(source);
    assert("take" in connection);
    const { take } = connection;
    return { ...connection, take: (...args) => kept.promise.then(() => take(...args)) };
  };
  stream.fail("UNAVAILABLE: gone");
  await bench.pass(1000);
  bench.stream.requests();
  bench.stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  assertEquals(bench.stream.requests(), []);
  kept.resolve();
  await bench.rest();
  assertEquals(bench.stream.requests().map((request) => request.responseNonce), ["n1"]);
});

Deno.test("pull stream: what breaks a rule is refused as a whole, with the reason, and what was held stays", async () => {
  await using bench = await sotwBench();
  const { stream } = bench;
  stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  stream.requests();
  stream.respond("n2", ["shop/b@1", "without-namespace@1"]);
  await bench.rest();
  const [nack] = stream.requests();
  assertEquals([nack?.responseNonce, nack?.versionInfo], ["n2", "v-n1"]);
  assertStringIncludes(nack!.errorDetail!.message, "without-namespace");
  assertEquals(bench.registry.names(), ["shop/a"]);
  assertMatch(bench.registry.log.at(-1)!, /^refused n2/);
  stream.respond("n3", ["shop/c@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/c"]);
});

Deno.test("pull stream: reconnecting says what is held, so that only differences come", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1", ["shop/a@1", "shop/b@2"]);
  await bench.rest();
  stream.fail("UNAVAILABLE: gone");
  assertEquals(bench.registry.names(), ["shop/a", "shop/b"]);
  await bench.pass(1000);
  const [first, second] = bench.stream.requests();
  assertEquals({ ...first?.initialResourceVersions }, { "shop/a": "1", "shop/b": "2" });
  assertEquals({ ...second?.initialResourceVersions }, {});
  bench.stream.respond("m1", ["shop/c@1"], { removed: ["shop/a"] });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b", "shop/c"]);
});

Deno.test("pull stream: a server that pays no heed to what is held is asked for all there is", async () => {
  await using bench = new PullBench();
  (await bench.start()).respond("n1", ["shop/a@1", "shop/b@1"]);
  await bench.rest();
  bench.stream.fail("UNAVAILABLE: gone");
  await bench.pass(1000);
  bench.stream.respond("m1", ["shop/b@1"]); // shop/a is gone, and nobody says so
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a", "shop/b"]);
  await bench.pass(100);
  assertEquals(bench.stream.path, SOTW);
  bench.stream.respond("o1", ["shop/b@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b"]);
});

Deno.test("pull stream: after a refused difference the next one is not built upon; what is held is said anew", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  stream.respond("n2", ["shop/b@1", "bad@1"]);
  await bench.rest();
  stream.respond("n3", ["shop/c@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
  assert(stream.signal.aborted);
  await bench.pass(1000);
  const [first] = bench.stream.requests();
  assertEquals({ ...first?.initialResourceVersions }, { "shop/a": "1" });
  bench.stream.respond("m1", ["shop/b@2", "shop/c@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a", "shop/b", "shop/c"]);
});

Deno.test("pull stream: from oneself nothing is taken", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1", ["shop/a@1"], { controlPlane: "edge-1" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.signal.aborted], [[], true]);
  assertStringIncludes(bench.pulls.status()[0]!.lastError!, "this Pinnace itself");
});

Deno.test("pull stream: of two that pull from each other, the one whose name comes later gives way", async () => {
  const clients = new Set(["a", "z"].map((name) => pullNodeId(name)));
  await using bench = new PullBench({ serves: (id) => clients.has(id), instance: "m" });
  const stream = await bench.start();
  stream.respond("n1", ["shop/z@1"], { controlPlane: "z" });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/z"]);
  stream.respond("n2", ["shop/b@1"], { controlPlane: "b" }); // which does not pull
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b", "shop/z"]);
  stream.respond("n3", ["shop/a@1"], { controlPlane: "a" });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b", "shop/z"]);
  assertStringIncludes(bench.pulls.status()[0]!.lastError!, "let only one of them pull");
});

Deno.test("pull stream: only a client of ADS at the server's own address makes it one that pulls from us", async () => {
  const id = pullNodeId("a");
  const sessions: { protocol: ProtocolName; peer: { id: string }; address: string }[] = [
    { protocol: "ads-delta", peer: { id }, address: "192.0.2.66:4000" }, // a stranger
    { protocol: "mcp-source", peer: { id }, address: "192.0.2.1:4000" },
    { protocol: "ads", peer: { id: pullNodeId("z") }, address: "192.0.2.1:4001" },
  ];
  await using bench = new PullBench({
    serves: (nodeId, address) => takesFromUs(sessions, nodeId, address),
    instance: "m",
  });
  const stream = await bench.start(); // of 192.0.2.1
  stream.respond("n1", ["shop/a@1"], { controlPlane: "a" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.signal.aborted], [["shop/a"], false]);
  sessions.push({ protocol: "ads", peer: { id }, address: "[::ffff:192.0.2.1]:4002" });
  stream.respond("n2", ["shop/b@1"], { controlPlane: "a" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.signal.aborted], [["shop/a"], true]);
});

Deno.test("pull stream: what was not asked for is neither taken nor answered", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.requests();
  stream.respond("n1", ["shop/a@1"], { type: "networking.istio.io/v1alpha3/ServiceEntry" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.requests()], [[], []]);
});

Deno.test("pull stream: a response that cannot be answered, or read, ends the stream with a reason", async () => {
  await using bench = new PullBench();
  (await bench.start()).respond("", ["shop/a@1"]);
  await bench.rest();
  assertStringIncludes(bench.stream.ended!.message, "has no nonce");
  await bench.pass(1000);
  bench.stream.request(new Uint8Array([0x0a, 0xff]));
  await bench.rest();
  assertStringIncludes(bench.stream.ended!.message, "not a discovery response");
  assertEquals(bench.registry.names(), []);
});

Deno.test("pull stream: of full responses that wait, only the newest of a type is judged and ACKed", async () => {
  await using bench = await sotwBench();
  const { stream } = bench;
  stream.requests();
  for (const nonce of ["n1", "n2", "n3"]) stream.respond(nonce, [`shop/${nonce}@1`]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/n3"]);
  assertEquals(stream.requests().at(-1)?.responseNonce, "n3");
  assertEquals(bench.registry.log.includes("took n2"), false);
});

Deno.test("pull stream: what could not be kept is NACKed and asked for again", async () => {
  await using bench = await sotwBench();
  const { stream } = bench;
  stream.requests();
  bench.registry.fault = "disk full";
  stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  const [nack] = stream.requests();
  assertEquals([nack?.responseNonce, nack?.errorDetail?.message], ["n1", "disk full"]);
  assert(stream.signal.aborted);
  bench.registry.fault = undefined;
  await bench.pass(2000);
  bench.stream.respond("m1", ["shop/a@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
});

Deno.test("pull stream: a judge that fails ends the stream, with a reason, and is asked again", async () => {
  let works = false;
  await using bench = new PullBench({
    judge: (bytes, options) =>
      works ? Promise.resolve(judge(bytes, options)) : Promise.reject(new Error("it crashed")),
  });
  (await bench.start()).respond("n1", ["shop/a@1"]);
  await bench.rest();
  assertStringIncludes(bench.pulls.status()[0]!.lastError!, "could not be checked: it crashed");
  works = true;
  await bench.pass(1000);
  bench.stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
});

Deno.test("pull stream: a stream that ends while its response is judged keeps nothing and answers nothing", async () => {
  const judged = Promise.withResolvers<Judgement>();
  let given: Judgement | undefined;
  await using bench = new PullBench({
    judge: (bytes, options) => {
      given = judge(bytes, options);
      return judged.promise;
    },
  });
  const stream = await bench.start();
  stream.requests();
  stream.respond("n1", ["shop/a@1"]);
  await bench.rest();
  stream.fail("UNAVAILABLE: gone");
  judged.resolve(given!);
  await bench.rest();
  assertEquals([bench.registry.names(), stream.requests()], [[], []]);
  assertEquals(bench.pulls.status()[0]!.lastError, "UNAVAILABLE: gone");
});
