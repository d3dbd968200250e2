import { assert, assertEquals, assertExists, assertMatch } from "@std/assert";
import { ADS_PATHS } from "../../lib/transport/method_paths.ts";
import { PullBench, sotwBench, TARGET } from "./pulling.ts";

const DELTA = ADS_PATHS.delta;
const SOTW = ADS_PATHS.sotw;

Deno.test("pull: the configured headers and our instance go along", async () => {
  await using bench = new PullBench();
  await bench.start();
  assertEquals(bench.dialled, [{
    host: "192.0.2.1",
    headers: { "x-site": "fra", "x-pinnace-instance": "edge-1" },
  }]);
});

for (
  const failure of [
    "UNIMPLEMENTED: unknown method",
    "UNKNOWN: stream terminated",
    "INVALID_ARGUMENT: bad request",
    "RESOURCE_EXHAUSTED: received message larger than max (5000000 vs. 4194304)",
  ]
) {
  Deno.test(`pull: a server that answers the delta variant with ${failure.split(":")[0]} is asked for all there is`, async () => {
    await using bench = new PullBench();
    (await bench.start()).fail(failure);
    await bench.pass(100);
    assertEquals(bench.log, [`learned 192.0.2.1:15010: ${failure}`]);
    assertEquals(bench.stream.path, SOTW);
    bench.stream.respond("n1", ["shop/a@1"]);
    await bench.rest();
    assertEquals(bench.registry.names(), ["shop/a"]);
    // it stays so while the server only hangs up …
    bench.stream.leave();
    await bench.pass(1000);
    assertEquals(bench.stream.path, SOTW);
    // … and is tried again when it was away
    assertEquals(bench.streams.length, 3);
    bench.stream.fail("UNAVAILABLE: gone");
    await bench.pass(2000);
    assertEquals(bench.stream.path, DELTA);
  });
}

Deno.test("pull: a server that never answers is dialled anew, first for all there is", async () => {
  await using bench = new PullBench();
  await bench.start();
  await bench.pass(30_100);
  assertEquals(bench.streams.map(({ path }) => path), [DELTA, SOTW]);
  assertMatch(bench.log[0]!, /no response within 30 s/);
  await bench.pass(32_000);
  assertEquals(bench.streams.map(({ path }) => path), [DELTA, SOTW, DELTA]);
});

Deno.test("pull: a stream that says nothing more after the first response is left alone while its connection lives", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1");
  await bench.pass(86_400_000);
  assertEquals([bench.streams.length, stream.signal.aborted], [1, false]);
});

Deno.test("pull: a server that is away is dialled for ever, ever slower, and nothing is taken away", async () => {
  await using bench = new PullBench();
  (await bench.start()).respond("n1", ["shop/a@1"]);
  await bench.rest();
  bench.dial = () => Promise.reject(new Error("connection refused"));
  bench.stream.fail("UNAVAILABLE: gone");
  const attempts: number[] = [];
  for (let i = 0; i < 6; i++) {
    await bench.pass(30_000);
    attempts.push(bench.dialled.length);
  }
  assertEquals(attempts, [5, 6, 7, 8, 9, 10]);
  assertEquals(bench.registry.names(), ["shop/a"]);
  assertEquals(bench.registry.connected, 0);
  const [status] = bench.pulls.status();
  assertEquals([status!.state.kind, status!.lastError], ["waiting", "connection refused"]);
});

Deno.test("pull: where an address serves none of Istio's types the next is tried, and all again later", async () => {
  await using bench = new PullBench();
  bench.addresses = ["192.0.2.1", "192.0.2.2"];
  await bench.start();
  const refuseAll = async () => {
    const { host } = bench.dialled.at(-1)!;
    while (bench.dialled.at(-1)!.host === host) {
      const before = bench.dialled.length;
      const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
      assert(asked.length > 0, `${host} is asked`);
      bench.stream.fail(`INVALID_ARGUMENT: unsupported type ${asked.join(" ")}`);
      await bench.pass(200);
      if (bench.dialled.length === before) return; // nobody is dialled any more
    }
  };
  await refuseAll();
  assertEquals(bench.dialled.at(-1)!.host, "192.0.2.2");
  const none = "the server serves none of Istio's types";
  assert(bench.log.includes(`learned 192.0.2.1:15010: ${none}`));
  await refuseAll();
  assertEquals(bench.log.at(-1), `down 192.0.2.2:15010 for 300000: ${none}`);
  const before = bench.dialled.length;
  await bench.pass(300_000);
  assertEquals(bench.dialled.slice(before).map(({ host }) => host), ["192.0.2.1"]);
});

Deno.test("pull: only a stream that held starts the back-off anew", async () => {
  await using bench = new PullBench();
  await bench.start();
  const delays = () => bench.log.map((line) => /for (\d+)/.exec(line)?.[1]).filter(Boolean);
  for (let i = 0; i < 3; i++) {
    bench.stream.respond("n1");
    await bench.rest();
    bench.stream.fail("UNAVAILABLE: gone");
    await bench.pass(30_000);
  }
  bench.stream.respond("n1");
  await bench.pass(30_000);
  bench.stream.fail("UNAVAILABLE: gone");
  await bench.rest();
  assertEquals(delays(), ["1000", "2000", "4000", "1000"]);
});

Deno.test("pull: where one address fails, the next behind the name is tried", async () => {
  await using bench = new PullBench();
  bench.addresses = ["192.0.2.1", "192.0.2.2"];
  bench.dial = (host) => host === "192.0.2.1" ? Promise.reject(new Error("refused")) : undefined;
  bench.pulls.configure([TARGET]);
  await bench.pass(1000);
  assertEquals(bench.dialled.map(({ host }) => host), ["192.0.2.1", "192.0.2.2"]);
  assertEquals(bench.streams.length, 1);
});

Deno.test("pull: what was learned of one address is not held against another", async () => {
  await using bench = new PullBench();
  bench.addresses = ["192.0.2.1", "192.0.2.2"];
  (await bench.start()).fail("UNIMPLEMENTED: no delta");
  await bench.pass(100);
  assertEquals(bench.stream.path, SOTW);
  bench.stream.leave();
  await bench.pass(1000);
  assertEquals([bench.dialled.at(-1)!.host, bench.stream.path], ["192.0.2.2", DELTA]);
});

Deno.test("pull: a proxy looks the name up itself", async () => {
  await using bench = new PullBench();
  bench.addresses = new Error("no DNS here");
  await bench.start({ ...TARGET, proxy: { host: "proxy.example", port: 3128 } });
  assertEquals(bench.dialled.map(({ host }) => host), [undefined]);
  assertEquals(bench.pulls.status()[0]!.address, "upstream.example:15010");
});

Deno.test("pull: an attempt that hangs is given up after 10 s", async () => {
  await using bench = new PullBench();
  bench.dial = () => new Promise(() => {});
  bench.pulls.configure([TARGET]);
  await bench.pass(10_000);
  assertMatch(bench.log[0]!, /no connection within 10 s/);
  await bench.pass(1000);
  assertEquals(bench.dialled.length, 2);
});

Deno.test("pull: a name that does not resolve is tried again", async () => {
  await using bench = new PullBench();
  bench.addresses = new Error("no such host");
  bench.pulls.configure([TARGET]);
  await bench.rest();
  assertMatch(bench.log[0]!, /upstream\.example:15010 for 1000: no such host/);
  bench.addresses = ["192.0.2.1"];
  await bench.pass(1000);
  assertEquals(bench.streams.length, 1);
});

Deno.test("pull: a look-up that hangs, or finds nothing, is no end of pulling", async () => {
  let found: Promise<string[]> = new Promise(() => {});
  await using bench = new PullBench({ resolve: () => found });
  bench.pulls.configure([TARGET]);
  await bench.pass(10_000);
  assertMatch(bench.log[0]!, /nothing looked up within 10 s/);
  await bench.pulls[Symbol.asyncDispose]();
  found = Promise.resolve([]);
  bench.pulls.configure([TARGET]);
  await bench.pass(1000);
  assertMatch(bench.log.at(-1)!, /no address is behind that name/);
  assertEquals(bench.dialled, []);
});

Deno.test("pull: a registry that does not take the source in says why, and is asked again later", async () => {
  await using bench = new PullBench();
  bench.registry.refuse = "two settings name it";
  await bench.start();
  assertMatch(bench.log[0]!, /two settings name it/);
  assert(bench.stream.signal.aborted);
  bench.registry.refuse = undefined;
  await bench.pass(1000);
  assertEquals(bench.registry.connected, 1);
});

Deno.test("pull: the registry can end a stream", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  bench.registry.introductions[0]!.end("another stream of the same name");
  await bench.rest();
  assertEquals(stream.ended?.message, "another stream of the same name");
  assertEquals(bench.registry.connected, 0);
});

Deno.test("pull: unchanged servers are left alone, changed ones dialled anew, those gone ended", async () => {
  await using bench = new PullBench();
  const other = { ...TARGET, url: "xds://other.example:15010", host: "other.example" };
  await bench.start(TARGET, other);
  const { namespaces, headers, ...rest } = TARGET;
  bench.pulls.configure([{ headers: { "x-site": "ber" }, namespaces, ...rest }, { ...other }]);
  await bench.rest();
  assertEquals(bench.streams.map((s) => s.signal.aborted), [true, false, false]);
  bench.pulls.configure([{ headers: { "x-site": "ber" }, namespaces, ...rest }]);
  await bench.rest();
  assertEquals(bench.streams.map((s) => s.signal.aborted), [true, true, false]);
  assertEquals(bench.pulls.status().map(({ url }) => url), [TARGET.url]);
  assertEquals(headers, { "x-site": "fra" });
  assertExists(bench.streams[1]!.ended);
});

Deno.test("pull: disposing while dialling, waiting and up ends everything", async () => {
  for (const moment of ["dialling", "waiting", "up"]) {
    const bench = new PullBench();
    if (moment === "dialling") bench.dial = () => new Promise(() => {});
    if (moment === "waiting") bench.dial = () => Promise.reject(new Error("refused"));
    bench.pulls.configure([TARGET]);
    await bench.rest();
    if (moment === "up") bench.stream.respond("n1");
    await bench.rest();
    assertEquals(bench.pulls.status()[0]!.state.kind, moment);
    await bench[Symbol.asyncDispose]();
    assertEquals(bench.registry.connected, 0);
    await bench.pass(100_000);
    assertEquals(bench.dialled.length, 1);
  }
});

Deno.test("pull: what was learned of a server is forgotten when it cannot be reached", async () => {
  await using bench = await sotwBench();
  bench.dial = () => Promise.reject(new Error("connection refused"));
  bench.stream.leave(); // which alone forgets nothing
  await bench.pass(1000);
  bench.dial = undefined;
  await bench.pass(4000);
  assertEquals([bench.streams.length, bench.stream.path], [3, DELTA]);
});
