import { assertEquals, assertMatch } from "@std/assert";
import { FakeClock } from "./fakes.ts";
import { Bench, ENTRIES, judge, RawSource, WORKLOADS } from "./receiving_bench.ts";
import { Caller } from "./serving.ts";
import { until } from "./sockets.ts";

/** What the one live stream does not ask for. */
function notAsked(bench: Bench): string[] {
  const collections = bench.receiver.list()[0]!.collections();
  return collections.flatMap(({ collection, askedAgainAt }) =>
    askedAgainAt === undefined ? [] : [collection]
  );
}

Deno.test("receiver: only who says that it heeds what is held is asked for a difference from that", async () => {
  await using bench = await Bench.start();
  const cases: readonly (readonly [string, Record<string, string>])[] = [
    ["edge-1", { "x-pinnace-instance": "edge-1", "x-pinnace-resumes": "1" }],
    ["edge-2", { "x-pinnace-instance": "edge-2" }], // Istio's library, named as we advise
    ["127.0.0.1", {}],
  ];
  for (const [name, headers] of cases) {
    {
      await using source = new RawSource(bench.serving.port, headers);
      source.push("1", ["shop/a@7"]);
      await source.hears("+ 1");
    }
    await until(() => bench.sources.get(name)!.streams === 0, "the first stream is over");
    await using source = new RawSource(bench.serving.port, headers);
    await source.hears(`? ${ENTRIES}`);
    const { incremental, initialResourceVersions } = source.requests[0]!;
    const resumes = name === "edge-1";
    assertEquals([incremental, { ...initialResourceVersions }], [
      resumes,
      resumes ? { "shop/a": "7" } : {},
    ]);
    assertEquals(bench.connected.at(-1)!.resumes, resumes);
  }
});

Deno.test("receiver: what a source removed while it was away goes, though it only has a name", async () => {
  await using bench = await Bench.start();
  const headers = { "x-pinnace-instance": "galley-a" };
  {
    await using source = new RawSource(bench.serving.port, headers);
    source.push("1", ["shop/a@1", "shop/b@1"]);
    await source.hears("+ 1");
  }
  await until(() => bench.receiver.list().length === 0, "the first stream is over");
  await using source = new RawSource(bench.serving.port, headers);
  await source.hears(`? ${ENTRIES}`);
  // it pays no heed to what is held, only to whether a difference is asked for
  const { incremental } = source.requests.find(({ collection }) => collection === ENTRIES)!;
  source.push("2", ["shop/a@1"], { incremental });
  await source.hears("+ 2");
  assertEquals(bench.entries("galley-a"), { "shop/a": "1" });
});

Deno.test("receiver: a difference where all there is was asked for is refused, with the reason", async () => {
  await using bench = await Bench.start();
  {
    await using source = new RawSource(bench.serving.port);
    source.push("1", ["shop/a@1", "shop/b@1"]);
    await source.hears("+ 1");
  }
  await until(() => bench.receiver.list().length === 0, "the first stream is over");
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${ENTRIES}`);
  source.push("2", ["shop/a@1"], { incremental: true });
  await until(() => source.said.some((text) => text.startsWith("- 2 3 ")), "it is refused");
  assertMatch(source.said.find((text) => text.startsWith("- 2"))!, /only a difference came/);
  source.push("3", ["shop/a@1"]);
  await source.hears("+ 3");
  assertEquals(bench.entries("127.0.0.1"), { "shop/a": "1" });
});

Deno.test("receiver: a cautious stream goes on to ask where a collection is met with silence", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  bench.cautious = true;
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${ENTRIES}`);
  await clock.pass(9_000);
  assertEquals(source.said, [`? ${ENTRIES}`]);
  await clock.pass(12_000);
  await source.hears(`? ${WORKLOADS}`);
  source.push("1", ["shop/a@1"]);
  await source.hears("+ 1");
});

Deno.test("receiver: a source that ends the stream at a collection it does not serve gets the others next", async () => {
  await using bench = await Bench.start();
  bench.cautious = true;
  await using caller = new Caller(bench.serving.port);
  await using first = new RawSource(bench.serving.port, {}, caller);
  first.push("", [], { collection: "$triggerCollection" });
  await first.hears("-  12 unsupported collection $triggerCollection");
  assertEquals(first.said[0], `? ${ENTRIES}`);
  assertEquals(first.said.length, 2, "nothing more is asked before the answer");
  // Istio's library only stops using the stream, and opens another on the same connection.
  await using second = new RawSource(bench.serving.port, {}, caller);
  await second.hears(`? ${WORKLOADS}`);
  assertEquals(second.said, [`? ${WORKLOADS}`]);
  assertEquals(notAsked(bench), [ENTRIES]);
});

Deno.test("receiver: a connection that is lost says nothing about a collection, unless time and again", async () => {
  await using bench = await Bench.start();
  bench.cautious = true;
  for (let times = 0; times < 3; times++) {
    await using source = new RawSource(bench.serving.port);
    await source.hears(`? ${ENTRIES}`);
    assertEquals(notAsked(bench), []);
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${WORKLOADS}`);
  assertEquals(notAsked(bench), [ENTRIES]);
});

Deno.test("receiver: what a source may not serve is asked for again while the stream lives, each time later", async () => {
  const clock = new FakeClock();
  await using bench = await Bench.start({ clock });
  bench.cautious = true;
  const ends = async (asked: string) => {
    await using source = new RawSource(bench.serving.port);
    await source.hears(asked);
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  };
  for (let times = 0; times < 3; times++) await ends(`? ${ENTRIES}`);
  for (const pause of [60_000, 120_000]) {
    await using source = new RawSource(bench.serving.port);
    source.push("w", [], { collection: WORKLOADS });
    await source.hears("+ w");
    await clock.pass(pause - 1);
    assertEquals(notAsked(bench), [ENTRIES]);
    await clock.pass(1);
    await source.hears(`? ${ENTRIES}`);
    assertEquals(notAsked(bench), []);
    if (pause > 60_000) source.push("e", ["shop/a@1"]);
    if (pause > 60_000) await source.hears("+ e");
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${ENTRIES}`);
  assertEquals(notAsked(bench), [], "it has answered about it");
});

Deno.test("receiver: a push beyond our limit says nothing against its collection, and is told of with the setting", async () => {
  await using bench = await Bench.start();
  await using sources = new AsyncDisposableStack();
  const large = "x".repeat(17 * 1024 * 1024);
  for (let times = 0; times < 8; times++) {
    const headers = { "x-pinnace-instance": "edge-1" };
    const source = sources.use(new RawSource(bench.serving.port, headers));
    await source.hears(`? ${ENTRIES}`);
    assertEquals(notAsked(bench), []);
    source.push("1", [], { systemVersionInfo: large });
    assertEquals((await source.call.ended()).code, 8);
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  for (const told of ["refused a push has ", "closed edge-1: a push has "]) {
    const lines = bench.log.filter((line) => line.startsWith(told));
    assertEquals(lines.length, 8);
    assertMatch(lines[0]!, /178\d{5} bytes, and limits\.message lets 16777216 pass/);
  }
});

Deno.test("receiver: a push that came and still waits to be judged is an answer, though the connection is lost", async () => {
  const judging = Promise.withResolvers<void>();
  await using bench = await Bench.start({
    judge: async (...args) => {
      await judging.promise;
      return await judge(...args);
    },
  });
  using _ = { [Symbol.dispose]: () => judging.resolve() }; // else the receiver waits for its judge
  bench.cautious = true;
  for (let times = 0; times < 3; times++) {
    await using source = new RawSource(bench.serving.port);
    await source.hears(`? ${ENTRIES}`);
    source.push("1", ["shop/a@1"]);
    await source.hears(`? ${WORKLOADS}`);
    const [stream] = bench.receiver.list();
    const before = stream!.bytesReceived;
    source.push("2", [], { collection: WORKLOADS });
    await until(() => stream!.bytesReceived > before, "it waits");
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${ENTRIES}`);
  assertEquals(notAsked(bench), []);
});

Deno.test("receiver: a stream that we end says nothing about a collection", async () => {
  await using bench = await Bench.start();
  bench.cautious = true;
  await using caller = new Caller(bench.serving.port);
  for (let times = 0; times < 2; times++) {
    await using source = new RawSource(bench.serving.port, {}, caller);
    await source.hears(`? ${ENTRIES}`);
    source.call.send(new Uint8Array([0xff]));
    await source.call.ended();
  }
  await using source = new RawSource(bench.serving.port, {}, caller);
  await source.hears(`? ${ENTRIES}`);
  assertEquals(notAsked(bench), []);
});

Deno.test("receiver: a Pinnace that ends its streams at a collection that it does not know gives the others in the end", async () => {
  await using bench = await Bench.start();
  const header = { "x-pinnace-instance": "edge-1" };
  let streams = 0;
  for (let done = false; !done; streams++) {
    await using source = new RawSource(bench.serving.port, header);
    await until(() => source.said.length > 0, "it is asked");
    done = notAsked(bench).length > 0;
    // it answers, up to the collection that it does not know
    if (!done && !source.said.includes(`? ${WORKLOADS}`)) {
      source.push("1", ["shop/a@1"]);
      await until(() => source.said.includes(`? ${WORKLOADS}`), "the other is asked for");
    }
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  assertEquals(streams, 7);
  await using source = new RawSource(bench.serving.port, header);
  source.push("1", ["shop/a@1"]);
  await source.hears("+ 1");
  assertEquals(source.said, [`? ${ENTRIES}`, "+ 1"]);
});
