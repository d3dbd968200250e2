import { assertEquals, assertStrictEquals } from "@std/assert";
import { hasUnknown, heldCollection } from "../../lib/protocol/held.ts";
import { collectionOf } from "./fixtures.ts";

const EVERYTHING = { has: () => true };
const target = collectionOf({ a: "1", b: "1" });

Deno.test("held: a peer that holds the target is believed to hold that very object", () => {
  assertStrictEquals(heldCollection({ a: "1", b: "1" }, target, EVERYTHING), target);
});

Deno.test("held: what differs, what is missing and what is gone show in the diff", () => {
  const held = heldCollection({ a: "0", gone: "1" }, target, EVERYTHING);
  const { changed, removed } = target.diff(held);
  assertEquals(changed.map(({ name, version }) => `${name}@${version}`), ["a@1", "b@1"]);
  assertEquals(removed, ["gone"]);
  assertEquals(hasUnknown(held), true);
  assertEquals(hasUnknown(target), false);
});

Deno.test("held: names that are not asked for do not count", () => {
  const held = heldCollection({ a: "1", b: "1", other: "1" }, target, {
    has: (n) => n !== "other",
  });
  assertStrictEquals(held, target);
});

Deno.test("held: names of object members are names like any other", () => {
  const odd = collectionOf({ constructor: "1" });
  assertEquals(heldCollection({}, odd, EVERYTHING).size, 0);
  const versions = Object.assign(Object.create(null), { constructor: "1" });
  assertStrictEquals(heldCollection(versions, odd, EVERYTHING), odd);
});
