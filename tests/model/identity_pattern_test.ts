import { assertEquals } from "@std/assert";
import { fitsIdentity, fitsSource } from "../../lib/model/identity_pattern.ts";

const URI = "spiffe://example.org/ns/a/sa/x.example";

Deno.test("identity pattern: those of URIs fit URIs alone, and those of DNS names these alone", () => {
  const fits = (pattern: string) => [URI, "x.example"].map((name) => fitsIdentity(pattern, name));
  assertEquals(fits("*"), [true, true]);
  assertEquals(fits("spiffe://*"), [true, false]);
  assertEquals(fits("*/sa/x.example"), [true, false]);
  assertEquals(fits("*.example"), [false, true]);
  assertEquals(fits("x.example"), [false, true]);
});

Deno.test("identity pattern: DNS names have no case, URIs do", () => {
  assertEquals(fitsIdentity("Edge.Example", "edge.example"), true);
  assertEquals(fitsIdentity("*.Example", "edge.example"), true);
  assertEquals(fitsIdentity("Other.Example", "edge.example"), false);
  assertEquals(fitsIdentity("spiffe://Example.org/*", URI), false);
  assertEquals(fitsIdentity("spiffe://example.org/*", URI), true);
});

Deno.test("identity pattern: only what a certificate names is without case", () => {
  for (const namedBy of ["token", "instance", "address", undefined]) {
    assertEquals(fitsSource("Edge-*", "edge-a", namedBy), false);
    assertEquals(fitsSource("edge-*", "edge-a", namedBy), true);
    assertEquals(fitsSource("2001:db8:*", "2001:db8::1", namedBy), true);
  }
  assertEquals(fitsSource("Edge-*", "edge-a", "dns"), true);
  assertEquals(fitsSource("spiffe://Example.org/*", URI, "uri"), false);
});
