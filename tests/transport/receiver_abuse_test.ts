import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Judge } from "../../lib/receive/received.ts";
import { RESOURCE_SINK_PATH } from "../../lib/transport/sink_link.ts";
import { resourcesCodec } from "../../lib/wire/messages.ts";
import { FakeClock, FakeStream } from "./fakes.ts";
import { concat, data, grpcRequest, headers, PREFACE, settings } from "./frames.ts";
import { Bench, ENTRIES, judge, RawSource, WORKLOADS } from "./receiving_bench.ts";
import { RawPeer, until } from "./sockets.ts";

Deno.test("receiver: a message that is none ends the stream, and only that", async () => {
  await using bench = await Bench.start();
  await using good = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  await using bad = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-2" });
  bad.call.send(new Uint8Array([0xff, 0xff, 0xff]));
  assertEquals((await bad.call.ended()).code, 3);
  good.push("1");
  await good.hears("+ 1");
});

Deno.test("receiver: a message beyond the limit ends the stream", async () => {
  await using bench = await Bench.start();
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${ENTRIES}`);
  source.call.send(new Uint8Array(17 * 1024 * 1024));
  assertEquals((await source.call.ended()).code, 8);
  await until(() => bench.receiver.list().length === 0, "the stream is over");
});

Deno.test("receiver: a source that sends more than can be kept is ended, by number and by bytes", async () => {
  const never: Judge = (_, __, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const cases = [{ messages: 3, bytes: 1e9 }, { messages: 1e6, bytes: 6500 }];
  for (const inbox of cases) {
    await using bench = await Bench.start({ judge: never, inbox });
    await using source = new RawSource(bench.serving.port);
    for (let i = 0; i < 3; i++) source.push("n".repeat(900));
    await until(() => bench.receiver.list()[0]?.bytesReceived! > 5000, "three came");
    source.push("n".repeat(900));
    const { code, details } = await source.call.ended();
    assertEquals(code, 8);
    assertMatch(details, /wait for the answer/);
  }
});

Deno.test("receiver: where sources together send more than can be kept, the one with the most is ended", async () => {
  const never: Judge = (_, __, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  await using bench = await Bench.start({ judge: never, room: 5000 });
  await using one = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-1" });
  await using two = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-2" });
  one.push("n".repeat(900));
  for (let i = 0; i < 4; i++) two.push("n".repeat(900));
  const { code, details } = await two.call.ended();
  assertEquals(code, 8);
  assertMatch(details, /this one the most/);
  assertEquals(bench.receiver.list().map(({ source }) => source), ["edge-1"]);
});

Deno.test("receiver: pushes of one collection without waiting for answers are ended", async () => {
  await using bench = await Bench.start();
  await using source = new RawSource(bench.serving.port);
  // refused again and again: each answer is later than the one before
  for (let i = 0; i < 6; i++) source.push(`${i}`, ["shop/a@bad"]);
  const { code, details } = await source.call.ended();
  assertEquals(code, 8);
  assertMatch(details, /too many pushes without waiting/);
});

Deno.test("receiver: of a push that breaks off in the middle nothing is taken, and the source is away", async () => {
  await using bench = await Bench.start();
  const push = resourcesCodec.encode({
    collection: ENTRIES,
    nonce: "1",
    resources: [{ metadata: { name: "shop/a", version: "1".repeat(50_000) } }],
  });
  {
    await using peer = new RawPeer(bench.serving.port);
    const head = new Uint8Array(5);
    new DataView(head.buffer).setUint32(1, push.length);
    peer.socket.write(concat(
      PREFACE,
      settings(),
      headers(1, grpcRequest(RESOURCE_SINK_PATH)),
      data(1, head),
      data(1, push.subarray(0, 10_000)),
    ));
    await until(() => bench.receiver.list().length === 1, "the stream is open");
  }
  await until(() => bench.sources.get("127.0.0.1")!.streams === 0, "the source is away");
  assertEquals(bench.log, ["opened 127.0.0.1", "closed 127.0.0.1: left"]);
  assertEquals(bench.entries("127.0.0.1"), undefined);
});

Deno.test("receiver: a push that could not be judged is refused for now, and the source is made to come again", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({
    clock,
    judge: () => Promise.reject(new Error("the worker died")),
  });
  await using source = new RawSource(bench.serving.port);
  source.push("1");
  await source.hears("- 1 14 the worker died");
  assert(bench.log.includes("refused the worker died"));
  await clock.pass(999);
  assertEquals(source.call.status, undefined);
  await clock.pass(1);
  const { code, details } = await source.call.ended();
  assertEquals([code, details], [14, "come again: the worker died"]);
});

Deno.test("receiver: what was not asked for is not judged", async () => {
  let judged = 0;
  await using bench = await Bench.start({
    judge: (...args) => {
      judged++;
      return judge(...args);
    },
  });
  await using source = new RawSource(bench.serving.port);
  source.push("n".repeat(900), ["shop/a@1"], { collection: "k8s/core/v1/pods" });
  await until(() => source.said.some((text) => text.includes("unsupported collection")), "no");
  assertEquals(judged, 0);
  source.push("1", ["shop/a@1"]);
  await source.hears("+ 1");
  assertEquals(judged, 1);
});

Deno.test("receiver: what could not be saved is refused, and the source is made to come again", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  bench.unsaved = "no space left on device";
  await using source = new RawSource(bench.serving.port);
  source.push("1", ["shop/a@1"]);
  await source.hears("- 1 14 no space left on device");
  await clock.pass(999);
  assertEquals(source.call.status, undefined);
  await clock.pass(1);
  const { code, details } = await source.call.ended();
  assertEquals([code, details], [14, "come again: no space left on device"]);
  assertEquals(bench.entries("127.0.0.1"), undefined);
});

Deno.test("receiver: a source whose pushes can never be saved comes again ever later", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  bench.unsaved = "no space left on device";
  for (const pause of [1000, 2000, 4000]) {
    await using source = new RawSource(bench.serving.port);
    source.push("1", ["shop/a@1"]);
    await source.hears("- 1 14 no space left on device");
    await clock.pass(pause - 1);
    assertEquals(source.call.status, undefined);
    await clock.pass(1);
    await source.call.ended();
  }
});

Deno.test("receiver: a later push that can be saved makes up for the one that could not", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  bench.unsaved = "no space left on device";
  await using source = new RawSource(bench.serving.port);
  source.push("1", ["shop/a@1"]);
  await source.hears("- 1 14 no space left on device");
  bench.unsaved = undefined;
  source.push("2", ["shop/a@1"]);
  await source.hears("+ 2");
  await clock.pass(60_000);
  source.push("3");
  await source.hears("+ 3");
});

Deno.test("receiver: a source that sends at once what was refused is slowed down, others of its collections are not", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  await using source = new RawSource(bench.serving.port);
  source.push("1", ["shop/a@bad"]);
  await source.hears("- 1 3 shop/a: it is bad");
  const pauses = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
  for (const [index, pause] of pauses.entries()) {
    source.push(`again ${index}`, ["shop/a@bad"]);
    source.push(`other ${index}`, [], { collection: WORKLOADS });
    await source.hears(`+ other ${index}`);
    await clock.pass(pause - 1);
    assert(!source.said.some((text) => text.startsWith(`- again ${index}`)), "it waits");
    await clock.pass(1);
    await source.hears(`- again ${index} 3 shop/a: it is bad`);
  }
  source.push("good", ["shop/a@1"]);
  await source.hears("+ good");
  source.push("last", ["shop/a@bad"]);
  await source.hears("- last 3 shop/a: it is bad"); // at once: it was good in between
});

Deno.test("receiver: a storm of triggers is answered ever slower", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  await using source = new RawSource(bench.serving.port);
  const answers = () => source.said.filter((text) => text.startsWith("- ")).length;
  for (let i = 0; i < 8; i++) source.push("", [], { collection: "$triggerCollection" });
  for (const [index, pause] of [50, 100, 200, 400, 800].entries()) {
    await until(() => answers() === index + 1, `answer ${index + 1}`);
    await clock.pass(pause - 1);
    assertEquals(answers(), index + 1);
    await clock.pass(1);
  }
  for (let i = 0; i < 20; i++) source.push("", [], { collection: "$triggerCollection" });
  assertEquals(await source.call.ended(), { code: 8, details: "too many triggers" });
});

Deno.test("receiver: a connection that is gone before its stream is heard is no source without a name", async () => {
  await using bench = await Bench.start();
  const stream = new FakeStream({ address: "", port: 0 });
  bench.receiver.open(stream);
  assertEquals(stream.ended, { code: "UNAVAILABLE", message: "the connection is gone" });
  assertEquals([bench.sources.size, bench.log], [0, []]);
});
