/**
 * What the rules of `peers` do to live sessions, whichever protocol they speak.
 */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { PeerMatch, PeerRule, Settings } from "../../lib/model/settings.ts";
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
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { emptySnapshot, makeSnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";
import {
  deltaCodec,
  incrementalMeshConfigCodec,
  mcpCodec,
  meshConfigCodec,
  sotwCodec,
} from "../../lib/transport/codecs.ts";
import type { Peer } from "../../lib/transport/push_stream.ts";
import { Sender } from "../../lib/transport/sender.ts";
import type { Session, SessionCodec } from "../../lib/transport/session.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import {
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  discoveryRequestCodec,
  discoveryResponseCodec,
  incrementalMeshConfigRequestCodec,
  incrementalMeshConfigResponseCodec,
  mcpResourceCodec,
  meshConfigRequestCodec,
  meshConfigResponseCodec,
  requestResourcesCodec,
  resourcesCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";
import { quietObserver } from "./quiet_observer.ts";

const COLLECTION = "istio/networking/v1alpha3/serviceentries";
const TYPE_URL = "networking.istio.io/v1/ServiceEntry";
const MESSAGE_URL = "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry";

function rule(match: PeerMatch, more: Partial<PeerRule> = {}): PeerRule {
  return { match, namespaces: [], labels: {}, wave: 1, ...more };
}

function snapshotOf(names: readonly string[], peers: readonly PeerRule[] = []): Snapshot {
  const settings: Settings = { ...SETTINGS, peers };
  const empty = emptySnapshot(settings);
  const resources = names.map((text) => {
    const [name, version = "1"] = text.split("@");
    const labels = { even: `${name!.length % 2 === 0}` };
    const bytes = mcpResourceCodec.encode({ metadata: { name: name!, version, labels } });
    return { name: name!, version: contentHash([bytes]), bytes };
  });
  const collections = new Map(empty.collections);
  collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources));
  return makeSnapshot({ ...empty, collections });
}

/** What a response says. */
interface Said {
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly nonce: string;
}

/** A protocol as the peer speaks it. */
interface Speaker {
  /** Whether its responses hold everything. */
  readonly full: boolean;
  open(sessions: Sessions, stream: FakeStream): Session<unknown>;
  request(id: string, nonce: string, told: Readonly<Record<string, string>>): Uint8Array;
  read(bytes: Uint8Array): Said;
}

/** Opens sessions of one protocol; their pushes are noted. */
function opener<Request>(
  codec: SessionCodec<Request>,
  machine: (prefix: string) => StreamMachine<Request>,
): Speaker["open"] {
  return (sessions, stream) => sessions.open(stream, machine, noting(codec)) as Session<unknown>;
}

/** Every push that was laid out, newest last. */
const pushes: Push[] = [];

function noting<Request>(codec: SessionCodec<Request>): SessionCodec<Request> {
  const compose = (push: Push) => {
    pushes.push(push);
    return codec.compose(push);
  };
  return { ...codec, compose };
}

const named = (list: readonly { readonly metadata?: { readonly name: string } }[]) =>
  list.map(({ metadata }) => metadata!.name);
const collections = collectionResolver({ unknownCollection: "empty" });
const messages = messageTypeResolver(collections);
const typeUrls = typeUrlResolver();

function mcp(incremental: boolean): Speaker {
  return {
    full: !incremental,
    open: opener(
      mcpCodec("mcp-source"),
      (prefix) => new McpSourceMachine({ prefix, resolver: collections }),
    ),
    request: (id, responseNonce, initialResourceVersions) =>
      requestResourcesCodec.encode({
        sinkNode: { id },
        collection: COLLECTION,
        responseNonce,
        incremental,
        initialResourceVersions,
      }),
    read: (bytes) => {
      const { resources, removedResources: removed, nonce } = resourcesCodec.decode(bytes);
      return { names: named(resources), removed, nonce };
    },
  };
}

const SPEAKERS: Readonly<Record<string, Speaker>> = {
  "mcp": mcp(false),
  "mcp incremental": mcp(true),
  "sotw": {
    full: true,
    open: opener(sotwCodec("me"), (prefix) => new SotwMachine({ prefix, resolver: typeUrls })),
    request: (id, responseNonce) =>
      discoveryRequestCodec.encode({ node: { id }, typeUrl: TYPE_URL, responseNonce }),
    read: (bytes) => {
      const { resources, nonce } = discoveryResponseCodec.decode(bytes);
      const names = named(resources.map(({ value }) => mcpResourceCodec.decode(value)));
      return { names, removed: [], nonce };
    },
  },
  "delta": {
    full: false,
    open: opener(deltaCodec("me"), (prefix) => new DeltaMachine({ prefix, resolver: typeUrls })),
    request: (id, responseNonce, initialResourceVersions) =>
      deltaDiscoveryRequestCodec.encode({
        node: { id },
        typeUrl: TYPE_URL,
        responseNonce,
        initialResourceVersions,
      }),
    read: (bytes) => {
      const response = deltaDiscoveryResponseCodec.decode(bytes);
      const { resources, removedResources: removed, nonce } = response;
      return { names: resources.map(({ name }) => name), removed, nonce };
    },
  },
  "mesh config": {
    full: true,
    open: opener(
      meshConfigCodec(),
      (prefix) => new MeshConfigMachine({ prefix, resolver: messages }),
    ),
    request: (id, responseNonce) =>
      meshConfigRequestCodec.encode({ sinkNode: { id }, typeUrl: MESSAGE_URL, responseNonce }),
    read: (bytes) => {
      const { resources, nonce } = meshConfigResponseCodec.decode(bytes);
      return { names: named(resources), removed: [], nonce };
    },
  },
  "mesh config incremental": {
    full: false,
    open: opener(
      incrementalMeshConfigCodec(),
      (prefix) => new IncrementalMeshConfigMachine({ prefix, resolver: messages }),
    ),
    request: (id, responseNonce, initialResourceVersions) =>
      incrementalMeshConfigRequestCodec.encode({
        sinkNode: { id },
        typeUrl: MESSAGE_URL,
        responseNonce,
        initialResourceVersions,
      }),
    read: (bytes) => {
      const response = incrementalMeshConfigResponseCodec.decode(bytes);
      const { resources, removedResources: removed, nonce } = response;
      return { names: named(resources), removed, nonce };
    },
  },
};

/** Sessions over fake streams. */
class Bench implements Disposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly sender = new Sender({ now: () => this.clock.now() });
  readonly sessions = new Sessions({
    targets: this.hub,
    sender: this.sender,
    clock: this.clock,
    observer: quietObserver,
  });

  async publish(names: readonly string[], peers?: readonly PeerRule[]): Promise<Snapshot> {
    const snapshot = snapshotOf(names, peers);
    this.hub.publish({ snapshot, changedAt: this.clock.now() });
    await settle();
    return snapshot;
  }

  [Symbol.dispose](): void {
    this.sessions[Symbol.dispose]();
    this.sender[Symbol.dispose]();
  }
}

/** One peer: it ACKs all it gets and knows what it holds. */
class TestPeer {
  readonly stream: FakeStream;
  readonly session: Session<unknown>;
  readonly held = new Set<string>();
  readonly #id: string;
  readonly #speaker: Speaker;
  /** Responses looked at. */
  seen = 0;

  constructor(speaker: Speaker, bench: Bench, id: string, peer: Partial<Peer> = {}) {
    this.#speaker = speaker;
    this.#id = id;
    this.stream = new FakeStream(peer);
    this.session = speaker.open(bench.sessions, this.stream);
  }

  async ask(told: Readonly<Record<string, string>> = {}): Promise<this> {
    this.stream.request(this.#speaker.request(this.#id, "", told));
    return await this.take();
  }

  /** Takes and ACKs what has come, until nothing more comes. */
  async take(): Promise<this> {
    await settle();
    while (this.seen < this.stream.written.length) {
      const { names, removed, nonce } = this.#speaker.read(this.stream.written[this.seen++]!);
      if (this.#speaker.full) this.held.clear();
      for (const name of removed) {
        assert(this.held.delete(name), `${name} is said to be gone, but was never there`);
      }
      for (const name of names) this.held.add(name);
      this.stream.request(this.#speaker.request(this.#id, nonce, {}));
      await settle();
    }
    return this;
  }

  get names(): string[] {
    return [...this.held].sort();
  }
}

for (const [protocol, speaker] of Object.entries(SPEAKERS)) {
  Deno.test(`peer rules, ${protocol}: each peer gets what its rule lets it, through changes`, async () => {
    using bench = new Bench();
    const rules = [rule({ id: "shop-*" }, { namespaces: ["shop"] }), rule({ id: "nobody" })];
    await bench.publish(["shop/a", "shop/b", "pay/c"], rules);
    const shop = await new TestPeer(speaker, bench, "shop-1").ask();
    const other = await new TestPeer(speaker, bench, "other").ask();
    assertEquals(shop.names, ["shop/a", "shop/b"]);
    assertEquals(other.names, ["pay/c", "shop/a", "shop/b"]);
    const before = shop.seen;
    await bench.publish(["shop/a", "shop/b", "pay/c@2", "pay/d"], rules);
    assertEquals((await other.take()).names, ["pay/c", "pay/d", "shop/a", "shop/b"]);
    assertEquals([(await shop.take()).names, shop.seen], [["shop/a", "shop/b"], before]);
    await bench.publish(["shop/b@2", "shop/e", "pay/c@2"], rules);
    assertEquals((await shop.take()).names, ["shop/b", "shop/e"]);
    assertEquals((await other.take()).names, ["pay/c", "shop/b", "shop/e"]);
  });

  Deno.test(`peer rules, ${protocol}: rules that change live change what each peer has`, async () => {
    using bench = new Bench();
    const names = ["shop/a", "shop/bb", "pay/c"];
    await bench.publish(names);
    const peer = await new TestPeer(speaker, bench, "shop-1").ask();
    assertEquals([peer.names, peer.session.rule], [["pay/c", "shop/a", "shop/bb"], undefined]);
    await bench.publish(names, [
      rule({ id: "x" }),
      rule({ id: "shop-*" }, { namespaces: ["shop"] }),
    ]);
    assertEquals([(await peer.take()).names, peer.session.rule], [["shop/a", "shop/bb"], 2]);
    await bench.publish(names, [rule({ id: "shop-1" }, { labels: { even: "true" }, wave: 3 })]);
    assertEquals((await peer.take()).names, ["shop/a"]);
    assertEquals([peer.session.rule, peer.session.wave], [1, 3]);
    await bench.publish(names, [rule({}, { namespaces: ["nowhere"] })]);
    assertEquals((await peer.take()).names, []);
    await bench.publish(names, []);
    assertEquals((await peer.take()).names, ["pay/c", "shop/a", "shop/bb"]);
    assertEquals([peer.session.rule, peer.session.wave], [undefined, 1]);
  });

  Deno.test(`peer rules, ${protocol}: peers of one select share what is laid out`, async () => {
    using bench = new Bench();
    const shop = { namespaces: ["shop"], labels: {} };
    const rules = [rule({ id: "a-*" }, shop), rule({ id: "b-*" }, { ...shop, wave: 2 })];
    await bench.publish(["shop/a", "shop/b", "pay/c"], rules);
    const peers = ["a-1", "a-2", "b-1"].map((id) => new TestPeer(speaker, bench, id));
    for (const peer of peers) await peer.ask();
    pushes.length = 0;
    await bench.publish(["shop/a@2", "shop/b", "pay/c@2"], rules);
    for (const peer of peers) await peer.take();
    assertEquals(pushes.length, 3);
    const shared = pushes.map(({ content }) =>
      content.kind === "full" ? content.collection : content.diff
    );
    for (const one of shared) assertStrictEquals(one, shared[0]);
  });
}

Deno.test("peer rules: a peer is told nothing before it said who it is", async () => {
  using bench = new Bench();
  await bench.publish(["shop/a"], [rule({}, { namespaces: ["shop"], as: "dubbo", wave: 4 })]);
  const peer = new TestPeer(SPEAKERS["sotw"]!, bench, "x");
  await settle();
  const { rule: before, kind, wave } = peer.session;
  assertEquals([before, kind, wave, peer.stream.written.length], [undefined, "istio", 1, 0]);
  await peer.ask();
  assertEquals([peer.session.rule, peer.session.kind, peer.session.wave], [1, "dubbo", 4]);
});

Deno.test("peer rules: a sink that does not say who it is falls under rules that do not ask it", async () => {
  using bench = new Bench();
  const rules = [rule({ id: "pilot*" }), rule({}, { namespaces: ["shop"] })];
  await bench.publish(["shop/a", "pay/b"], rules);
  const peer = new TestPeer(SPEAKERS["mcp"]!, bench, "");
  peer.stream.request(requestResourcesCodec.encode({ collection: COLLECTION }));
  assertEquals([(await peer.take()).names, peer.session.rule], [["shop/a"], 2]);
});

Deno.test("peer rules: who says later who it is falls under another rule from then on", async () => {
  using bench = new Bench();
  await bench.publish(["shop/a", "pay/b"], [rule({ id: "pilot*" }, { namespaces: ["shop"] })]);
  const peer = new TestPeer(SPEAKERS["mcp"]!, bench, "pilot-1");
  peer.stream.request(requestResourcesCodec.encode({ collection: COLLECTION }));
  await settle();
  assertEquals(peer.session.rule, undefined);
  assertEquals([(await peer.take()).names, peer.session.rule], [["shop/a"], 1]);
});

Deno.test("peer rules: a peer that changes its name afterwards stays who it was", async () => {
  using bench = new Bench();
  await bench.publish(["shop/a", "pay/b"], [rule({ id: "pilot*" }, { namespaces: ["shop"] })]);
  const peer = await new TestPeer(SPEAKERS["mcp"]!, bench, "pilot-1").ask();
  peer.stream.request(SPEAKERS["mcp"]!.request("other", "", {}));
  assertEquals([(await peer.take()).names, peer.session.peer?.id], [["shop/a"], "pilot-1"]);
});

Deno.test("peer rules: by annotations, metadata, identity, listener and sink", async () => {
  using bench = new Bench();
  await bench.publish(["shop/a"], [
    rule({ annotations: { site: "fra" } }),
    rule({ metadata: { GENERATOR: "api" } }),
    rule({ identity: "spiffe://example.org/*" }),
    rule({ listener: "*:15012" }),
    rule({ sink: "mesh-*" }, { wave: 2 }),
  ]);
  const ruleOf = async (session: Session<unknown>, stream: FakeStream, request: Uint8Array) => {
    stream.request(request);
    await settle();
    return session.rule;
  };
  const open = (speaker: Speaker, peer: Partial<Peer>) => {
    const stream = new FakeStream(peer);
    return [speaker.open(bench.sessions, stream), stream] as const;
  };
  const { mcp: sink, sotw } = SPEAKERS as { mcp: Speaker; sotw: Speaker };
  const annotated = { sinkNode: { annotations: { site: "fra" } }, collection: COLLECTION };
  assertEquals(await ruleOf(...open(sink, {}), requestResourcesCodec.encode(annotated)), 1);
  const fields = { GENERATOR: { stringValue: "api" }, N: { numberValue: 1 } };
  const node = { id: "x", metadata: { fields } };
  const asked = discoveryRequestCodec.encode({ node, typeUrl: TYPE_URL });
  assertEquals(await ruleOf(...open(sotw, {}), asked), 2);
  const plain = sink.request("x", "", {});
  const identity = { uris: ["spiffe://example.org/a"], dnsNames: [] };
  assertEquals(await ruleOf(...open(sink, { identity }), plain), 3);
  const [listened, stream] = open(sink, { listener: "0.0.0.0:15012" });
  assertEquals(await ruleOf(listened, stream, plain), 4);
  assertEquals(listened.listener, "0.0.0.0:15012");
  assertEquals(await ruleOf(...open(sink, { listener: "0.0.0.0:15010" }), plain), undefined);
  const dialled = new FakeStream();
  const session = bench.sessions.open(
    dialled,
    (prefix) => new McpSourceMachine({ prefix, resolver: collections, dialOut: true }),
    mcpCodec("mcp-sink"),
    { sink: "mesh-a" },
  );
  assertEquals(await ruleOf(session as Session<unknown>, dialled, plain), 5);
  assertEquals(session.wave, 2);
});

Deno.test("peer rules: where no rule says its wave, a sink we dial is in its own", async () => {
  using bench = new Bench();
  await bench.publish(["shop/a"]);
  const session = bench.sessions.open(
    new FakeStream(),
    (prefix) => new McpSourceMachine({ prefix, resolver: collections, dialOut: true }),
    mcpCodec("mcp-sink"),
    { sink: "mesh-a", wave: 3 },
  );
  assertEquals(session.wave, 3);
});

Deno.test("peer rules: what a peer says of itself is kept at no great length", () => {
  const many = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`${i}`.padStart(999, "k"), "v".repeat(9999)]),
  );
  const sinkNode = { id: "x".repeat(999), annotations: many };
  const bytes = requestResourcesCodec.encode({ sinkNode });
  const sink = mcpCodec("mcp-source").identify(requestResourcesCodec.decode(bytes))!;
  const fields = Object.fromEntries(
    Object.entries(many).map(([key, stringValue]) => [key, { stringValue }]),
  );
  const request = discoveryRequestCodec.encode({ node: { id: "x", metadata: { fields } } });
  const client = sotwCodec("me").identify(discoveryRequestCodec.decode(request))!;
  assertEquals(sink.id.length, 256);
  for (const texts of [sink.annotations!, client.metadata!]) {
    assert(Object.keys(texts).length <= 64);
    for (const part of Object.entries(texts).flat()) assert(part.length <= 256);
  }
});
