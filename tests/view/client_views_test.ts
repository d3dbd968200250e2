import { assert, assertEquals, assertNotEquals, assertStrictEquals } from "@std/assert";
import { XDS_TYPES } from "../../lib/model/xds_type.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { emptySnapshot, makeSnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import { ClientViews, type ViewKind } from "../../lib/view/client_views.ts";
import type { Select } from "../../lib/view/select.ts";
import type { Addresses, Catalogue } from "../../lib/view/served_service.ts";
import type { Maker, XdsView } from "../../lib/view/view_maker.ts";
import { resource, SETTINGS } from "../snapshot/snapshots.ts";

const ALL: Select = { namespaces: [], labels: {} };
const SHOP: Select = { namespaces: ["shop"], labels: {} };

/** Makes views of one cluster, which says of what it was made; wants the address of `dns.example`. */
class OneCluster implements Maker {
  #view: XdsView | undefined;
  #text = "";

  constructor(readonly kind: string) {}

  make({ context }: Catalogue, addresses: Addresses): XdsView {
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

function setUp() {
  const addresses = new Map<string, readonly string[]>();
  const made: string[] = [];
  const maker = (kind: string) => () => new OneCluster(kind);
  const views = new ClientViews({
    makers: { envoy: maker("envoy"), grpc: maker("grpc"), dubbo: maker("dubbo") },
    addresses,
    onMade: (kind, { findings }) => made.push(`${kind}: ${findings[0]!.message}`),
  });
  return { views, addresses, made };
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
  const { views, made } = setUp();
  const snapshot = emptySnapshot(SETTINGS);
  const view = views.of("envoy", ALL, snapshot);
  assertEquals(clusterOf(view), "envoy default ?");
  assertStrictEquals(
    view.collections.get("ServiceEntry"),
    snapshot.collections.get("ServiceEntry"),
  );
  assertStrictEquals(views.of("envoy", { ...ALL }, snapshot), view);
  assertEquals(made, ["envoy: envoy default ?"]);
  assertEquals(clusterOf(views.of("grpc", ALL, snapshot)), "grpc default ?");
  assertEquals(views.size, 2);
});

Deno.test("client views: another snapshot is another view, with an id of its own content", () => {
  const { views } = setUp();
  const first = views.of("envoy", ALL, emptySnapshot(SETTINGS));
  const second = views.of("envoy", ALL, inNamespace("shop"));
  assertEquals(clusterOf(second), "envoy shop ?");
  assertNotEquals(second.id, first.id);
  assertNotEquals(views.of("grpc", ALL, inNamespace("shop")).id, second.id);
  assertEquals(setUp().views.of("envoy", ALL, inNamespace("shop")).id, second.id);
});

Deno.test("client views: where only another thing of the snapshot changed, the xDS collections are the same", () => {
  const { views, made } = setUp();
  const first = emptySnapshot(SETTINGS);
  const second = makeSnapshot({ ...first, settings: { ...SETTINGS, include: [] } });
  const [a, b] = [views.of("envoy", ALL, first), views.of("envoy", ALL, second)];
  assert(a !== b && a.collections.get("Cluster") === b.collections.get("Cluster"));
  assertEquals(made.length, 1);
});

Deno.test("client views: new addresses make a new view of the same snapshot", () => {
  const { views, addresses } = setUp();
  const snapshot = emptySnapshot(SETTINGS);
  const before = views.of("dubbo", ALL, snapshot);
  assertEquals([...views.lookUps()], ["dns.example"]);
  addresses.set("dns.example", ["192.0.2.1"]);
  const after = views.of("dubbo", ALL, snapshot);
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
