import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { Received } from "../../lib/protocol/stream.ts";
import { collectionOf, snapshotOf } from "./fixtures.ts";
import { DeltaPeer, McpPeer, SotwPeer } from "./model_peers.ts";

const URL = "networking.istio.io/v1/ServiceEntry";
const ALL = { all: true, names: [] };

function eventsOf(received: Received) {
  assert(received.ok);
  return received.events;
}

Deno.test("status: tells what was sent, ACKed and refused", () => {
  const machine = new SotwMachine({ prefix: "s-", resolver: typeUrlResolver() });
  const peer = new SotwPeer({ type: URL, complete: true }, ALL);
  machine.receive(peer.connect(false)!);
  const waiting = { type: URL, pending: false, acks: 0, nacks: 0, parked: 0 };
  assertEquals(machine.status(), [waiting]);
  machine.retarget(snapshotOf({ ServiceEntry: { a: "1" } }));
  const first = machine.next()!;
  assertEquals(machine.status(), [{ ...waiting, sentVersion: first.version, pending: true }]);
  machine.receive(peer.take(first, true));
  machine.retarget(snapshotOf({ ServiceEntry: { a: "2", b: "1" } }));
  const second = machine.next()!;
  machine.receive(peer.take(second, false));
  assertEquals(machine.status(), [{
    type: URL,
    sentVersion: second.version,
    ackedVersion: first.version,
    pending: false,
    acks: 1,
    nacks: 1,
    lastNack: "refused by the model",
    parked: 2,
  }]);
});

Deno.test("status: subscriptions are listed in the order of their types, with the number of their names", () => {
  const machine = new SotwMachine({ prefix: "", resolver: typeUrlResolver() });
  for (const kind of ["Sidecar", "Gateway", "ServiceEntry"]) {
    const type = `networking.istio.io/v1/${kind}`;
    const wanted = kind === "Gateway" ? { all: false, names: ["a", "b"] } : ALL;
    machine.receive(new SotwPeer({ type, complete: true }, wanted).connect(false)!);
  }
  assertEquals(
    machine.status().map(({ type, names }) => [type.split("/")[2], names]),
    [["Gateway", 2], ["ServiceEntry", undefined], ["Sidecar", undefined]],
  );
});

Deno.test("status: a sink that is spared a push counts as holding the version", () => {
  const collection = "istio/networking/v1alpha3/serviceentries";
  const resolver = collectionResolver({ unknownCollection: "empty" });
  const machine = new McpSourceMachine({ prefix: "", resolver });
  const peer = new McpPeer(collection, false);
  peer.held.set("shop/a", "1");
  machine.retarget(snapshotOf({ ServiceEntry: { "shop/a": "1" } }));
  machine.receive(peer.connect(true));
  assertEquals(machine.next(), undefined);
  const [status] = machine.status();
  assertEquals(status?.ackedVersion, collectionOf({ "shop/a": "1" }).version);
  assertEquals(status?.sentVersion, undefined);
});

Deno.test("nack: lists at most 20 names and keeps at most 2000 characters of the message", () => {
  const names = Array.from({ length: 30 }, (_, i) => `shop/s${10 + i}`);
  const machine = new DeltaMachine({ prefix: "", resolver: typeUrlResolver() });
  machine.retarget(snapshotOf({ ServiceEntry: Object.fromEntries(names.map((n) => [n, "1"])) }));
  const peer = new DeltaPeer({ type: URL, complete: true }, ALL);
  machine.receive(peer.connect(false)!);
  const answer = peer.take(machine.next()!, false);
  const long = { code: 13, message: "x".repeat(5000), details: [] };
  const [event] = eventsOf(machine.receive({ ...answer, errorDetail: long }));
  assert(event?.kind === "nack");
  assertEquals(event.names, names.slice(0, 20));
  assertEquals(event.message.length, 2000);
  assertEquals(machine.status()[0]?.lastNack?.length, 2000);
});

Deno.test("ack: the event gives the collection that the peer now holds", () => {
  const machine = new DeltaMachine({ prefix: "", resolver: typeUrlResolver() });
  const snapshot = snapshotOf({ ServiceEntry: { a: "1" } });
  machine.retarget(snapshot);
  const peer = new DeltaPeer({ type: URL, complete: true }, ALL);
  machine.receive(peer.connect(false)!);
  const [event] = eventsOf(machine.receive(peer.take(machine.next()!, true)));
  assert(event?.kind === "ack");
  assertStrictEquals(event.collection, snapshot.collections.get("ServiceEntry"));
});
