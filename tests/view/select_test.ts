import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import {
  emptySnapshot,
  makeSnapshot,
  SERVICES_ANY_TYPE,
  type Snapshot,
} from "../../lib/snapshot/snapshot.ts";
import { type Select, Views } from "../../lib/view/select.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import { mcpResourceCodec } from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";

type Labels = Readonly<Record<string, string>>;
/** What there is: labels and a text, by name. */
type World = Readonly<Record<string, { readonly labels?: Labels; readonly text?: string }>>;

function entry(name: string, { labels = {}, text = "" }: World[string]): Resource {
  const metadata = { name, labels, annotations: { text } };
  const bytes = mcpResourceCodec.encode({ metadata });
  return { name, version: contentHash([bytes]), bytes };
}

function service(name: string, { labels = {}, text = "" }: World[string]): Resource {
  const bytes = new TextEncoder().encode(JSON.stringify({ file: text, service: { labels } }));
  return { name, version: contentHash([bytes]), bytes };
}

/** A snapshot in which ServiceEntries and services are these; it shares with `before` what is equal. */
function snapshotOf(world: World, before: Snapshot = emptySnapshot(SETTINGS)): Snapshot {
  const next = (collection: Collection, make: typeof entry) => {
    const gone = [...collection].map(({ name }) => name).filter((name) => !(name in world));
    return collection.patch(Object.entries(world).map(([name, said]) => make(name, said)), gone);
  };
  const collections = new Map(before.collections);
  collections.set("ServiceEntry", next(before.collections.get("ServiceEntry")!, entry));
  const { settings } = before;
  return makeSnapshot({ collections, services: next(before.services, service), settings });
}

const select = (namespaces: string[], labels: Labels = {}): Select => ({ namespaces, labels });
const entries = (snapshot: Snapshot) => snapshot.collections.get("ServiceEntry")!;
const names = (collection: Collection) => [...collection].map(({ name }) => name);

const WORLD: World = {
  "shop/a": { labels: { team: "x", tier: "1" } },
  "shop/b": {},
  "shop-eu/c": { labels: { team: "x" } },
  "pay/d": { labels: { team: "y" } },
};

Deno.test("select: resources and services of the namespaces that fit a pattern", () => {
  const views = new Views();
  const snapshot = snapshotOf(WORLD);
  const of = (...patterns: string[]) => {
    const view = views.of(select(patterns), snapshot);
    assertEquals(names(view.services), names(entries(view)));
    return names(entries(view));
  };
  assertEquals(of("shop"), ["shop/a", "shop/b"]);
  assertEquals(of("shop*"), ["shop-eu/c", "shop/a", "shop/b"]);
  assertEquals(of("pay", "*-eu"), ["pay/d", "shop-eu/c"]);
  assertEquals(of("shop/a"), [], "a namespace is meant, not a name");
  assertEquals(of("sho"), []);
});

Deno.test("select: resources that have every label, with exactly that value", () => {
  const views = new Views();
  const snapshot = snapshotOf(WORLD);
  const of = (labels: Labels, ...patterns: string[]) => {
    const view = views.of(select(patterns, labels), snapshot);
    assertEquals(names(view.services), names(entries(view)));
    return names(entries(view));
  };
  assertEquals(of({ team: "x" }), ["shop-eu/c", "shop/a"]);
  assertEquals(of({ team: "x", tier: "1" }), ["shop/a"]);
  assertEquals(of({ team: "x" }, "shop"), ["shop/a"]);
  assertEquals(of({ team: "*" }), [], "values are no patterns");
  assertEquals(of({ toString: "x" }), []);
});

Deno.test("select: nothing that limits gives the snapshot itself", () => {
  const views = new Views();
  const snapshot = snapshotOf(WORLD);
  assertStrictEquals(views.of(select([]), snapshot), snapshot);
  assertStrictEquals(views.of(select(["*"]), snapshot), snapshot, "everything is inside");
});

Deno.test("select: an equal select and the same snapshot give the same view", () => {
  const views = new Views();
  const snapshot = snapshotOf(WORLD);
  const view = views.of(select(["shop", "pay"], { team: "x", tier: "1" }), snapshot);
  const again = views.of(select(["pay", "shop", "pay"], { tier: "1", team: "x" }), snapshot);
  assertStrictEquals(again, view);
});

Deno.test("select: a view's id is of its content", () => {
  const [one, other] = [new Views(), new Views()];
  const snapshot = snapshotOf(WORLD);
  const view = one.of(select(["shop"]), snapshot);
  assert(view.id !== snapshot.id);
  const { "pay/d": _, ...rest } = WORLD;
  assertEquals(other.of(select(["shop"]), snapshotOf(rest)).id, view.id);
  const all = makeSnapshot(snapshotOf({ "shop/a": WORLD["shop/a"]!, "shop/b": {} }));
  assertEquals(view.id, all.id, "of a snapshot that holds just this");
});

Deno.test("select: collections wholly inside are shared, and so is the view where nothing in it changed", () => {
  const views = new Views();
  const first = snapshotOf(WORLD);
  const view = views.of(select(["shop"]), first);
  for (const { kind } of KINDS) {
    if (kind === "ServiceEntry") continue;
    assertStrictEquals(view.collections.get(kind), first.collections.get(kind));
  }
  const second = snapshotOf({ ...WORLD, "pay/d": { text: "changed" } }, first);
  assertStrictEquals(views.of(select(["shop"]), second), view);
  const third = snapshotOf({ "shop/a": WORLD["shop/a"]!, "shop/b": {} }, second);
  assertStrictEquals(views.of(select(["shop"]), third), third, "by now everything is inside");
});

Deno.test("select: what leaves the view by its labels is gone from it, what enters is there", () => {
  const views = new Views();
  const wanted = select([], { team: "x" });
  const first = snapshotOf(WORLD);
  const before = entries(views.of(wanted, first));
  const second = snapshotOf({
    ...WORLD,
    "shop/a": { labels: { team: "z" } },
    "pay/d": { labels: { team: "x" } },
  }, first);
  const { changed, removed } = entries(views.of(wanted, second)).diff(before);
  assertEquals([changed.map((r) => r.name), removed], [["pay/d"], ["shop/a"]]);
});

/** Counts how often the bytes of resources are read. */
function counting(snapshot: Snapshot): { snapshot: Snapshot; reads: () => number } {
  let reads = 0;
  const watched = [...entries(snapshot)].map(({ name, version, bytes }) => ({
    name,
    version,
    get bytes() {
      reads++;
      return bytes;
    },
  }));
  const collections = new Map(snapshot.collections);
  collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, watched));
  reads = 0;
  return { snapshot: { ...snapshot, collections }, reads: () => reads };
}

const LARGE: World = Object.fromEntries(
  Array.from({ length: 10_000 }, (_, i) => [
    `${i % 2 === 0 ? "shop" : "pay"}/s${i}`,
    { labels: { team: i % 3 === 0 ? "x" : "y" } },
  ]),
);

Deno.test("select: one change in 10,000 costs what changed", () => {
  const views = new Views();
  const wanted = select(["shop"], { team: "x" });
  const bare = { ...snapshotOf(LARGE), services: Collection.empty(SERVICES_ANY_TYPE) };
  const { snapshot: first, reads } = counting(bare);
  const view = entries(views.of(wanted, first));
  const made = reads(); // the labels of 5,000, and the sizes of what stays
  assert(made >= 5000 && made < 7000, `${made} reads for the first view`);
  const changed = entry("shop/s0", { labels: { team: "x" }, text: "changed" });
  const collections = new Map(first.collections);
  collections.set("ServiceEntry", entries(first).patch([changed], ["shop/s6", "pay/s3"]));
  const next = entries(views.of(wanted, { ...first, collections }));
  const { changed: differ, removed } = next.diff(view);
  assertEquals([differ, removed], [[changed], ["shop/s6"]]);
  const more = reads() - made;
  assert(more < 2500, `${more} reads for the next: sizes of the leaves that changed`);
  const had = new Set(view.pieces("mcp"));
  const unshared = next.pieces("mcp").filter((piece) => !had.has(piece));
  assert(unshared.length <= 3, `${unshared.length} leaves made anew`);
});

Deno.test("select: labels of a resource are read once for all selects", () => {
  const views = new Views();
  const { snapshot, reads } = counting(snapshotOf(WORLD));
  views.of(select([], { team: "x" }), snapshot);
  const before = reads();
  views.of(select([], { team: "y" }), snapshot);
  assertEquals(reads() - before, 1, "the size of the only resource that stays");
});

Deno.test("select: of each select only the newest few views are kept, of forgotten selects none", () => {
  const views = new Views();
  let snapshot = snapshotOf(WORLD);
  for (let i = 0; i < 50; i++) {
    snapshot = snapshotOf({ ...WORLD, "shop/b": { text: `${i}` } }, snapshot);
    for (const namespace of ["shop", "pay"]) views.of(select([namespace]), snapshot);
  }
  assert(views.size <= 8, `${views.size} views`);
  const kept = views.of(select(["pay"]), snapshot);
  views.retain([select(["pay"])]);
  assert(views.size <= 4, `${views.size} views`);
  assertStrictEquals(views.of(select(["pay"]), snapshot), kept);
});

Deno.test("select: over random changes a patched view is the view made afresh", () => {
  const labels = fc.constantFrom<Labels>({}, { team: "x" }, { team: "y" }, { team: "x", t: "1" });
  const name = fc.constantFrom("shop/a", "shop/b", "shop-eu/c", "pay/d", "pay/e", "x/f");
  const world = fc.dictionary(
    name,
    fc.record({ labels, text: fc.constantFrom("", "1", "2") }),
  );
  const selects = fc.record({
    namespaces: fc.subarray(["shop", "shop*", "pay", "nowhere"]),
    labels: fc.constantFrom<Labels>({}, { team: "x" }),
  });
  fc.assert(fc.property(selects, fc.array(world, { maxLength: 8 }), (wanted, worlds) => {
    const views = new Views();
    let snapshot = emptySnapshot(SETTINGS);
    for (const one of worlds) {
      snapshot = snapshotOf({ ...one }, snapshot);
      const view = views.of(wanted, snapshot);
      const fresh = new Views().of(wanted, snapshot);
      assertEquals(view.id, fresh.id);
      assertEquals(names(entries(view)), names(entries(fresh)));
      assertEquals(entries(view).version, Collection.of("", entries(fresh)).version);
    }
  }));
});
