import { assert, assertEquals, assertMatch } from "@std/assert";
import { TokenIndex } from "../../lib/transport/token_index.ts";
import { FakeClock } from "./fakes.ts";
import { Bench, ENTRIES, judge, OwnSource, RawSource, WORKLOADS } from "./receiving_bench.ts";
import { until } from "./sockets.ts";

Deno.test("receiver: our own dial-out arrives, change by change, and is resumed where it stood", async () => {
  await using bench = await Bench.start();
  {
    await using source = new OwnSource(bench.serving.port, "edge-1");
    source.publish({ "shop/a": "1", "shop/b": "1" });
    await until(() => bench.entries("edge-1")?.["shop/b"] === "1", "the first set is kept");
    source.publish({ "shop/a": "2" });
    await until(() => bench.entries("edge-1")?.["shop/a"] === "2", "the change is kept");
    assertEquals(bench.entries("edge-1"), { "shop/a": "2" });
    await until(() => source.events.filter((e) => e === `ack ${ENTRIES}`).length === 2, "2 ACKs");
    assert(source.events.includes(`sent ${ENTRIES} delta`), "as a difference");
  }
  await until(() => bench.receiver.list().length === 0, "the stream is over");
  await using again = new OwnSource(bench.serving.port, "edge-1");
  again.publish({ "shop/c": "1" });
  await until(() => bench.entries("edge-1")?.["shop/c"] === "1", "what changed meanwhile is kept");
  assertEquals(bench.entries("edge-1"), { "shop/c": "1" });
  assert(!again.events.includes(`sent ${ENTRIES} full`), "as a difference");
});

Deno.test("receiver: our own dial-out hears why a push was refused, and what follows is taken", async () => {
  await using bench = await Bench.start();
  await using source = new OwnSource(bench.serving.port, "edge-1");
  source.publish({ "shop/a": "bad" });
  await until(() => source.events.includes(`nack ${ENTRIES} shop/a: it is bad`), "the reason");
  assertEquals(bench.entries("edge-1"), undefined);
  source.publish({ "shop/a": "good" });
  await until(() => bench.entries("edge-1")?.["shop/a"] === "good", "the repaired one is kept");
});

Deno.test("receiver: two sources have a set each", async () => {
  await using bench = await Bench.start();
  await using one = new OwnSource(bench.serving.port, "edge-1");
  await using two = new OwnSource(bench.serving.port, "edge-2");
  one.publish({ "shop/a": "1" });
  two.publish({ "shop/a": "2" });
  await until(() => bench.entries("edge-1") !== undefined, "one's set");
  await until(() => bench.entries("edge-2") !== undefined, "two's set");
  assertEquals([bench.entries("edge-1"), bench.entries("edge-2")], [
    { "shop/a": "1" },
    { "shop/a": "2" },
  ]);
});

Deno.test("receiver: requests come first, each push is answered after it was saved, the trigger as Istio does", async () => {
  await using bench = await Bench.start();
  const saving = Promise.withResolvers<void>();
  bench.saving = saving.promise;
  await using source = new RawSource(bench.serving.port);
  source.push("", [], { collection: "$triggerCollection" });
  await source.hears("-  12 unsupported collection $triggerCollection");
  assertEquals(source.said.slice(0, 2), [`? ${ENTRIES}`, `? ${WORKLOADS}`]);
  assertEquals(source.requests[0]!.sinkNode!.id, "receiver-1");
  source.push("1", ["shop/a@1"]);
  await until(() => bench.log.includes("push 1 accepted"), "it is judged");
  assertEquals(source.said.length, 3);
  saving.resolve();
  await source.hears("+ 1");
  assertEquals(bench.entries("127.0.0.1"), { "shop/a": "1" });
  source.push("2", ["shop/b@1"], { collection: "k8s/apps/v1/deployments" });
  await source.hears("- 2 12 unsupported collection k8s/apps/v1/deployments");
  assertEquals(bench.log.filter((line) => line.includes(" 2 ")), [], "it is nobody's push");
});

Deno.test("receiver: who may not come hears why, and nobody is connected", async () => {
  const from = [{ source: "edge-*", namespaces: ["shop"] }];
  const naming = { tokens: () => new TokenIndex([["edge-a", "secret"]]), unproven: false, from };
  await using bench = await Bench.start({ naming });
  const cases = [
    [{}, 16, /client certificate or a token/],
    [{ "x-pinnace-instance": "edge-1" }, 16, /client certificate or a token/],
    [{ authorization: "Bearer wrong" }, 16, /no source with this token/],
  ] as const;
  for (const [headers, code, why] of cases) {
    await using source = new RawSource(bench.serving.port, headers);
    const status = await source.call.ended();
    assertEquals(status.code, code);
    assertMatch(status.details, why);
  }
  assertEquals(bench.connected, []);
  assertEquals(bench.log.length, cases.length);
  await using source = new RawSource(bench.serving.port, { authorization: "Bearer secret" });
  await source.hears(`? ${ENTRIES}`);
  const [{ name, namedBy, namespaces, address }] = bench.connected as [
    typeof bench.connected[0] & object,
  ];
  assertEquals([name, namedBy, namespaces, address], ["edge-a", "token", ["shop"], "127.0.0.1"]);
});

Deno.test("receiver: a source that the registry turns away hears the reason", async () => {
  await using bench = await Bench.start();
  bench.refused = "there are too many sources";
  await using source = new RawSource(bench.serving.port);
  assertEquals(await source.call.ended(), { code: 7, details: "there are too many sources" });
});

Deno.test("receiver: a second stream of one name takes the place of the first", async () => {
  await using bench = await Bench.start();
  await using first = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  await first.hears(`? ${ENTRIES}`);
  await using second = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  const status = await first.call.ended();
  assertEquals([status.code, status.details], [10, "another stream of this source took its place"]);
  second.push("1", ["shop/a@1"]);
  await second.hears("+ 1");
  assertEquals(bench.receiver.list().map(({ source, key }) => [source, key]), [["edge-1", 2]]);
  assertEquals(bench.sources.get("edge-1")!.streams, 1);
});

Deno.test("receiver: two sources of one name that keep taking each other's place: the one that has it stays", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  await using sources = new AsyncDisposableStack();
  const dial = async () => {
    const source = sources.use(new RawSource(bench.serving.port, { "x-pinnace-instance": "edge" }));
    await until(() => source.said.length > 0 || source.call.status !== undefined, "an answer");
    return source;
  };
  let current = await dial();
  for (let times = 0; times < 5; times++) {
    const next = await dial();
    assertEquals((await current.call.ended()).code, 10);
    current = next;
  }
  const late = await dial();
  const { code, details } = await late.call.ended();
  assertEquals(code, 7);
  assertMatch(details, /edge is connected from 127\.0\.0\.1:\d+, .* give each a name of its own/);
  for (let times = 0; times < 10; times++) {
    await clock.pass(30_000);
    assertEquals((await (await dial()).call.ended()).code, 7);
  }
  current.push("1");
  await current.hears("+ 1");
  await clock.pass(60_000);
  assertEquals((await dial()).call.status, undefined);
});

Deno.test("receiver: what an ended stream was still saving is not acknowledged, and not applied", async () => {
  await using bench = await Bench.start();
  const saving = Promise.withResolvers<void>();
  bench.saving = saving.promise;
  await using first = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  first.push("1", ["shop/old@1"]);
  await until(() => bench.log.includes("push 1 accepted"), "it is judged");
  bench.saving = undefined;
  await using second = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  await first.call.ended();
  second.push("1", ["shop/new@1"]);
  await second.hears("+ 1");
  saving.resolve();
  second.push("2", ["shop/new@2"]);
  await second.hears("+ 2");
  assertEquals(bench.entries("edge-1"), { "shop/new": "2" });
  assertEquals(bench.log.filter((line) => line.startsWith("acked")), ["acked 1", "acked 2"]);
});

Deno.test("receiver: a trigger is answered while a push is judged", async () => {
  const judging = Promise.withResolvers<void>();
  await using bench = await Bench.start({
    judge: async (...args) => {
      await judging.promise;
      return await judge(...args);
    },
  });
  await using source = new RawSource(bench.serving.port);
  source.push("1").push("", [], { collection: "$triggerCollection" });
  await source.hears("-  12 unsupported collection $triggerCollection");
  source.call.send(new Uint8Array()); // as before April 2019
  await source.hears("-  12 unsupported collection ");
  assert(!source.said.includes("+ 1"));
  judging.resolve();
  await source.hears("+ 1");
});

Deno.test("receiver: a source that never answers keeps its stream and holds nobody up", async () => {
  await using bench = await Bench.start();
  await using silent = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  await silent.hears(`? ${WORKLOADS}`);
  await using other = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-2" });
  other.push("1");
  await other.hears("+ 1");
  assertEquals(silent.call.status, undefined);
  const [info] = bench.receiver.list();
  assertEquals(info!.collections().map(({ requested, acks }) => [requested, acks]), [
    [true, 0],
    [true, 0],
  ]);
});

Deno.test("receiver: a source that leaves while its push is judged leaves nothing behind", async () => {
  const judging = Promise.withResolvers<void>();
  let aborted = false;
  await using bench = await Bench.start({
    judge: async (bytes, options, signal) => {
      signal.addEventListener("abort", () => aborted = true);
      await judging.promise;
      return await judge(bytes, options, signal);
    },
  });
  {
    await using source = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
    source.push("1", ["shop/a@1"]);
    await until(() => bench.receiver.list()[0]?.bytesReceived! > 0, "it came");
  }
  await until(() => bench.sources.get("edge-1")!.streams === 0, "the stream is over");
  assert(aborted);
  judging.resolve();
  await using next = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  next.push("2", ["shop/b@1"]);
  await next.hears("+ 2");
  assertEquals(bench.entries("edge-1"), { "shop/b": "1" });
  assertEquals(bench.log.filter((line) => line.includes(" 1")), []);
});

Deno.test("receiver: disposing it while a push is judged ends the streams and waits for the judge", async () => {
  const judging = Promise.withResolvers<void>();
  const bench = await Bench.start({
    judge: async (bytes, options, signal) => {
      await judging.promise;
      return await judge(bytes, options, signal);
    },
  });
  await using source = new RawSource(bench.serving.port);
  source.push("1", ["shop/a@1"]);
  await until(() => bench.receiver.list()[0]?.bytesReceived! > 0, "it came");
  let disposed = false;
  const disposing = bench.receiver[Symbol.asyncDispose]().then(() => disposed = true);
  assertEquals(await source.call.ended(), { code: 14, details: "shutting down" });
  assert(!disposed);
  judging.resolve();
  await disposing;
  assertEquals(bench.entries("127.0.0.1"), undefined);
  await using late = new RawSource(bench.serving.port);
  assertEquals((await late.call.ended()).code, 14);
  await bench[Symbol.asyncDispose]();
});

Deno.test("receiver: status tells of each stream who, from where, since when, and what of each collection", async () => {
  await using bench = await Bench.start();
  const before = Date.now();
  await using source = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  source.push("1", ["shop/a@1"]).push("2", ["shop/a@bad"]);
  await source.hears("- 2 3 shop/a: it is bad");
  const [info] = bench.receiver.list();
  assertEquals([info!.source, info!.namedBy, info!.instance], ["edge-1", "instance", "edge-1"]);
  assertMatch(info!.address, /^127\.0\.0\.1:\d+$/);
  assert(info!.openedAt >= before && info!.openedAt <= Date.now());
  assert(info!.bytesReceived > 0);
  const { lastPushAt, ...entries } = info!.collections()[0]!;
  assertEquals(entries, {
    collection: ENTRIES,
    requested: true,
    version: "v1",
    unanswered: 0,
    acks: 1,
    nacks: 1,
    lastNack: "shop/a: it is bad",
  });
  assert(lastPushAt! >= info!.openedAt);
  await source[Symbol.asyncDispose]();
  await until(() => bench.log.includes("closed edge-1: left"), "its end is told");
  assertEquals(bench.log, [
    "opened edge-1",
    "push 1 accepted",
    "acked 1",
    "push 2 refused",
    "refused shop/a: it is bad",
    "nacked 2 3 shop/a: it is bad",
    "closed edge-1: left",
  ]);
});
