import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { Limits, namespaceOf } from "../../lib/receive/limits.ts";

Deno.test("limits: a part may fill what its patterns say, and everything where nothing was said", () => {
  const limits = new Limits();
  assert(limits.mayFill("edge", "shop"));
  assertFalse(limits.isLimited("edge"));
  assert(limits.set("edge", ["b", "team-*"]));
  assert(limits.isLimited("edge"));
  const answers = ["b", "team-1", "shop", "b"].map((name) => limits.mayFill("edge", name));
  assertEquals(answers, [true, true, false, true]);
  assert(limits.mayFill("other", "shop"));
  assert(limits.set("edge", ["shop"]));
  assertEquals(["b", "shop"].map((name) => limits.mayFill("edge", name)), [false, true]);
  assertFalse(limits.set("edge", ["shop"]), "that is nothing new");
  assert(limits.set("edge", []));
  assert(limits.mayFill("edge", "b"));
  assertFalse(limits.set("edge", []));
});

Deno.test("limits: our own configuration has none", () => {
  assertThrows(() => new Limits().set("", ["shop"]), TypeError, "our own configuration");
});

Deno.test("limits: a namespace is what stands before the first slash", () => {
  assertEquals(["shop/orders", "shop/a/b", "orders"].map(namespaceOf), ["shop", "shop", ""]);
});
