import { assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { makeSnapshot, ownCollections } from "../../lib/snapshot/snapshot.ts";
import { resource, snapshotOf } from "./snapshots.ts";

Deno.test("snapshot: our own are the ServiceEntries of our services, whatever others call theirs", () => {
  const own = snapshotOf({ "shop/orders": "x" });
  const foreign = Collection.of(MCP_RESOURCE_TYPE_URL, [resource("shop/orders", "routes")]);
  const entries = own.collections.get("ServiceEntry")!.patch([resource("edge/a", "y")], []);
  const collections = new Map(own.collections)
    .set("VirtualService", foreign)
    .set("ServiceEntry", entries);
  const found = ownCollections(makeSnapshot({ ...own, collections }));
  const names = (kind: string) => Array.from(found.get(kind) ?? [], ({ name }) => name);
  assertEquals([names("ServiceEntry"), names("VirtualService")], [["shop/orders"], []]);
});
