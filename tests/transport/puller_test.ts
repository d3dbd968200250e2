import { assert, assertEquals, assertExists, assertMatch, assertStringIncludes } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { judge } from "../../lib/receive/judge.ts";
import type { Judgement } from "../../lib/receive/received.ts";
import { PullBench, SERVICE_ENTRY, TARGET } from "./pulling.ts";

const DELTA = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const SOTW = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** A bench whose server does not know the delta variant. */
async function sotwBench(): Promise<PullBench> {
  const bench = new PullBench();
  (await bench.start()).fail("UNIMPLEMENTED: unknown method DeltaAggregatedResources");
  await bench.pass(100);
  assertEquals(bench.stream.path, SOTW);
  return bench;
}

Deno.test("pull: every kind is asked for in its newest version, by a node as istiod's, delta first", async () => {
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

Deno.test("pull: the configured headers and our instance go along", async () => {
  await using bench = new PullBench();
  await bench.start();
  assertEquals(bench.dialled, [{
    host: "192.0.2.1",
    headers: { "x-site": "fra", "x-pinnace-instance": "edge-1" },
  }]);
});

Deno.test("pull: what comes is kept, then ACKed", async () => {
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

Deno.test("pull: nothing is ACKed before it is kept", async () => {
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

Deno.test("pull: what breaks a rule is refused as a whole, with the reason, and what was held stays", async () => {
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

Deno.test("pull: reconnecting says what is held, so that only differences come", async () => {
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

Deno.test("pull: a server that pays no heed to what is held is asked for all there is", async () => {
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

Deno.test("pull: after a refused difference the next one is not built upon; what is held is said anew", async () => {
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

Deno.test("pull: a stream that is idle after the first response is left alone", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1");
  await bench.pass(86_400_000);
  assertEquals([bench.streams.length, stream.signal.aborted], [1, false]);
});

Deno.test("pull: a type that a server names when it hangs up is asked for in its next older version", async () => {
  await using bench = await sotwBench();
  bench.stream.fail(`INVALID_ARGUMENT: unsupported type ${SERVICE_ENTRY}`);
  await bench.pass(100);
  const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
  assertEquals(asked[0], "networking.istio.io/v1beta1/ServiceEntry");
  assertEquals(asked.length, KINDS.length);
  bench.stream.respond("n1", ["shop/a@1"], { type: "networking.istio.io/v1beta1/ServiceEntry" });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
});

Deno.test("pull: a kind of which no version is served is left out; the others go on", async () => {
  await using bench = await sotwBench();
  for (const version of ["v1", "v1alpha1"]) {
    bench.stream.fail(`INVALID_ARGUMENT: what is telemetry.istio.io/${version}/Telemetry?`);
    await bench.pass(100);
  }
  const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
  assertEquals(asked.filter((url) => url.endsWith("/Telemetry")), []);
  assertEquals(asked.length, KINDS.length - 1);
});

Deno.test("pull: a type that the server does not name is found by asking for one after the other", async () => {
  await using bench = await sotwBench();
  const bad = "networking.istio.io/v1/VirtualService";
  let streams = 0;
  while (true) {
    assert(++streams < 10, "the type is found");
    const { stream } = bench;
    for (let asked = 0; asked < 60 && !stream.signal.aborted; asked++) {
      for (const { typeUrl, responseNonce } of stream.requests()) {
        if (typeUrl === bad) stream.fail("INVALID_ARGUMENT: no such type");
        else if (responseNonce === "") stream.respond(`n${asked}`, [], { type: typeUrl });
      }
      await bench.rest();
    }
    if (!stream.signal.aborted) break;
    await bench.pass(100);
  }
  const types = bench.pulls.status()[0]!.types;
  assertEquals(types.filter(({ acks }) => acks === 0), []);
  assert(types.some(({ type }) => type === "networking.istio.io/v1beta1/VirtualService"));
});

const OLD = "networking.istio.io/v1alpha3/ServiceEntry";
const OLDER = "networking.istio.io/v1beta1/ServiceEntry";

/** Answers every request of service entries that is due: those of the oldest version with `names`, others with nothing. */
async function serveOnlyOld(bench: PullBench, names: readonly string[]): Promise<string[]> {
  const asked: string[] = [];
  for (let round = 0; round < 4; round++) {
    for (const { typeUrl, responseNonce } of bench.stream.requests()) {
      if (!typeUrl.endsWith("/ServiceEntry") || responseNonce !== "") continue;
      const nonce = `${bench.streams.length}-${asked.push(typeUrl)}`;
      bench.stream.respond(nonce, typeUrl === OLD ? names : [], { type: typeUrl });
    }
    await bench.rest();
  }
  return asked;
}

Deno.test("pull: where the newest version of a kind is empty, older ones are asked for, and what is there is taken", async () => {
  await using bench = await sotwBench();
  assertEquals(await serveOnlyOld(bench, ["shop/a@1"]), [SERVICE_ENTRY, OLDER, OLD]);
  assertEquals(bench.registry.names(), ["shop/a"]);
  // which version it is, is remembered while the server is not away
  bench.stream.leave();
  await bench.pass(1000);
  assertEquals(await serveOnlyOld(bench, ["shop/b@1"]), [OLD]);
  assertEquals(bench.registry.names(), ["shop/b"]);
});

Deno.test("pull: an empty version takes nothing away that another version has", async () => {
  await using bench = await sotwBench();
  await serveOnlyOld(bench, ["shop/a@1"]);
  bench.stream.fail("UNAVAILABLE: gone");
  await bench.pass(1000); // all is forgotten, so the newest is asked for again
  bench.stream.fail("UNIMPLEMENTED: no delta");
  await bench.pass(100);
  bench.stream.respond("n1", []);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
  assertEquals(bench.stream.requests().at(-1)?.typeUrl, OLDER);
  bench.stream.respond("n2", [], { type: OLDER });
  await bench.rest();
  bench.stream.respond("n3", ["shop/b@1"], { type: OLD });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b"]);
  await bench.pass(60_000);
  assertEquals(bench.registry.names(), ["shop/b"]);
});

Deno.test("pull: a kind is empty when all its versions are, or when the older ones are not answered in 30 s", async () => {
  await using bench = await sotwBench();
  await serveOnlyOld(bench, ["shop/a@1"]);
  for (const answers of ["all", "one"]) {
    bench.stream.fail("UNAVAILABLE: gone");
    await bench.pass(4000);
    bench.stream.fail("UNIMPLEMENTED: no delta");
    await bench.pass(100);
    if (answers === "all") await serveOnlyOld(bench, []);
    else {
      bench.registry.sets.get(TARGET.url)!.set("ServiceEntry", new Map([["shop/a", "1"]]));
      bench.stream.respond("n1", []);
      await bench.pass(29_000);
      assertEquals(bench.registry.names(), ["shop/a"]);
      await bench.pass(1000);
    }
    assertEquals(bench.registry.names(), [], answers);
  }
});

Deno.test("pull: of several versions with content only the first is taken", async () => {
  await using bench = await sotwBench();
  await serveOnlyOld(bench, []);
  bench.stream.respond("m1", ["shop/a@1"], { type: OLDER });
  bench.stream.respond("m2", ["shop/a@1"], { type: SERVICE_ENTRY });
  bench.stream.respond("m3", [], { type: OLD });
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/a"]);
  assertEquals(bench.registry.log.filter((line) => /m\d/.test(line)), ["took m1"]);
  const answered = bench.stream.requests().map(({ responseNonce }) => responseNonce);
  assertEquals(answered.filter((nonce) => /m\d/.test(nonce)), ["m1", "m2", "m3"]);
});

Deno.test("pull: a refused set is not taken for an empty one", async () => {
  await using bench = await sotwBench();
  await serveOnlyOld(bench, ["shop/a@1"]);
  bench.stream.fail("UNAVAILABLE: gone");
  await bench.pass(1000);
  bench.stream.fail("UNIMPLEMENTED: no delta");
  await bench.pass(100);
  await serveOnlyOld(bench, ["bad@1"]);
  await bench.pass(60_000);
  assertEquals(bench.registry.names(), ["shop/a"]);
});

Deno.test("pull: a difference that removes all is doubted like an empty set, one that holds nothing is not", async () => {
  await using bench = new PullBench();
  (await bench.start()).respond("n1", ["shop/a@1"]);
  await bench.rest();
  for (const [removed, asked] of [[[], undefined], [["shop/a"], OLDER]] as const) {
    bench.stream.fail("UNAVAILABLE: gone");
    await bench.pass(4000);
    bench.stream.requests();
    bench.stream.respond("n2", [], { removed });
    await bench.rest();
    assertEquals(bench.registry.names(), ["shop/a"]);
    const url = bench.stream.requests().find(({ responseNonce }) => responseNonce === "")?.typeUrl;
    assertEquals(url, asked);
  }
});

Deno.test("pull: a removal that was doubted is not lost when more comes of the same version", async () => {
  await using bench = new PullBench();
  (await bench.start()).respond("n1", ["shop/a@1"]);
  await bench.rest();
  bench.stream.fail("UNAVAILABLE: gone");
  await bench.pass(1000);
  bench.stream.respond("m1", [], { removed: ["shop/a"] });
  bench.stream.respond("m2", ["shop/b@1"]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/b"]);
});

Deno.test("pull: a server that hangs up at an older version is not asked for older ones again", async () => {
  await using bench = await sotwBench();
  const respondTo = async () => {
    for (const { typeUrl, responseNonce } of bench.stream.requests()) {
      if (responseNonce === "") bench.stream.respond(`n-${typeUrl}`, [], { type: typeUrl });
    }
    await bench.rest();
  };
  await respondTo();
  bench.stream.fail(`INVALID_ARGUMENT: what is ${OLDER}?`);
  await bench.pass(100);
  for (let i = 0; i < 3; i++) await respondTo();
  assertEquals(bench.stream.signal.aborted, false);
  assertEquals(bench.pulls.status()[0]!.types.length, KINDS.length);
});

Deno.test("pull: a server that refuses every type is left alone for a while", async () => {
  await using bench = await sotwBench();
  for (let i = 0; i < 60; i++) {
    const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
    if (bench.stream.signal.aborted) break;
    bench.stream.fail(`INVALID_ARGUMENT: ${asked.join(", ")}`);
    await bench.pass(100);
  }
  assertMatch(bench.log.at(-1)!, /for 600000: the server serves none of Istio's types/);
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

Deno.test("pull: from oneself nothing is taken", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.respond("n1", ["shop/a@1"], { controlPlane: "edge-1" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.signal.aborted], [[], true]);
  assertStringIncludes(bench.pulls.status()[0]!.lastError!, "this Pinnace itself");
});

Deno.test("pull: what was not asked for is neither taken nor answered", async () => {
  await using bench = new PullBench();
  const stream = await bench.start();
  stream.requests();
  stream.respond("n1", ["shop/a@1"], { type: "networking.istio.io/v1alpha3/ServiceEntry" });
  await bench.rest();
  assertEquals([bench.registry.names(), stream.requests()], [[], []]);
});

Deno.test("pull: a response that cannot be answered, or read, ends the stream with a reason", async () => {
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

Deno.test("pull: of full responses that wait, only the newest of a type is judged and ACKed", async () => {
  await using bench = await sotwBench();
  const { stream } = bench;
  stream.requests();
  for (const nonce of ["n1", "n2", "n3"]) stream.respond(nonce, [`shop/${nonce}@1`]);
  await bench.rest();
  assertEquals(bench.registry.names(), ["shop/n3"]);
  assertEquals(stream.requests().at(-1)?.responseNonce, "n3");
  assertEquals(bench.registry.log.includes("took n2"), false);
});

Deno.test("pull: what could not be kept is NACKed and asked for again", async () => {
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

Deno.test("pull: a judge that fails ends the stream, with a reason, and is asked again", async () => {
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

Deno.test("pull: a stream that ends while its response is judged keeps nothing and answers nothing", async () => {
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
