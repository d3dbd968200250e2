/** What sources that are limited to namespaces have a say over, and how much goes into one entry. */
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { Union } from "../../lib/receive/union.ts";
import { entries, entry } from "./entries.ts";
import { at, owners, served, shared, texts, unite } from "./unions.ts";

Deno.test("union: an entry where a limited source has no say takes the host from it, even if it comes later", () => {
  const union = unite({ edge: [entry("b/x", { hosts: ["h"] })] });
  union.allow("edge", ["b", "b-*"]);
  union.set("hub", entries(entry("shop/y", { hosts: ["h"] })));
  assertEquals(owners(union), ["shop/y hub"]);
  assertEquals(texts(union), [
    'error: b/x: b/x of source "edge" is not served: its host "h" is that of shop/y of source "hub", ' +
    'and source "edge" may not fill the namespace shop; give it another host, or let the source fill ' +
    "that namespace (receive.from: namespaces) [receive/contested-host]",
  ]);
  union.set("edge", entries(entry("b/x", { hosts: ["h"] }), entry("b/z")));
  union.set("edge", entries(entry("b-1/x", { hosts: ["h"] })));
  assertEquals(owners(union), ["shop/y hub"]);
  union.set("hub", entries(entry("b-2/y", { hosts: ["h"] })));
  assertEquals(owners(union), ["b-1/x edge"], "who gives the host up gives it to who wants it");
  union.set("hub", entries(entry("b-2/y", { hosts: ["h"], ...at("10.0.0.1") })));
  assertEquals(
    owners(union),
    ["b-1/x edge"],
    "within its namespaces it keeps the host as others do",
  );
});

Deno.test("union: of two sources limited to namespaces of their own, who had the host first keeps it", () => {
  const union = unite({ b: [entry("b/x", { hosts: ["h"] })] });
  union.allow("b", ["b"]);
  union.allow("a", ["a"]);
  union.set("a", entries(entry("a/x", { hosts: ["h"] })));
  assertEquals(owners(union), ["b/x b"]);
  union.allow("a", ["a", "b"]);
  assertEquals(owners(union), ["a/x a"], "but who may fill the other's namespace too goes first");
});

Deno.test("union: a limited source that is in the way of no entry elsewhere any more goes before one that is", () => {
  const union = unite({
    "": [entry("n/own", { hosts: ["taken"] })],
    m: [entry("m/x", { hosts: ["h", "j"] })],
    u: [entry("u/x", { hosts: ["h", "k"] })],
  });
  for (const part of ["m", "u"]) union.allow(part, ["m", "u"]);
  // These are not served themselves.
  union.set("e", entries(entry("e/x", { hosts: ["k", "taken"] })));
  union.set("f", entries(entry("f/x", { hosts: ["j", "taken"] })));
  assertEquals(owners(union), ["m/x m", "n/own "]);
  union.set("e", undefined);
  assertEquals(owners(union), ["n/own ", "u/x u"]);
});

Deno.test("union: an entry that changes while it comes to be in the way of one elsewhere goes last", () => {
  const union = unite({
    "": [entry("n/own", { hosts: ["taken"] })],
    p: [entry("p/x", { hosts: ["h"] }), entry("e/x", { hosts: ["other"] })],
    d: [entry("p/y", { hosts: ["h"] })],
    e: [entry("e/x", { hosts: ["h", "taken"] })],
  });
  union.allow("p", ["p"]);
  assertEquals(owners(union), ["e/x p", "n/own ", "p/x p"]);
  union.set("p", entries(entry("p/x", { hosts: ["h"], ...at("10.0.0.1") })));
  assertEquals(owners(union), ["n/own ", "p/y d"]);
});

Deno.test("union: limits may be said at any time, and hold when a part goes and returns", () => {
  const union = new Union({ merge: "refuse" });
  union.allow("edge", ["b"]);
  union.set("edge", entries(entry("b/x", { hosts: ["h"] })));
  union.set("hub", entries(entry("shop/y", { hosts: ["h"] })));
  assertEquals(owners(union), ["shop/y hub"]);
  union.set("hub", undefined);
  union.set("edge", undefined);
  union.set("edge", entries(entry("b/x", { hosts: ["h"] })));
  union.set("hub", entries(entry("shop/y", { hosts: ["h"] })));
  assertEquals(owners(union), ["shop/y hub"]);
  union.allow("edge", []);
  assertEquals(owners(union), ["shop/y hub"], "it has the host now");
  union.set("hub", undefined);
  union.set("hub", entries(entry("shop/y", { hosts: ["h"] })));
  assertEquals(owners(union), ["b/x edge"]);
  union.allow("edge", ["b"]);
  assertEquals(owners(union), ["shop/y hub"]);
  const { collections } = union;
  union.allow("edge", ["b"]);
  union.allow("nobody", ["b"]);
  assertStrictEquals(union.collections, collections);
});

Deno.test("union: our own configuration is not limited", () => {
  const union = new Union({ merge: "refuse" });
  assertThrows(() => union.allow("", ["b"]), TypeError, "our own configuration");
  union.allow("", []);
});

Deno.test("union, merging: a limited source gives its endpoints to no entry where it has no say", () => {
  const own = shared("shop/orders", ["10.0.0.1"]);
  const union = unite({ "": [own] }, "endpoints");
  union.allow("edge", ["b"]);
  union.set("edge", entries(shared("b/x", ["10.6.6.6"])));
  assertEquals(served(union), ["shop/orders : 10.0.0.1"]);
  assertEquals(union.findings().map(({ message }) => message), [
    'b/x of source "edge" is not served: its host "h" is that of shop/orders of our own ' +
    'configuration, and source "edge" may not fill the namespace shop',
  ]);
  union.allow("edge", ["b", "sh*"]);
  assertEquals(served(union), ["shop/orders : 10.0.0.1@local 10.6.6.6@edge"]);
  assertEquals(union.findings(), []);
  union.allow("edge", ["b"]);
  assertEquals(served(union), ["shop/orders : 10.0.0.1"]);
});
