/**
 * Random schedules of changes, answers, refusals, stale nonces, changed names and reconnects, with a
 * model client of each protocol. fast-check prints seed and path of a failure.
 */
import fc from "fast-check";
import { DeltaMachine } from "../../lib/protocol/delta.ts";
import { McpSourceMachine } from "../../lib/protocol/mcp_source.ts";
import {
  IncrementalMeshConfigMachine,
  MeshConfigMachine,
  messageTypeResolver,
} from "../../lib/protocol/mesh_config.ts";
import { collectionResolver, typeUrlResolver } from "../../lib/protocol/resolve.ts";
import { SotwMachine } from "../../lib/protocol/sotw.ts";
import type { Push, StreamMachine } from "../../lib/protocol/stream.ts";
import type {
  DeltaDiscoveryRequest,
  DiscoveryRequest,
  RequestResources,
} from "../../lib/wire/messages.ts";
import { collectionOf, ENVOY_TYPES, xdsResolverOf } from "./fixtures.ts";
import { DeltaPeer, McpPeer, SotwPeer, type Wanted } from "./model_peers.ts";
import { type Action, World, type WorldOptions } from "./model_world.ts";

const NAMES = ["a", "b", "c", "d", "e", "f"];
const VERSIONS = ["1", "2", "3"];
const SERVICE_ENTRY = "networking.istio.io/v1/ServiceEntry";
const GATEWAY = "networking.istio.io/v1/Gateway";
const KINDS = ["ServiceEntry", "Gateway"];
/** Schedules per test; more by hand: MODEL_RUNS=5000 deno test --allow-read --allow-env tests/protocol/model_test.ts */
const RUNS = Number(Deno.env.get("MODEL_RUNS") ?? 150);
const ALL: Wanted = { all: true, names: [] };

const index = fc.nat({ max: 1 });
const change: fc.Arbitrary<Action> = fc.record({
  do: fc.constant("change" as const),
  kind: index,
  name: fc.constantFrom(...NAMES),
  version: fc.option(fc.constantFrom(...VERSIONS), { nil: undefined }),
});
const write: fc.Arbitrary<Action> = fc.constant({ do: "write" });
const toServer: fc.Arbitrary<Action> = fc.constant({ do: "to server" });
const toClient: fc.Arbitrary<Action> = fc.integer({ min: 0, max: 3 }).map((n) => ({
  do: "to client",
  accept: n > 0,
}));
const stale: fc.Arbitrary<Action> = index.map((peer) => ({ do: "stale", peer }));
const flip: fc.Arbitrary<Action> = index.map((peer) => ({ do: "flip", peer }));
const reopen = (versions: boolean): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant("reopen" as const),
    peer: index,
    versions: versions ? fc.boolean() : fc.constant(false),
  });
const reconnect = (versions: boolean): fc.Arbitrary<Action> =>
  (versions ? fc.boolean() : fc.constant(false)).map((v) => ({ do: "reconnect", versions: v }));
const rename = (all: boolean): fc.Arbitrary<Action> =>
  fc.record({
    do: fc.constant("rename" as const),
    peer: index,
    wanted: fc.record({
      all: all ? fc.boolean() : fc.constant(false),
      names: fc.subarray(NAMES),
    }),
  });

/** Runs random schedules; each ends at rest, then with a state of new versions that must arrive whole. */
function holds<Request>(
  world: () => WorldOptions<Request>,
  rare: readonly fc.Arbitrary<Action>[],
): void {
  const often = [change, change, write, write, toServer, toServer, toClient, toClient]
    .map((arbitrary) => ({ arbitrary, weight: 3 }));
  const seldom = rare.map((arbitrary) => ({ arbitrary, weight: 2 }));
  const schedule = fc.array(fc.oneof(...often, ...seldom), { maxLength: 80, size: "max" });
  fc.assert(
    fc.property(schedule, (actions) => {
      const running = new World(world());
      for (const action of actions) running.step(action);
      running.settle();
      running.checkHeld();
      for (const kind of running.kinds) {
        for (const name of NAMES) running.publish(kind, name, `new-${name}`);
      }
      running.settle();
      running.checkExact();
      running.publish(running.kinds[0]!, "a", undefined);
      running.settle();
      running.checkHeld();
    }),
    { numRuns: RUNS },
  );
}

function sotw(wanted: Wanted, partial = false): WorldOptions<DiscoveryRequest> {
  const resolver = typeUrlResolver();
  const options = partial ? { partial, poison } : {};
  return {
    types: [SERVICE_ENTRY, GATEWAY].map((type, i) => ({
      kind: KINDS[i]!,
      complete: true,
      peer: new SotwPeer({ type, complete: true }, wanted, options),
    })),
    machine: (prefix) => new SotwMachine({ prefix, resolver }),
    typeOf: (request) => request.typeUrl,
    nonceOf: (request) => request.responseNonce,
    reopens: true,
    strict: !partial,
    ...(partial ? { accepts: sound } : {}),
  };
}

function delta(wanted: Wanted, partial = false): WorldOptions<DeltaDiscoveryRequest> {
  const resolver = typeUrlResolver();
  const options = partial ? { partial, poison } : {};
  return {
    types: [SERVICE_ENTRY, GATEWAY].map((type, i) => ({
      kind: KINDS[i]!,
      complete: true,
      peer: new DeltaPeer({ type, complete: true }, wanted, options),
    })),
    machine: (prefix) => new DeltaMachine({ prefix, resolver }),
    typeOf: (request) => request.typeUrl,
    nonceOf: (request) => request.responseNonce,
    reopens: false,
    strict: !partial,
    ...(partial ? { accepts: sound } : {}),
  };
}

function endpoints(): WorldOptions<DiscoveryRequest> {
  const resolver = xdsResolverOf("envoy");
  return {
    types: ["EDS", "RDS"].map((kind) => {
      const type = ENVOY_TYPES.get(kind)!;
      const wanted = { all: false, names: ["a", "b"] };
      return { kind, complete: false, peer: new SotwPeer({ type, complete: false }, wanted) };
    }),
    machine: (prefix) => new SotwMachine({ prefix, resolver }),
    typeOf: (request) => request.typeUrl,
    nonceOf: (request) => request.responseNonce,
    reopens: true,
    strict: true,
  };
}

function mcp(incremental: boolean): WorldOptions<RequestResources> {
  const resolver = collectionResolver({ unknownCollection: "empty" });
  const collections = ["serviceentries", "gateways"].map((c) => `istio/networking/v1alpha3/${c}`);
  return {
    types: collections.map((type, i) => ({
      kind: KINDS[i]!,
      complete: true,
      peer: new McpPeer(type, incremental),
    })),
    machine: (prefix) => new McpSourceMachine({ prefix, resolver }),
    typeOf: (request) => request.collection,
    nonceOf: (request) => request.responseNonce,
    reopens: true,
    strict: true,
  };
}

/** A machine of AggregatedMeshConfigService, spoken to in the newer form. */
function meshConfigMachine(prefix: string, incremental: boolean): StreamMachine<RequestResources> {
  const resolver = messageTypeResolver(collectionResolver({ unknownCollection: "empty" }));
  const options = { prefix, resolver };
  const [full, delta] = [
    new MeshConfigMachine(options),
    new IncrementalMeshConfigMachine(options),
  ];
  const machine = incremental ? delta : full;
  return {
    receive: ({ collection: typeUrl, incremental: _, ...request }) =>
      incremental
        ? delta.receive({ ...request, typeUrl })
        : full.receive({ ...request, typeUrl, versionInfo: "" }),
    retarget: (snapshot) => machine.retarget(snapshot),
    // On the wire of the incremental form, everything there is adds to what the client says it holds.
    next: () => incremental ? additive(machine.next()) : machine.next(),
    status: () => machine.status(),
  };
}

function additive(push: Push | undefined): Push | undefined {
  if (push === undefined || push.content.kind === "delta") return push;
  const diff = push.content.collection.diff(NOTHING);
  return { ...push, content: { kind: "delta", diff } };
}

const NOTHING = collectionOf({});

/** A client that says by an empty map that it holds nothing, as those of delta xDS do. */
class ForgetfulPeer extends McpPeer {
  override connect(versions: boolean): RequestResources {
    if (!versions) this.held.clear();
    return super.connect(versions);
  }

  override reopen(versions: boolean): RequestResources {
    if (!versions) this.held.clear();
    return super.reopen(versions);
  }
}

function meshConfig(incremental: boolean): WorldOptions<RequestResources> {
  const Peer = incremental ? ForgetfulPeer : McpPeer;
  return {
    types: KINDS.map((kind) => {
      const type = `type.googleapis.com/istio.networking.v1alpha3.${kind}`;
      return { kind, complete: true, peer: new Peer(type, incremental) };
    }),
    machine: (prefix) => meshConfigMachine(prefix, incremental),
    typeOf: (request) => request.collection,
    nonceOf: (request) => request.responseNonce,
    reopens: true,
    strict: true,
  };
}

/** A client that refuses by content: version 2 of the first names. */
function poison(name: string, version: string): boolean {
  return version === "2" && name <= "c";
}

function sound({ content }: Push): boolean {
  const resources = content.kind === "full" ? [...content.collection] : content.diff.changed;
  return !resources.some(({ name, version }) => poison(name, version));
}

Deno.test("sotw: over random schedules a client ends with the newest state it did not refuse", () => {
  holds(() => sotw(ALL), [stale, reopen(false), reconnect(true)]);
});

Deno.test("sotw: the same with names that change", () => {
  holds(() => sotw({ all: false, names: ["a", "b"] }), [stale, rename(true), reconnect(true)]);
});

Deno.test("sotw: the same for types that have names only", () => {
  holds(endpoints, [stale, rename(false), reopen(false), reconnect(true)]);
});

Deno.test("sotw: the same with a client that takes the sound part of what it refuses", () => {
  holds(() => sotw(ALL, true), [stale, rename(true), reconnect(true)]);
});

Deno.test("delta: over random schedules a client ends with the newest state it did not refuse", () => {
  holds(() => delta(ALL), [stale, reconnect(true)]);
});

Deno.test("delta: the same with names that change", () => {
  holds(() => delta({ all: false, names: ["a", "b"] }), [stale, rename(true), reconnect(true)]);
});

Deno.test("delta: the same with a client that takes the sound part of what it refuses", () => {
  holds(() => delta(ALL, true), [stale, rename(true), reconnect(true)]);
});

Deno.test("mcp full: over random schedules a sink ends with the newest state it did not refuse", () => {
  holds(() => mcp(false), [stale, reopen(true), reconnect(true)]);
});

Deno.test("mcp incremental: over random schedules a sink ends with the newest state it did not refuse", () => {
  holds(() => mcp(true), [stale, reopen(true), reconnect(true)]);
});

Deno.test("mcp: the same with a sink that goes to and fro between full and incremental", () => {
  holds(() => mcp(false), [stale, flip, reopen(true), reconnect(true)]);
});

Deno.test("mesh config: over random schedules a sink ends with the newest state it did not refuse", () => {
  holds(() => meshConfig(false), [stale, reopen(false), reconnect(false)]);
});

Deno.test("mesh config incremental: over random schedules a sink ends with the newest state it did not refuse", () => {
  holds(() => meshConfig(true), [stale, reopen(true), reconnect(true)]);
});
