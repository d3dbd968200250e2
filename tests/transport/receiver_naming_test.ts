import { assertEquals, assertMatch } from "@std/assert";
import { TokenIndex } from "../../lib/transport/token_index.ts";
import { Bench, ENTRIES, RawSource } from "./receiving_bench.ts";

Deno.test("receiver: a name once proved cannot be taken by saying it", async () => {
  let tokens = new TokenIndex([["edge-a", "secret"]]);
  await using bench = await Bench.start({
    naming: { tokens: () => tokens, unproven: true, from: [] },
  });
  await using proved = new RawSource(bench.serving.port, { authorization: "Bearer secret" });
  await proved.hears(`? ${ENTRIES}`);
  tokens = new TokenIndex([]); // its token's name alone no longer gives it away
  await using other = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-a" });
  const { code, details } = await other.call.ended();
  assertEquals(code, 7);
  assertMatch(details, /edge-a is the name of a source that proved it/);
  assertEquals(proved.call.status, undefined);
});

Deno.test("receiver: a stream ends when its token is withdrawn or replaced, and no other does", async () => {
  let tokens = new TokenIndex([["edge-a", "a"], ["edge-b", "b"], ["edge-c", "c"]]);
  await using bench = await Bench.start({
    naming: { tokens: () => tokens, unproven: true, from: [] },
  });
  await using sources = new AsyncDisposableStack();
  const [a, b, c, other] = [
    { authorization: "Bearer a" },
    { authorization: "Bearer b" },
    { authorization: "Bearer c" },
    { "x-pinnace-instance": "edge-d" },
  ].map((headers) =>
    sources.use(new RawSource(bench.serving.port, headers as Record<string, string>))
  );
  for (const one of [a!, b!, c!, other!]) await one.hears(`? ${ENTRIES}`);
  tokens = new TokenIndex([["edge-b", "b2"], ["edge-c", "c"]], ["edge-a"]);
  bench.receiver.tokensChanged();
  for (const [source, name] of [[a!, "edge-a"], [b!, "edge-b"]] as const) {
    const details = `the token of ${name} was replaced or withdrawn`;
    assertEquals(await source.call.ended(), { code: 16, details });
  }
  assertEquals([c!.call.status, other!.call.status], [undefined, undefined]);
  await using thief = new RawSource(bench.serving.port, { "x-pinnace-instance": "edge-a" });
  assertEquals((await thief.call.ended()).code, 7);
});
