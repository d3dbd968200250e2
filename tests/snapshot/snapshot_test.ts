import { assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { makeSnapshot, ORIGINS_ANY_TYPE, ownCollections } from "../../lib/snapshot/snapshot.ts";
import { resource, snapshotOf } from "./snapshots.ts";

Deno.test("snapshot: our own are what our services become, whatever others call theirs", () => {
  const service = { name: "orders", namespace: "shop", hosts: ["a.example", "b.example"] };
  const split = { ...service, name: "split", subsets: { v1: {} }, split: { v1: 1 } };
  const own = snapshotOf({
    "shop/orders": JSON.stringify({ file: "c.yaml", service }),
    "shop/split": JSON.stringify({ file: "c.yaml", service: split }),
  });
  const of = (...names: string[]) =>
    Collection.of(MCP_RESOURCE_TYPE_URL, names.map((name) => resource(name, "routes")));
  const entries = own.collections.get("ServiceEntry")!.patch([resource("edge/a", "y")], []);
  const collections = new Map(own.collections)
    .set("ServiceEntry", entries)
    .set("VirtualService", of("shop/orders", "shop/split", "split/split"))
    .set("DestinationRule", of("shop/orders", "shop/split", "shop/split-host-2"))
    .set("Gateway", of("shop/split"));
  const names = (snapshot: Parameters<typeof makeSnapshot>[0], kind: string) =>
    Array.from(ownCollections(makeSnapshot(snapshot)).get(kind) ?? [], ({ name }) => name);
  const unknown = { ...own, collections };
  assertEquals(names(unknown, "ServiceEntry"), ["shop/orders", "shop/split"]);
  assertEquals(names(unknown, "VirtualService"), ["shop/split"]);
  assertEquals(names(unknown, "DestinationRule"), ["shop/split", "shop/split-host-2"]);
  assertEquals(names(unknown, "Gateway"), []);

  const theirs = Collection.of(ORIGINS_ANY_TYPE, [resource("shop/split", "edge-1")]);
  const known = { ...unknown, origins: new Map([["DestinationRule", theirs]]) };
  assertEquals(names(known, "DestinationRule"), ["shop/orders", "shop/split-host-2"]);
  assertEquals(names(known, "Gateway"), ["shop/split"]);
});
