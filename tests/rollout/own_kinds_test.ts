/** What our own services become besides ServiceEntries, beside what other sources give, over a restart. */
import { assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { Origins } from "../../lib/receive/origins.ts";
import { Union } from "../../lib/receive/union.ts";
import { Publisher } from "../../lib/rollout/publisher.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { decodeSnapshot, encodeSnapshot } from "../../lib/snapshot/snapshot_file.ts";
import type { StoredSnapshot } from "../../lib/snapshot/store.ts";
import { resource, SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock } from "./fake_clock.ts";
import { changeOf, ScriptedStore } from "./loads.ts";

const RECORD = JSON.stringify({
  file: "c.yaml",
  service: {
    name: "a",
    namespace: "shop",
    hosts: ["a.example", "b.example"],
    subsets: { v1: {} },
    split: { v1: 1 },
  },
});
const SPLIT = {
  ServiceEntry: { "shop/a": "entry" },
  VirtualService: { "shop/a": "weights" },
  DestinationRule: { "shop/a": "subsets", "shop/a-host-2": "subsets" },
  Service: { "shop/a": RECORD },
};
const PLAIN = { ServiceEntry: SPLIT.ServiceEntry, Service: SPLIT.Service };

type Entries = Readonly<Record<string, Readonly<Record<string, string>>>>;

function loadOf(entries: Entries) {
  const changes = Object.entries(entries).map(([kind, named]) => changeOf(kind, named));
  return { usable: true, settings: SETTINGS, changes };
}

/** A publisher that unites our own with other sources', from what is stored. */
function publisherOf(stored?: StoredSnapshot) {
  const hub = new Hub();
  const unite = (snapshot: Snapshot | undefined) => {
    const union = new Union({
      merge: "refuse",
      ...(snapshot === undefined ? {} : { served: snapshot.collections }),
    });
    const origins = new Origins(union);
    return {
      set: (part: string, collections: Parameters<Union["set"]>[1]) => union.set(part, collections),
      get collections() {
        return union.collections;
      },
      get origins() {
        return origins.now();
      },
    };
  };
  const publisher = new Publisher({
    hub,
    store: new ScriptedStore(stored),
    clock: new FakeClock(),
    onEvent: () => {},
    unite,
  });
  return { publisher, hub };
}

function reopened(snapshot: Snapshot): StoredSnapshot {
  const pieces = [...encodeSnapshot(snapshot, { sequence: 1, savedAt: 5 })];
  return decodeSnapshot(new Uint8Array(pieces.flatMap((piece) => [...piece])));
}

function contents(snapshot: Snapshot): string[] {
  const text = new TextDecoder();
  return [...snapshot.collections].flatMap(([kind, collection]) =>
    Array.from(collection, ({ name, bytes }) => `${kind} ${name} ${text.decode(bytes)}`)
  );
}

const EVERYTHING = [
  "ServiceEntry shop/a entry",
  "VirtualService shop/a weights",
  "DestinationRule shop/a subsets",
  "DestinationRule shop/a-host-2 subsets",
];

for (const others of [false, true]) {
  const beside = others ? "beside other sources" : "alone";
  Deno.test(`own kinds: after a restart all of them are our own still, ${beside}`, async () => {
    const first = publisherOf();
    await first.publisher.restore();
    first.publisher.take(loadOf(SPLIT), { changedAt: 1, full: true });
    if (others) {
      const theirs = Collection.of(MCP_RESOURCE_TYPE_URL, [
        resource("edge/x", "theirs"),
        resource("shop/a", "theirs"),
      ]);
      first.publisher.offer("edge", new Map([["VirtualService", theirs]]), { changedAt: 1 });
    }
    await first.publisher.idle();
    const published = first.hub.current!.snapshot;
    const expected = others
      ? EVERYTHING.toSpliced(1, 0, "VirtualService edge/x theirs")
      : EVERYTHING;
    assertEquals(contents(published), expected);

    const second = publisherOf(reopened(published));
    await second.publisher.restore();
    assertEquals(contents(second.hub.current!.snapshot), expected);
    // The file says less by now: what it no longer says goes, and nothing of the others'.
    second.publisher.take(loadOf(PLAIN), { changedAt: 2, full: true });
    if (others) {
      const theirs = Collection.of(MCP_RESOURCE_TYPE_URL, [resource("edge/x", "theirs")]);
      second.publisher.offer("edge", new Map([["VirtualService", theirs]]), { changedAt: 2 });
    }
    await second.publisher.idle();
    const left = ["ServiceEntry shop/a entry"];
    assertEquals(
      contents(second.hub.current!.snapshot),
      others ? [...left, "VirtualService edge/x theirs"] : left,
    );
    await first.publisher[Symbol.asyncDispose]();
    await second.publisher[Symbol.asyncDispose]();
  });
}
