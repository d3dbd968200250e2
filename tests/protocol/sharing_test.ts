/**
 * What streams share: nothing per peer that can be per snapshot.
 */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { xdsType } from "../../lib/model/xds_type.ts";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import { collectionResolver, type Resolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { Push, StreamMachine } from "../../lib/protocol/stream.ts";
import { nameChange, unionOf } from "../../lib/protocol/union.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { snapshotOf, xdsResolverOf } from "./fixtures.ts";
import { DeltaPeer, McpPeer, type ModelPeer, SotwPeer, type Wanted } from "./model_peers.ts";

const URL = "networking.istio.io/v1/ServiceEntry";
const COLLECTION = "istio/networking/v1alpha3/serviceentries";
const STREAMS = 50;
const ALL: Wanted = { all: true, names: [] };

function services(count: number, version: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`shop/s${i}`, version]));
}

const first = snapshotOf({ ServiceEntry: services(1000, "1") });
const second = snapshotOf(
  { ServiceEntry: { ...services(1000, "1"), "shop/s7": "2", "shop/new": "1" } },
  first,
);

/** Brings streams to the first snapshot, then gives each one's push of the second. */
function pushes<Request>(
  machineOf: () => StreamMachine<Request>,
  peerOf: () => ModelPeer<Request>,
): { readonly opening: Push[]; readonly change: Push[] } {
  const opening: Push[] = [];
  const change: Push[] = [];
  for (let i = 0; i < STREAMS; i++) {
    const machine = machineOf();
    const peer = peerOf();
    machine.retarget(first);
    assert(machine.receive(peer.connect(false)!).ok);
    const push = machine.next()!;
    opening.push(push);
    assert(machine.receive(peer.take(push, true)).ok);
    assertEquals(machine.next(), undefined);
    machine.retarget(second);
    change.push(machine.next()!);
  }
  return { opening, change };
}

function diffOf({ content }: Push) {
  assert(content.kind === "delta");
  return content.diff;
}

function collectionOf({ content }: Push) {
  assert(content.kind === "full");
  return content.collection;
}

Deno.test("delta: all streams that go from one state to another share one diff, the first push too", () => {
  const resolver = typeUrlResolver();
  const { opening, change } = pushes(
    () => new DeltaMachine({ prefix: "", resolver }),
    () => new DeltaPeer({ type: URL, complete: true }, ALL),
  );
  for (const push of opening) assertStrictEquals(diffOf(push), diffOf(opening[0]!));
  for (const push of change) assertStrictEquals(diffOf(push), diffOf(change[0]!));
  assertEquals(diffOf(change[0]!).changed.map((r) => r.name), ["shop/new", "shop/s7"]);
  const [piece] = diffOf(change[0]!).pieces("delta");
  assertStrictEquals(diffOf(change[1]!).pieces("delta")[0], piece);
  assertStrictEquals(
    diffOf(opening[0]!).pieces("delta")[0],
    first.collections.get("ServiceEntry")!.pieces("delta")[0],
  );
});

Deno.test("mcp incremental: all streams that go from one state to another share one diff", () => {
  const { opening, change } = pushes(
    () => {
      const resolver = collectionResolver({ unknownCollection: "empty" });
      return new McpSourceMachine({ prefix: "", resolver });
    },
    () => new McpPeer(COLLECTION, true),
  );
  for (const push of opening) {
    assertStrictEquals(collectionOf(push), first.collections.get("ServiceEntry"));
  }
  for (const push of change) assertStrictEquals(diffOf(push), diffOf(change[0]!));
});

Deno.test("sotw: all streams send the snapshot's own collection", () => {
  const resolver = typeUrlResolver();
  const { opening, change } = pushes(
    () => new SotwMachine({ prefix: "", resolver }),
    () => new SotwPeer({ type: URL, complete: true }, ALL),
  );
  for (const push of opening) {
    assertStrictEquals(collectionOf(push), first.collections.get("ServiceEntry"));
  }
  for (const push of change) {
    assertStrictEquals(collectionOf(push), second.collections.get("ServiceEntry"));
  }
});

Deno.test("delta: a client that comes back with the versions it had costs a diff of what differs", () => {
  const machine = new DeltaMachine({ prefix: "", resolver: typeUrlResolver() });
  const peer = new DeltaPeer({ type: URL, complete: true }, ALL);
  for (const { name, version } of first.collections.get("ServiceEntry")!) {
    peer.held.set(name, version);
  }
  machine.retarget(second);
  assert(machine.receive(peer.connect(true)!).ok);
  const { from, to, changed } = diffOf(machine.next()!);
  assertStrictEquals(to, second.collections.get("ServiceEntry"));
  assertEquals(changed.map((r) => r.name), ["shop/new", "shop/s7"]);
  const own = new Set(to.pieces("delta"));
  const unshared = from.pieces("delta").filter((piece) => !own.has(piece));
  assert(unshared.length <= 2, `${unshared.length} leaves of its own`);
});

Deno.test("a new target costs one look at each subscription, and nothing more where nothing changed", () => {
  let looks = 0;
  const served = typeUrlResolver();
  const resolver: Resolver = {
    resolve(type) {
      const resolution = served.resolve(type);
      if (resolution.kind === "unsupported") return resolution;
      const counted = (snapshot: Snapshot) => {
        looks++;
        return resolution.type.collection(snapshot);
      };
      return { kind: "served", type: { ...resolution.type, collection: counted } };
    },
  };
  const machine = new SotwMachine({ prefix: "", resolver });
  const peers = [URL, "networking.istio.io/v1/Gateway"].map((type) =>
    new SotwPeer({ type, complete: true }, ALL)
  );
  machine.retarget(first);
  for (const peer of peers) {
    assert(machine.receive(peer.connect(false)!).ok);
    assert(machine.receive(peer.take(machine.next()!, true)).ok);
  }
  assertEquals(machine.next(), undefined);
  looks = 0;
  machine.retarget(snapshotOf({ Sidecar: { "shop/x": "1" } }, first));
  assertEquals(looks, 2);
  assertEquals(machine.next(), undefined);
  assertEquals(looks, 2);
});

Deno.test("equal content in other objects, as after a restart, is no change", () => {
  const resolver = typeUrlResolver();
  const machine = new DeltaMachine({ prefix: "", resolver });
  const peer = new DeltaPeer({ type: URL, complete: true }, ALL);
  machine.retarget(first);
  assert(machine.receive(peer.connect(false)!).ok);
  assert(machine.receive(peer.take(machine.next()!, true)).ok);
  machine.retarget(snapshotOf({ ServiceEntry: services(1000, "1") }));
  assertEquals(machine.next(), undefined);
});

Deno.test("transitions: all streams that go from one set of clusters to another share the union, and its diffs", () => {
  const before = snapshotOf({ CDS: services(1000, "1"), RDS: { r: "1" } });
  const after = snapshotOf({
    CDS: { ...services(999, "1"), "shop/new": "1" },
    RDS: { r: "2" },
  }, before);
  const resolver = xdsResolverOf("envoy");
  const [cds, rds] = [xdsType("Cluster").typeUrl, xdsType("RouteConfiguration").typeUrl];
  const pushes = Array.from({ length: STREAMS }, () => {
    const machine = new DeltaMachine({ prefix: "", resolver });
    machine.retarget(before);
    for (
      const peer of [
        new DeltaPeer({ type: cds, complete: true }, ALL),
        new DeltaPeer({ type: rds, complete: false }, { all: false, names: ["r"] }),
      ]
    ) {
      assert(machine.receive(peer.connect(false)!).ok);
      assert(machine.receive(peer.take(machine.next()!, true)).ok);
    }
    machine.retarget(after);
    const push = machine.next()!;
    assertEquals([push.type, machine.next()], [cds, undefined]);
    return push;
  });
  for (const push of pushes) assertStrictEquals(diffOf(push), diffOf(pushes[0]!));
  assertEquals(diffOf(pushes[0]!).changed.map(({ name }) => name), ["shop/new"]);
  assertEquals(diffOf(pushes[0]!).removed, []);
  assertEquals(diffOf(pushes[0]!).to.size, 1001);
});

for (const [variant, Made] of [["sotw", SotwMachine], ["delta", DeltaMachine]] as const) {
  Deno.test(`${variant}: streams that name all there is share it, and what changes of it`, () => {
    const before = snapshotOf({ EDS: services(1000, "1") });
    const after = snapshotOf({ EDS: { ...services(1000, "1"), "shop/s7": "2" } }, before);
    const resolver = xdsResolverOf("envoy");
    const type = { type: xdsType("ClusterLoadAssignment").typeUrl, complete: false };
    const wanted = { all: false, names: Object.keys(services(1000, "")) };
    for (let i = 0; i < 3; i++) {
      const machine = new Made({ prefix: "", resolver }) as StreamMachine<unknown>;
      const peer = (variant === "sotw"
        ? new SotwPeer(type, wanted)
        : new DeltaPeer(type, wanted)) as ModelPeer<unknown>;
      machine.retarget(before);
      assert(machine.receive(peer.connect(false)!).ok);
      assert(machine.receive(peer.take(machine.next()!, true)).ok);
      machine.retarget(after);
      const push = machine.next()!;
      const now = after.collections.get("ClusterLoadAssignment")!;
      if (push.content.kind === "full") {
        assertStrictEquals(push.content.collection, now);
      } else {
        const then = before.collections.get("ClusterLoadAssignment")!;
        assertStrictEquals(push.content.diff, now.diff(then));
      }
    }
  });
}

Deno.test("transitions: where nothing is lost, the union is the newer itself", () => {
  const older = snapshotOf({ CDS: { a: "1" } });
  const newer = snapshotOf({ CDS: { a: "2", b: "1" } }, older);
  const [from, to] = [older, newer].map((one) => one.collections.get("Cluster")!);
  assertStrictEquals(unionOf(from!, to!), to);
  assertStrictEquals(unionOf(to!, to!), to);
  const both = unionOf(to!, from!);
  assertEquals([...both].map(({ name, version }) => `${name}@${version}`), ["a@1", "b@1"]);
  assertStrictEquals(unionOf(to!, from!), both);
  assertEquals(nameChange(to!, from!), { added: [], removed: ["b"] });
  assertEquals(nameChange(from!, to!), { added: ["b"], removed: [] });
});
