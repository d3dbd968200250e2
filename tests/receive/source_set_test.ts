import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import type { Judgement, ReceivedResource, SourceSet } from "../../lib/receive/received.ts";
import { applyPush, emptySet, heldVersions } from "../../lib/receive/source_set.ts";
import { ToldVersions } from "../../lib/receive/told_versions.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import { COLLECTION, received, TYPE_URL } from "./pushes.ts";

type Accepted = Extract<Judgement, { kind: "accepted" }>;

function push(
  resources: readonly ReceivedResource[],
  { removed = [], incremental = false, kindName = "ServiceEntry" }: {
    removed?: string[];
    incremental?: boolean;
    kindName?: string;
  } = {},
): Accepted {
  const head = { type: COLLECTION, nonce: "n", version: "v", incremental };
  return { kind: "accepted", head, kindName, resources, removed, findings: [] };
}

function one(name: string, text: string, told = text): ReceivedResource {
  const bytes = new TextEncoder().encode(text);
  return { resource: { name, version: contentHash([bytes]), bytes }, told };
}

function content(set: SourceSet): Record<string, string> {
  const collection = set.collections.get("ServiceEntry") ?? [];
  return Object.fromEntries(
    Array.from(collection, (r) => [r.name, new TextDecoder().decode(r.bytes)]),
  );
}

/** Number of resources over all kinds. */
function countOf({ collections }: SourceSet): number {
  return [...collections.values()].reduce((sum, { size }) => sum + size, 0);
}

Deno.test("source set: a full push replaces its kind, an incremental one changes it", () => {
  const full = applyPush(emptySet(), push([one("a/b", "1"), one("a/c", "2")]));
  assertEquals(content(full), { "a/b": "1", "a/c": "2" });
  const changed = applyPush(
    full,
    push([one("a/d", "3")], { incremental: true, removed: ["a/b", "not/there"] }),
  );
  assertEquals(content(changed), { "a/c": "2", "a/d": "3" });
  assertEquals(heldVersions(changed, COLLECTION), { "a/c": "2", "a/d": "3" });
  assertEquals(heldVersions(changed, TYPE_URL), { "a/c": "2", "a/d": "3" });
  assertEquals(heldVersions(changed, "unknown"), {});
  const replaced = applyPush(changed, push([one("a/e", "4")]));
  assertEquals(content(replaced), { "a/e": "4" });
  assertEquals(heldVersions(replaced, COLLECTION), { "a/e": "4" });
  const other = applyPush(replaced, push([one("a/e", "x")], { kindName: "Gateway" }));
  assertEquals([countOf(other), countOf(replaced)], [2, 1]);
  assertEquals(content(other), { "a/e": "4" });
  assertEquals(content(full), { "a/b": "1", "a/c": "2" });
});

Deno.test("source set: what changes nothing gives the same set, and what a source calls it alone is a change", () => {
  const set = applyPush(emptySet(), push([one("a/b", "1", "7")]));
  assertStrictEquals(applyPush(set, push([one("a/b", "1", "7")])), set);
  assertStrictEquals(applyPush(set, push([], { incremental: true, removed: ["x/y"] })), set);
  assertStrictEquals(applyPush(set, { ...push([one("a/c", "1")]), kindName: undefined }), set);
  const renamed = applyPush(set, push([one("a/b", "1", "8")]));
  assertEquals(heldVersions(renamed, COLLECTION), { "a/b": "8" });
  assertStrictEquals(
    renamed.collections.get("ServiceEntry"),
    set.collections.get("ServiceEntry"),
  );
});

Deno.test("source set: a push is not kept in memory by what did not change or by one that did", () => {
  const buffer = new Uint8Array(1 << 20);
  const inBuffer = (i: number): ReceivedResource => {
    const bytes = buffer.subarray(i * 1024, i * 1024 + 1000);
    return { resource: { name: `a/${i}`, version: `${i}`, bytes }, told: "" };
  };
  const set = applyPush(emptySet(), push(Array.from({ length: 500 }, (_, i) => inBuffer(i))));
  for (const { bytes } of set.collections.get("ServiceEntry")!) {
    assertEquals(bytes.length, 1000);
    assert(bytes.buffer.byteLength <= 16 * 1024 && bytes.buffer !== buffer.buffer);
  }
});

Deno.test("source set: any pushes one after the other leave what plain maps do", () => {
  const names = fc.integer({ min: 0, max: 300 }).map((i) => `a/${i}`);
  const texts = fc.integer({ min: 0, max: 3 }).map(String);
  const step = fc.record({
    incremental: fc.boolean(),
    entries: fc.uniqueArray(fc.tuple(names, texts, texts), { selector: ([n]) => n, maxLength: 90 }),
    removed: fc.array(names, { maxLength: 60 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let set = emptySet();
      let plain = new Map<string, string>();
      let told = new Map<string, string>();
      for (const { incremental, entries, removed } of steps) {
        const gone = removed.filter((name) => !entries.some(([n]) => n === name));
        const resources = entries.map(([name, text, version]) => one(name, text, version));
        set = applyPush(set, push(resources, { incremental, removed: incremental ? gone : [] }));
        if (!incremental) [plain, told] = [new Map(), new Map()];
        for (const name of incremental ? gone : []) plain.delete(name), told.delete(name);
        for (const [name, text, version] of entries) plain.set(name, text), told.set(name, version);
        assertEquals(content(set), Object.fromEntries(plain));
        assertEquals(heldVersions(set, COLLECTION), Object.fromEntries(told));
        assertEquals(set.told.get("ServiceEntry")?.size ?? 0, told.size);
        assertEquals(countOf(set), plain.size);
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("told versions: changes since another map are those that a comparison finds", () => {
  const edits = fc.array(fc.tuple(fc.nat(400).map(String), fc.option(fc.nat(2).map(String))), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(edits, edits, fc.boolean(), (first, second, same) => {
      const apply = (map: ToldVersions, list: typeof first) =>
        list.reduce((m, [k, v]) => v === null ? m.patch([], [k]) : m.patch([[k, v]], []), map);
      const from = apply(ToldVersions.of(new Map([["1", "0"], ["500", "0"]])), first);
      const base = same ? from : ToldVersions.of(new Map(from));
      const to = apply(base, second);
      const rebuilt = new Map(from);
      for (const [name, version] of to.changesSince(from)) {
        assert(rebuilt.get(name) !== version);
        if (version === undefined) rebuilt.delete(name);
        else rebuilt.set(name, version);
      }
      const sorted = (map: ReadonlyMap<string, string>) => [...map].sort();
      assertEquals(sorted(rebuilt), sorted(to));
      const seen: [string, string][] = [];
      to.forEach((version, name) => seen.push([name, version]));
      assertEquals(seen.sort(), sorted(to));
      assertEquals([[...to.keys()].length, [...to.values()].length], [to.size, to.size]);
    }),
    { numRuns: 200 },
  );
});

Deno.test("source set: a small change of a large set leaves nearly all of it alone", () => {
  let set = applyPush(emptySet(), push(received(3000)));
  const before = set.collections.get("ServiceEntry")!;
  const changed = received(1, "b");
  set = applyPush(set, push(changed, { incremental: true }));
  const after = set.collections.get("ServiceEntry")!;
  const shared = new Set(before.pieces("mcp"));
  const pieces = after.pieces("mcp");
  assert(pieces.filter((piece) => shared.has(piece)).length >= pieces.length - 2);
  assertEquals(after.diff(before).changed.map(({ name }) => name), ["shop/svc-0"]);
});
