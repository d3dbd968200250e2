import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { Interest } from "../../lib/protocol/interest.ts";
import type { Collection } from "../../lib/snapshot/collection.ts";
import { collectionOf, type Contents } from "./fixtures.ts";

const NOTHING = collectionOf({});
const NAMES = ["a", "b", "c", "d", "e"];

function interest(wildcardAllowed = true): Interest {
  return new Interest({ nothing: NOTHING, wildcardAllowed });
}

function plain(collection: Collection): Contents {
  return Object.fromEntries([...collection].map(({ name, version }) => [name, version]));
}

Deno.test("interest: whatever happened before, a selection holds the wanted names of the newest collection", () => {
  const contents = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom("1", "2"), {
    noNullPrototype: true,
  });
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom(...NAMES, "*") }),
    fc.record({ remove: fc.constantFrom(...NAMES, "*") }),
    fc.record({ replace: fc.subarray([...NAMES, "*"]) }),
    fc.record({ select: contents }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 40, size: "max" }), contents, (steps, last) => {
    const asked = interest();
    let [wildcard, explicit] = [false, false];
    let wanted = new Set<string>();
    for (const step of steps) {
      if ("add" in step) {
        asked.add(step.add);
        explicit = true;
        if (step.add === "*") wildcard = true;
        else wanted.add(step.add);
      } else if ("remove" in step) {
        asked.remove(step.remove);
        if (step.remove === "*") wildcard = false;
        else wanted.delete(step.remove);
      } else if ("replace" in step) {
        asked.replace(step.replace);
        explicit ||= step.replace.length > 0;
        wildcard = step.replace.includes("*") || (step.replace.length === 0 && !explicit);
        wanted = new Set(step.replace.filter((name) => name !== "*"));
      } else {
        asked.select(collectionOf(step.select));
      }
    }
    const expected = Object.entries(last).filter(([name]) => wildcard || wanted.has(name));
    assertEquals(plain(asked.select(collectionOf(last))), Object.fromEntries(expected));
    assertEquals(asked.characters, wanted.size);
  }));
});

Deno.test("interest: a selection that does not change stays the same object", () => {
  const asked = interest();
  asked.add("a");
  const all = collectionOf({ a: "1", b: "1" });
  const selected = asked.select(all);
  assertStrictEquals(asked.select(all.patch(collectionOf({ b: "2" }), [])), selected);
});

Deno.test("interest: the wildcard selects the collection itself", () => {
  const asked = interest();
  asked.addLegacyWildcard();
  const all = collectionOf({ a: "1" });
  assertStrictEquals(asked.select(all), all);
});

Deno.test("interest: where the wildcard is not allowed neither star nor silence asks for anything", () => {
  const asked = interest(false);
  asked.addLegacyWildcard();
  assert(asked.nothing);
  asked.replace([]);
  assert(asked.nothing);
  asked.replace(["*"]);
  assertEquals(plain(asked.select(collectionOf({ a: "1" }))), {});
});

Deno.test("interest: growth and shrinking are told apart", () => {
  const asked = interest();
  assertEquals(asked.replace(["a", "b"]), { grown: true, shrunk: false });
  assertEquals(asked.replace(["b", "a"]), { grown: false, shrunk: false });
  assertEquals(asked.replace(["b", "c"]), { grown: true, shrunk: true });
  assertEquals(asked.replace(["*"]), { grown: true, shrunk: false });
  assertEquals(asked.replace(["*", "b"]), { grown: false, shrunk: false });
  assertEquals(asked.replace(["b"]), { grown: false, shrunk: true });
  assertEquals(asked.replace([]), { grown: false, shrunk: true });
});

Deno.test("interest: who names everything is given the newest collection itself, as with the wildcard", () => {
  const asked = interest(false);
  const first = collectionOf({ a: "1", b: "1" });
  asked.replace(["a", "b", "x"]);
  assertStrictEquals(asked.select(first), first);
  const second = first.patch(collectionOf({ b: "2" }), []);
  assertStrictEquals(asked.select(second), second);
  const third = second.patch([], ["a"]);
  assertStrictEquals(asked.select(third), third);
  const fourth = third.patch(collectionOf({ c: "1" }), []);
  assertEquals(plain(asked.select(fourth)), { b: "2" });
  asked.add("c");
  assertStrictEquals(asked.select(fourth), fourth);
  asked.remove("b");
  assertEquals(plain(asked.select(fourth)), { c: "1" });
});
