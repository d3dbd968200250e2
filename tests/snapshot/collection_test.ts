import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import type { Resource } from "../../lib/model/resource.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { composeDelta, encodeResources, flatten, type Format } from "../../lib/wire/compose.ts";
import { deltaDiscoveryResponseCodec } from "../../lib/wire/messages.ts";

const ANY = "type.googleapis.com/istio.mcp.v1alpha1.Resource";
const FORMATS: readonly Format[] = ["sotw", "delta", "mcp"];

function resource(name: string, version: string): Resource {
  return { name, version, bytes: new TextEncoder().encode(`${name}@${version}`) };
}

function many(count: number, version = "1"): Resource[] {
  return Array.from({ length: count }, (_, i) => resource(nameOf(i), version));
}

function nameOf(index: number): string {
  return `namespace-${index % 17}/service-${index}`;
}

/** Names from a small set, so that patches meet; some, by their hash, end a leaf. */
const name = fc.oneof(
  fc.nat(600).map(nameOf),
  fc.string({ unit: "binary", maxLength: 2 }),
  fc.constantFrom("__proto__", "constructor", "é", "\u{10000}", "\uffff"),
);
const someResource = fc.tuple(name, fc.constantFrom("1", "2", "3"))
  .map(([n, version]) => resource(n, version));

interface Patch {
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
}
const patch: fc.Arbitrary<Patch> = fc.record({
  changed: fc.array(someResource, { maxLength: 60 }),
  removed: fc.array(name, { maxLength: 60 }),
});
/** A first content large enough for several leaves, or none at all. */
const start = fc.constantFrom(0, 1, 100, 600).map((count) => many(count));

/** What a patch means, on a plain map. */
function apply(model: Map<string, Resource>, { changed, removed }: Patch): void {
  for (const n of removed) model.delete(n);
  for (const r of changed) model.set(r.name, r);
}

function sorted(resources: Iterable<Resource>): Resource[] {
  return [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function pairs(resources: Iterable<Resource>): string[][] {
  return [...resources].map((r) => [r.name, r.version]);
}

Deno.test("collection: whatever the way, equal content is equal in version, order and pieces", () => {
  fc.assert(
    fc.property(start, fc.array(patch, { maxLength: 6 }), (first, patches) => {
      const model = new Map(first.map((r) => [r.name, r]));
      let collection = Collection.of(ANY, first);
      for (const p of patches) {
        apply(model, p);
        collection = collection.patch(p.changed, p.removed);
      }
      const fresh = Collection.of(ANY, [...model.values()].reverse());
      assertEquals(pairs(collection), pairs(sorted(model.values())));
      assertEquals(collection.size, model.size);
      assertEquals(collection.version, fresh.version);
      for (const format of FORMATS) {
        assertEquals(hex(collection.pieces(format)), hex(fresh.pieces(format)));
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("collection: every resource is found by name, and no other", () => {
  fc.assert(
    fc.property(start, patch, name, (first, p, other) => {
      const model = new Map(first.map((r) => [r.name, r]));
      apply(model, p);
      const collection = Collection.of(ANY, first).patch(p.changed, p.removed);
      for (const r of model.values()) assertEquals(collection.get(r.name)?.version, r.version);
      assertEquals(collection.get(other)?.version, model.get(other)?.version);
    }),
    { numRuns: 100 },
  );
});

Deno.test("collection: a diff, applied to the old content, gives the new one, and holds no more", () => {
  fc.assert(
    fc.property(start, patch, patch, (first, one, other) => {
      const from = Collection.of(ANY, first).patch(one.changed, one.removed);
      const to = Collection.of(ANY, first).patch(other.changed, other.removed);
      const diff = to.diff(from);
      assertEquals(from.patch(diff.changed, diff.removed).version, to.version);
      for (const r of diff.changed) assertNotEquals(from.get(r.name)?.version, r.version);
      for (const n of diff.removed) assert(from.get(n) !== undefined && to.get(n) === undefined);
      assertEquals(new Set(diff.removed).size, diff.removed.length);
      assertEquals(new Set(diff.changed.map((r) => r.name)).size, diff.changed.length);
    }),
    { numRuns: 200 },
  );
});

Deno.test("collection: the pieces of a diff are its changed resources, in order", () => {
  fc.assert(
    fc.property(start, patch, (first, p) => {
      const from = Collection.of(ANY, first);
      const diff = from.patch(p.changed, p.removed).diff(from);
      const bytes = flatten(
        composeDelta({ type: "t", version: "v", nonce: "n" }, diff.pieces("delta")),
      );
      const read = deltaDiscoveryResponseCodec.decode(bytes);
      assertEquals(read.resources.map((r) => [r.name, r.version]), pairs(diff.changed));
    }),
    { numRuns: 100 },
  );
});

Deno.test("collection: a diff is made once, and its pieces once a format", () => {
  const from = Collection.of(ANY, many(300));
  const to = from.patch([resource(nameOf(5), "2")], []);
  assertStrictEquals(to.diff(from), to.diff(from));
  for (const format of FORMATS) {
    assertStrictEquals(to.diff(from).pieces(format)[0], to.diff(from).pieces(format)[0]);
  }
  assertEquals(from.diff(from).changed.length + from.diff(from).removed.length, 0);
  assertEquals(from.diff(from).pieces("mcp"), []);
});

Deno.test("collection: from nothing, a diff shares the pieces of the whole", () => {
  const to = Collection.of(ANY, many(1000));
  const diff = to.diff(Collection.empty(ANY));
  assertEquals(pairs(diff.changed), pairs(to));
  to.pieces("mcp").forEach((piece, i) => assertStrictEquals(diff.pieces("mcp")[i], piece));
});

Deno.test("collection: one change lays out one leaf again and leaves the old collection as it was", () => {
  const before = Collection.of(ANY, many(10_000));
  const version = before.version;
  const old = new Set(before.pieces("sotw"));
  assert(old.size > 40 && old.size < 160, `${old.size} leaves of about 128`);

  const after = before.patch([resource(nameOf(4711), "2")], []);
  assertEquals(after.pieces("sotw").filter((piece) => !old.has(piece)).length, 1);
  assertEquals(after.pieces("sotw").length, old.size);
  assertNotEquals(after.version, version);
  assertEquals([before.version, before.get(nameOf(4711))?.version], [version, "1"]);
  assertEquals(pairs(after.diff(before).changed), [[nameOf(4711), "2"]]);
});

Deno.test("collection: a resource put in or taken out lays out two leaves at most", () => {
  const before = Collection.of(ANY, many(3000));
  const old = new Set(before.pieces("mcp"));
  const fresh = (c: Collection) => c.pieces("mcp").filter((piece) => !old.has(piece)).length;
  for (let i = 0; i < 3000; i += 7) {
    assert(fresh(before.patch([], [nameOf(i)])) <= 1, `without ${nameOf(i)}`);
    assert(fresh(before.patch([resource(`${nameOf(i)}-new`, "1")], [])) <= 2, `after ${nameOf(i)}`);
  }
});

Deno.test("collection: without any one of its resources, the end of a leaf too, it is as if never there", () => {
  const all = many(600);
  const before = Collection.of(ANY, all);
  let merged = 0;
  for (const { name } of all) {
    const after = before.patch([], [name]);
    const fresh = Collection.of(ANY, all.filter((r) => r.name !== name));
    assertEquals([after.size, after.version], [599, fresh.version], `without ${name}`);
    if (after.pieces("mcp").length < before.pieces("mcp").length) merged++;
  }
  assert(merged > 0, "some of them ended a leaf");
});

Deno.test("collection: a patch that changes nothing is the collection itself", () => {
  const collection = Collection.of(ANY, many(300));
  assertStrictEquals(collection.patch([], []), collection);
  assertStrictEquals(collection.patch(many(300), ["not/there"]), collection);
  assertStrictEquals(collection.patch([resource(nameOf(1), "1")], [nameOf(1)]), collection);
});

Deno.test("collection: of two resources with one name the later stays; changed goes before removed", () => {
  const collection = Collection.of(ANY, [resource("a/b", "1"), resource("a/b", "2")]);
  assertEquals(pairs(collection), [["a/b", "2"]]);
  assertEquals(pairs(collection.patch([resource("a/b", "3")], ["a/b"])), [["a/b", "3"]]);
});

Deno.test("collection: empty", () => {
  const empty = Collection.empty(ANY);
  assertEquals([empty.size, [...empty], empty.pieces("mcp"), empty.get("a")], [
    0,
    [],
    [],
    undefined,
  ]);
  const cleared = Collection.of(ANY, many(500)).patch([], many(500).map((r) => r.name));
  assertEquals([cleared.size, cleared.version], [0, empty.version]);
  assertEquals(empty.diff(Collection.of(ANY, many(3))).removed, many(3).map((r) => r.name).sort());
});

Deno.test("collection: a version tells a name from a version and one resource from two", () => {
  const versions = [
    [resource("a", "bc")],
    [resource("ab", "c")],
    [resource("a", "b"), resource("c", "d")],
    [resource("a", "d"), resource("c", "b")],
    [],
  ].map((list) => Collection.of(ANY, list).version);
  assertEquals(new Set(versions).size, versions.length);
});

Deno.test("collection: 200,000 resources after a single one", () => {
  const later = Array.from({ length: 200_000 }, (_, i) => resource(`b/${i}`, "1"));
  const grown = Collection.of(ANY, [resource("a/first", "1")]).patch(later, []);
  assertEquals(grown.size, 200_001);
  assertEquals(grown.version, Collection.of(ANY, [resource("a/first", "1"), ...later]).version);
  assertEquals(grown.patch([], later.map((r) => r.name)).size, 1);
});

Deno.test("collection: one of 100,000 resources is patched, hashed and diffed in milliseconds", () => {
  let collection = Collection.of(ANY, many(100_000));
  collection.version;
  const times: number[] = [];
  for (let i = 0; i < 21; i++) {
    const begin = performance.now();
    const next = collection.patch([resource(nameOf(i * 4999), `${i + 2}`)], []);
    assertEquals(next.diff(collection).changed.length, 1);
    assert(next.version !== collection.version);
    times.push(performance.now() - begin);
    collection = next;
  }
  const median = times.sort((a, b) => a - b)[10]!;
  assert(median < 50, `${median} ms`); // 1 to 2 ms on an idle machine
});

function hex(pieces: readonly Uint8Array[]): string[] {
  return pieces.map((piece) => piece.toHex());
}

Deno.test("collection: pieces hold every resource, in order of names", () => {
  const collection = Collection.of(ANY, many(700));
  const whole = encodeResources("delta", ANY, sorted(many(700)));
  const pieces = collection.pieces("delta");
  assert(pieces.length > 1);
  assertEquals(
    flatten({ pieces, length: pieces.reduce((sum, p) => sum + p.length, 0) }).toHex(),
    whole.toHex(),
  );
});
