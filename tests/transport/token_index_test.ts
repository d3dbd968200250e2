import { assert, assertEquals } from "@std/assert";
import { TokenIndex } from "../../lib/transport/token_index.ts";

Deno.test("token index: a token is its first owner's, an empty one nobody's, and names count without a token", () => {
  const index = new TokenIndex([["a", "one"], ["b", "one"], ["c", ""]], ["d"]);
  assertEquals(["one", "", "on", "one "].map((token) => index.ownerOf(token)), [
    "a",
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(["a", "b", "c", "d", "e"].map((name) => index.has(name)), [
    true,
    true,
    true,
    true,
    false,
  ]);
  assertEquals([index.isEmpty, new TokenIndex([]).isEmpty], [false, true]);
});

Deno.test("token index: a stranger's token costs as little with ten thousand tokens as with one", () => {
  const index = new TokenIndex(Array.from({ length: 10_000 }, (_, i) => [`edge-${i}`, `${i}`]));
  const start = performance.now();
  for (let i = 0; i < 1000; i++) assertEquals(index.ownerOf(`no ${i}`), undefined);
  const took = performance.now() - start; // hashing each token each time would take minutes
  assert(took < 5000, `${took} ms`);
});
