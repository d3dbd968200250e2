import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { XDS_TYPES } from "../../lib/model/xds_type.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { emptySnapshot, makeSnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import { runThrough } from "../../lib/view/run_through.ts";
import { Slices } from "../../lib/view/slices.ts";
import { ClientViews, type ViewKind } from "../../lib/view/client_views.ts";
import type { Select } from "../../lib/view/select.ts";
import type { Addresses, Catalogue } from "../../lib/view/served_service.ts";
import type { Maker, XdsView } from "../../lib/view/view_maker.ts";
import { resource, SETTINGS } from "../snapshot/snapshots.ts";

const ALL: Select = { namespaces: [], labels: {} };
const SHOP: Select = { namespaces: ["shop"], labels: {} };

/** Makes views of one cluster, which says of what it was made; wants the address of `dns.example`. */
class OneCluster implements Maker {
  /** Steps that the next view takes. */
  static steps = 0;
  #view: XdsView | undefined;
  #text = "";

  constructor(readonly kind: string) {}

  make(catalogue: Catalogue, addresses: Addresses): XdsView {
    return runThrough(this.making(catalogue, addresses));
  }

  *making({ context }: Catalogue, addresses: Addresses): Generator<void, XdsView> {
    for (let step = 0; step < OneCluster.steps; step++) yield;
    const text = `${this.kind} ${context.namespace} ${addresses.get("dns.example") ?? "?"}`;
    if (this.#view !== undefined && this.#text === text) return this.#view;
    this.#text = text;
    const collections = new Map(XDS_TYPES.map(({ name, typeUrl }) => [
      name,
      Collection.of(typeUrl, name === "Cluster" ? [resource("one", text)] : []),
    ]));
    const findings = [{ key: "s/a", rule: "view/odd", message: text }];
    return this.#view = { collections, lookUps: new Set(["dns.example"]), findings };
  }
}

/** Addresses, of which those of `pending` are being looked up for the first time. */
class Book extends Map<string, readonly string[]> implements Addresses {
  readonly names = new Set<string>();
  pending(host: string): boolean {
    return this.names.has(host);
  }
}

function setUp() {
  const addresses = new Book();
  const made: string[] = [];
  const ready: string[] = [];
  const deferred: (() => void)[] = [];
  let now = 0;
  const slices = new Slices({
    longest: 3,
    now: () => now++,
    defer: (next) => void deferred.push(next),
  });
  const maker = (kind: string) => () => new OneCluster(kind);
  const views = new ClientViews({
    makers: { envoy: maker("envoy"), grpc: maker("grpc"), dubbo: maker("dubbo") },
    addresses,
    onMade: (kind, { findings }) => made.push(`${kind}: ${findings[0]!.message}`),
    onReady: () => ready.push("ready"),
    slices,
  });
  const turn = () => deferred.splice(0).forEach((next) => next());
  /** The view, which must be had at once. */
  const of = (kind: ViewKind, select: Select, snapshot: Snapshot) => {
    const { view, current } = views.of(kind, select, snapshot);
    assert(view !== undefined && current);
    return view;
  };
  return { views, of, addresses, made, ready, turn };
}

function clusterOf(view: Snapshot): string {
  return new TextDecoder().decode(view.collections.get("Cluster")!.get("one")!.bytes);
}

/** A snapshot whose context is another than that of `emptySnapshot(SETTINGS)`. */
function inNamespace(namespace: string): Snapshot {
  const { collections, services } = emptySnapshot(SETTINGS);
  const settings = { ...SETTINGS, defaults: { ...SETTINGS.defaults, namespace } };
  return makeSnapshot({ collections, services, settings });
}

Deno.test("client views: a view is the snapshot and the xDS types, made once for all of its kind", () => {
  const { views, of, made } = setUp();
  const snapshot = emptySnapshot(SETTINGS);
  const view = of("envoy", ALL, snapshot);
  assertEquals(clusterOf(view), "envoy default ?");
  assertStrictEquals(
    view.collections.get("ServiceEntry"),
    snapshot.collections.get("ServiceEntry"),
  );
  assertStrictEquals(of("envoy", { ...ALL }, snapshot), view);
  assertEquals(made, ["envoy: envoy default ?"]);
  assertEquals(clusterOf(of("grpc", ALL, snapshot)), "grpc default ?");
  assertEquals(views.size, 2);
});

Deno.test("client views: another snapshot is another view, with an id of its own content", () => {
  const { of } = setUp();
  const first = of("envoy", ALL, emptySnapshot(SETTINGS));
  const second = of("envoy", ALL, inNamespace("shop"));
  assertEquals(clusterOf(second), "envoy shop ?");
  assertNotEquals(second.id, first.id);
  assertNotEquals(of("grpc", ALL, inNamespace("shop")).id, second.id);
  assertEquals(setUp().of("envoy", ALL, inNamespace("shop")).id, second.id);
});

Deno.test("client views: where only another thing of the snapshot changed, the xDS collections are the same", () => {
  const { of, made } = setUp();
  const first = emptySnapshot(SETTINGS);
  const second = makeSnapshot({ ...first, settings: { ...SETTINGS, include: [] } });
  const [a, b] = [of("envoy", ALL, first), of("envoy", ALL, second)];
  assert(a !== b && a.collections.get("Cluster") === b.collections.get("Cluster"));
  assertEquals(made.length, 1);
});

Deno.test("client views: new addresses make a new view of the same snapshot", () => {
  const { views, of, addresses } = setUp();
  const snapshot = emptySnapshot(SETTINGS);
  const before = of("dubbo", ALL, snapshot);
  assertEquals([...views.lookUps()], ["dns.example"]);
  addresses.set("dns.example", ["192.0.2.1"]);
  const after = of("dubbo", ALL, snapshot);
  assertEquals([clusterOf(before), clusterOf(after)], [
    "dubbo default ?",
    "dubbo default 192.0.2.1",
  ]);
});

Deno.test("client views: those that nobody has any more are forgotten, and their findings with them", () => {
  const { views } = setUp();
  const snapshot = emptySnapshot(SETTINGS);
  const kinds: ViewKind[] = ["envoy", "grpc"];
  for (const kind of kinds) for (const select of [ALL, SHOP]) views.of(kind, select, snapshot);
  assertEquals(views.size, 4);
  views.retain([["envoy", ALL], ["grpc", SHOP]]);
  assertEquals(views.size, 2);
  assertEquals([...views.findings()].map(([kind, found]) => [kind, found.length]), [
    ["envoy", 1],
    ["grpc", 1],
  ]);
  views.retain([]);
  assertEquals([views.size, [...views.lookUps()]], [0, []]);
});

Deno.test("client views: one that takes long is made little by little; until then clients have the one before", () => {
  const { views, made, ready, turn } = setUp();
  OneCluster.steps = 7;
  const [first, second] = [emptySnapshot(SETTINGS), inNamespace("shop")];
  assertEquals(views.of("envoy", ALL, first), { current: false });
  turn();
  assertEquals([views.of("envoy", ALL, first), made, ready], [{ current: false }, [], []]);
  turn();
  turn();
  assertEquals([made, ready], [["envoy: envoy default ?"], ["ready"]]);
  OneCluster.steps = 0;
  const had = views.of("envoy", ALL, first);
  assertEquals([had.current, clusterOf(had.view!)], [true, "envoy default ?"]);
  OneCluster.steps = 7;
  const meanwhile = views.of("envoy", ALL, second);
  assertEquals([meanwhile.current, meanwhile.view], [false, had.view]);
});

Deno.test("client views: work on a snapshot that is outdated is given up, of every kind", () => {
  const { views, made, turn } = setUp();
  OneCluster.steps = 5;
  const [first, second] = [emptySnapshot(SETTINGS), inNamespace("shop")];
  views.of("envoy", ALL, first);
  views.of("grpc", ALL, first);
  views.of("envoy", ALL, second);
  for (let i = 0; i < 5; i++) turn();
  assertEquals(made, ["envoy: envoy shop ?"]);
  views.of("grpc", ALL, second);
  for (let i = 0; i < 5; i++) turn();
  assertEquals(made, ["envoy: envoy shop ?", "grpc: grpc shop ?"]);
  OneCluster.steps = 0;
});

Deno.test("client views: one is put off until its names were looked up, and clients keep the one before", () => {
  const { views, of, addresses, made } = setUp();
  const [first, second] = [emptySnapshot(SETTINGS), inNamespace("shop")];
  addresses.names.add("dns.example");
  assertEquals(views.of("grpc", ALL, first), { current: false });
  assertEquals([...views.lookUps()], ["dns.example"], "they are to be looked up");
  assertEquals(views.of("grpc", ALL, first), { current: false });
  assertEquals(made, []);
  addresses.set("dns.example", ["192.0.2.1"]);
  addresses.names.clear();
  const had = of("grpc", ALL, first);
  assertEquals(clusterOf(had), "grpc default 192.0.2.1");

  addresses.names.add("dns.example");
  assertEquals(views.of("grpc", ALL, second), { view: had, current: false });
  assertEquals([...views.lookUps()], ["dns.example"]);
  addresses.names.clear(); // nothing was found
  assertEquals(clusterOf(of("grpc", ALL, second)), "grpc shop 192.0.2.1");
});
