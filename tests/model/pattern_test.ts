import { assertEquals } from "@std/assert";
import { matchesAny, matchesPattern } from "../../lib/model/pattern.ts";

Deno.test("pattern: without a star it stands for itself", () => {
  assertEquals(matchesPattern("edge-a", "edge-a"), true);
  assertEquals(matchesPattern("edge-a", "edge-ab"), false);
  assertEquals(matchesPattern("edge.a", "edge-a"), false);
  assertEquals(matchesPattern("", ""), true);
});

Deno.test("pattern: a star stands for any text, be it empty", () => {
  assertEquals(matchesPattern("*", ""), true);
  assertEquals(
    matchesPattern("spiffe://example.org/edge/*", "spiffe://example.org/edge/a/b"),
    true,
  );
  assertEquals(matchesPattern("spiffe://example.org/edge/*", "spiffe://example.org/edge/"), true);
  assertEquals(matchesPattern("spiffe://example.org/edge/*", "spiffe://example.org/edgy"), false);
  assertEquals(matchesPattern("*.example", "a.example"), true);
  assertEquals(matchesPattern("a*b*c", "a-b-b-c"), true);
  assertEquals(matchesPattern("a*b*c", "a-c-b"), false);
});

Deno.test("pattern: what stands before and after a star does not overlap", () => {
  assertEquals(matchesPattern("aba*ba", "aba"), false);
  assertEquals(matchesPattern("a*a", "a"), false);
  assertEquals(matchesPattern("a*a*a", "aa"), false);
});

Deno.test("pattern: any of several", () => {
  assertEquals(matchesAny(["a", "b*"], "bc"), true);
  assertEquals(matchesAny([], "bc"), false);
});
