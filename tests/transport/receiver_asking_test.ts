import { assertEquals } from "@std/assert";
import { FakeClock } from "./fakes.ts";
import { Bench, ENTRIES, RawSource, WORKLOADS } from "./receiving_bench.ts";
import { Caller } from "./serving.ts";
import { until } from "./sockets.ts";

Deno.test("receiver: only a Pinnace is asked for a difference from what is held", async () => {
  await using bench = await Bench.start();
  const header = { "x-pinnace-instance": "edge-1" };
  for (const headers of [header, {}]) {
    const name = "x-pinnace-instance" in headers ? "edge-1" : "127.0.0.1";
    {
      await using source = new RawSource(bench.serving.port, headers);
      source.push("1", ["shop/a@7"]);
      await source.hears("+ 1");
    }
    await until(() => bench.sources.get(name)!.streams === 0, "the first stream is over");
    await using source = new RawSource(bench.serving.port, headers);
    await source.hears(`? ${ENTRIES}`);
    const { incremental, initialResourceVersions } = source.requests[0]!;
    const pinnace = name === "edge-1";
    assertEquals([incremental, { ...initialResourceVersions }], [
      pinnace,
      pinnace ? { "shop/a": "7" } : {},
    ]);
  }
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
  assertEquals([...bench.sources.get("127.0.0.1")!.unsupported], [ENTRIES]);
});

Deno.test("receiver: a connection that is lost says nothing about a collection, unless time and again", async () => {
  await using bench = await Bench.start();
  bench.cautious = true;
  const unsupported = () => [...bench.sources.get("127.0.0.1")?.unsupported ?? []];
  for (let times = 0; times < 3; times++) {
    assertEquals(unsupported(), []);
    await using source = new RawSource(bench.serving.port);
    await source.hears(`? ${ENTRIES}`);
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  await using source = new RawSource(bench.serving.port);
  await source.hears(`? ${WORKLOADS}`);
  assertEquals(unsupported(), [ENTRIES]);
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
  assertEquals([...bench.sources.get("127.0.0.1")!.unsupported], []);
});

Deno.test("receiver: a Pinnace that ends its streams at a collection that it does not know gives the others in the end", async () => {
  await using bench = await Bench.start();
  const header = { "x-pinnace-instance": "edge-1" };
  const unsupported = () => [...bench.sources.get("edge-1")?.unsupported ?? []];
  for (let times = 0; times < 10 && unsupported().length === 0; times++) {
    await using source = new RawSource(bench.serving.port, header);
    await until(() => source.said.length > 0, "it is asked");
    // it answers, up to the collection that it does not know
    if (unsupported().length === 0 && !source.said.includes(`? ${WORKLOADS}`)) {
      source.push("1", ["shop/a@1"]);
      await until(() => source.said.includes(`? ${WORKLOADS}`), "the other is asked for");
    }
    await source[Symbol.asyncDispose]();
    await until(() => bench.receiver.list().length === 0, "the stream is over");
  }
  assertEquals(unsupported(), [WORKLOADS]);
  await using source = new RawSource(bench.serving.port, header);
  source.push("1", ["shop/a@1"]);
  await source.hears("+ 1");
  assertEquals(source.said, [`? ${ENTRIES}`, "+ 1"]);
});
