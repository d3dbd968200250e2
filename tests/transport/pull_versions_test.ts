import { assert, assertEquals, assertMatch } from "@std/assert";
import { KINDS } from "../../lib/model/kind.ts";
import { PullBench, SERVICE_ENTRY, sotwBench, TARGET } from "./pulling.ts";

Deno.test("pull versions: a type that a server names when it hangs up is asked for in its next older version", async () => {
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

Deno.test("pull versions: a kind of which no version is served is left out; the others go on", async () => {
  await using bench = await sotwBench();
  for (const version of ["v1", "v1alpha1"]) {
    bench.stream.fail(`INVALID_ARGUMENT: what is telemetry.istio.io/${version}/Telemetry?`);
    await bench.pass(100);
  }
  const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
  assertEquals(asked.filter((url) => url.endsWith("/Telemetry")), []);
  assertEquals(asked.length, KINDS.length - 1);
});

Deno.test("pull versions: a type that the server does not name is found by asking for one after the other", async () => {
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

Deno.test("pull versions: where the newest version of a kind is empty, older ones are asked for, and what is there is taken", async () => {
  await using bench = await sotwBench();
  assertEquals(await serveOnlyOld(bench, ["shop/a@1"]), [SERVICE_ENTRY, OLDER, OLD]);
  assertEquals(bench.registry.names(), ["shop/a"]);
  // which version it is, is remembered while the server is not away
  bench.stream.leave();
  await bench.pass(1000);
  assertEquals(await serveOnlyOld(bench, ["shop/b@1"]), [OLD]);
  assertEquals(bench.registry.names(), ["shop/b"]);
});

Deno.test("pull versions: an empty version takes nothing away that another version has", async () => {
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

Deno.test("pull versions: a kind is empty when all its versions are, or when the older ones are not answered in 30 s", async () => {
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

Deno.test("pull versions: of several versions with content only the first is taken", async () => {
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

Deno.test("pull versions: a refused set is not taken for an empty one", async () => {
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

Deno.test("pull versions: a difference that removes all is doubted like an empty set, one that holds nothing is not", async () => {
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

Deno.test("pull versions: a removal that was doubted is not lost when more comes of the same version", async () => {
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

Deno.test("pull versions: a server that hangs up at an older version is not asked for older ones again", async () => {
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

Deno.test("pull versions: a server that refuses every type is left alone for a while", async () => {
  await using bench = await sotwBench();
  for (let i = 0; i < 60; i++) {
    const asked = bench.stream.requests().map(({ typeUrl }) => typeUrl);
    if (bench.stream.signal.aborted) break;
    bench.stream.fail(`INVALID_ARGUMENT: ${asked.join(", ")}`);
    await bench.pass(100);
  }
  assertMatch(bench.log.at(-1)!, /for 300000: the server serves none of Istio's types/);
});
