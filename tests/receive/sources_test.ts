import { assert, assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { PullSettings, ReceiveSettings } from "../../lib/model/settings.ts";
import type { Judgement, SourceStore, StoredSource } from "../../lib/receive/received.ts";
import type { SourceConnection, SourceIntroduction } from "../../lib/receive/registry.ts";
import type { SourceEvent } from "../../lib/receive/source_events.ts";
import { type Restored, Sources } from "../../lib/receive/sources.ts";
import { MAX_SOURCES } from "../../lib/receive/source_store.ts";
import { type Collections, Parts } from "../../lib/rollout/parts.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { FakeClock, settle } from "../rollout/fake_clock.ts";
import { resource } from "../snapshot/snapshots.ts";

const TYPE = "istio/networking/v1alpha3/serviceentries";

const RECEIVE: ReceiveSettings = {
  address: "127.0.0.1:0",
  insecure: false,
  from: [],
  tokens: {},
  merge: "refuse",
  collections: [],
};

const PULL: PullSettings = {
  url: "xds://127.0.0.1:1",
  address: "127.0.0.1:1",
  headers: {},
  namespaces: [],
};

/** A push that holds these names and nothing else. */
function push(...names: string[]): Extract<Judgement, { kind: "accepted" }> {
  return {
    kind: "accepted",
    head: { type: TYPE, nonce: "n", version: "v", incremental: false },
    kindName: "ServiceEntry",
    resources: names.map((name) => ({ resource: resource(name, "x"), told: `${name}@1` })),
    removed: [],
    findings: [],
  };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `a/svc-${n}`);

/** Saves at once unless it is told to hang or fail. */
class Disk implements SourceStore {
  readonly sources = new Map<string, StoredSource>();
  failing: Error | undefined;
  hanging = false;
  load = () => Promise.resolve([...this.sources.values()]);
  save(source: StoredSource): Promise<void> {
    if (this.hanging) return new Promise(() => {});
    if (this.failing !== undefined) return Promise.reject(this.failing);
    this.sources.set(source.name, source);
    return Promise.resolve();
  }
  remove(name: string): Promise<void> {
    this.sources.delete(name);
    return Promise.resolve();
  }
  findings = () => [];
}

class Bench implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly events: SourceEvent[] = [];
  readonly allowed: string[] = [];
  /** What is in effect, by source. */
  readonly effect = new Map<string, Collections>();
  readonly offers: string[] = [];
  readonly parts = new Parts({ held: () => {}, released: () => {} });
  readonly sources: Sources;

  constructor(readonly disk = new Disk()) {
    this.sources = new Sources({
      store: disk,
      clock: this.clock,
      onEvent: (event) => this.events.push(event),
      pause: () => ({ [Symbol.dispose]: () => {} }),
      allowed: (name, namespaces) => this.allowed.push(`${name}: ${namespaces.join(" ")}`),
      offer: (name, collections, { trusted = false }) => {
        const limit = trusted ? 1 : 0.5;
        const offered = this.parts.offer(name, collections, { limit, since: 0 });
        if (offered === "accepted") this.#put(name, collections);
        this.offers.push(`${name}: ${this.names(name).join(" ")}`);
        return offered;
      },
    });
  }

  #put(name: string, collections: Collections | undefined): void {
    if (collections === undefined) this.effect.delete(name);
    else this.effect.set(name, collections);
  }

  /** Lets pass what is held of the only source that is. */
  confirm(): void {
    const { name, collections } = this.parts.confirm(this.parts.held[0]!.id)!;
    this.#put(name, collections);
    this.sources.confirmed(name);
  }

  connect(name: string, more: Partial<SourceIntroduction> = {}) {
    const connected = this.sources.connect({ name, address: "127.0.0.1", end: () => {}, ...more });
    assert(typeof connected.refused !== "string", "it is let in");
    return connected as SourceConnection;
  }

  names(source: string): string[] {
    return Array.from(this.effect.get(source)?.get("ServiceEntry") ?? [], ({ name }) => name);
  }

  get said(): string[] {
    return this.events.map(({ kind, name }) => `${name} ${kind}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const disposed = this.sources[Symbol.asyncDispose]();
    await this.clock.advance(2000); // it waits no longer for a save that hangs
    await disposed;
    assertEquals(this.clock.sleeping, 0, "no timer is left");
  }
}

function bench(rules: { receive?: ReceiveSettings; pull?: readonly PullSettings[] } = {}) {
  const made = new Bench();
  made.sources.configure({ receive: RECEIVE, pull: [], ...rules });
  return made;
}

const SIGNAL = new AbortController().signal;
const take = (source: SourceConnection, ...names: string[]) => source.take(push(...names), SIGNAL);

Deno.test("sources: what one gives is saved, then in effect; its versions are told at the next stream", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  assertEquals(edge.held(TYPE), {});
  assertEquals(await take(edge, "a/x", "a/y"), { ok: true });
  assertEquals(b.names("edge"), ["a/x", "a/y"]);
  assertEquals([...b.disk.sources.keys()], ["edge"]);
  edge[Symbol.dispose]();
  assertEquals(b.connect("edge").held(TYPE), { "a/x": "a/x@1", "a/y": "a/y@1" });
});

Deno.test("sources: what a source gave stays while it is away, marked stale, and over a restart", async () => {
  await using b = bench();
  const edge = b.connect("edge", { instance: "edge-1" });
  await take(edge, "a/x");
  assertEquals(b.sources.status()[0]?.state, "connected");
  edge[Symbol.dispose]();
  assertEquals(b.sources.status()[0]?.state, "stale");
  await using next = new Bench(b.disk);
  await next.sources.load({ served: new Map(), origins: new Map() });
  next.sources.configure({ receive: RECEIVE, pull: [] });
  assertEquals(next.names("edge"), ["a/x"]);
  assertEquals(next.sources.status().map(({ name, state }) => [name, state]), [["edge", "stale"]]);
  assertEquals(next.connect("edge").held(TYPE), { "a/x": "a/x@1" });
});

Deno.test("sources: a second stream of one source takes the first one's place", async () => {
  await using b = bench();
  const ended: string[] = [];
  const first = b.connect("edge", { end: (reason) => ended.push(reason) });
  const second = b.connect("edge");
  assertEquals(ended, ["another stream of the same source has taken its place"]);
  assertEquals(await take(first, "a/old"), {
    ok: false,
    message: "another stream has taken its place",
  });
  await take(second, "a/new");
  first[Symbol.dispose]();
  assertEquals(b.names("edge"), ["a/new"]);
  assertEquals(b.sources.status()[0]?.state, "connected");
});

Deno.test("sources: one that is away for longer than it is kept is forgotten, unasked", async () => {
  await using b = bench({ receive: { ...RECEIVE, keep: 60_000 } });
  const edge = b.connect("edge");
  await take(edge, ...many(40));
  await b.clock.advance(120_000);
  assertEquals(b.names("edge").length, 40, "it is connected");
  edge[Symbol.dispose]();
  await b.clock.advance(59_000);
  const again = b.connect("edge");
  again[Symbol.dispose]();
  await b.clock.advance(59_000);
  assertEquals(b.names("edge").length, 40, "it was there in between");
  await b.clock.advance(1000);
  await settle();
  assertEquals(b.names("edge"), []);
  assertEquals(b.disk.sources.size, 0);
  assertEquals(b.said.at(-1), "edge forgotten");
});

Deno.test("sources: one that is emptied is held by itself, and is stored once that is confirmed", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  await take(edge, ...many(40));
  assertEquals(await take(edge, "a/svc-0"), { ok: true }, "it is valid, so it is acknowledged");
  assertEquals([b.names("edge").length, b.sources.status()[0]?.held], [40, true]);
  assertEquals(b.sources.status()[0]?.resources, { ServiceEntry: 40 }, "what is in effect");
  assertEquals(b.disk.sources.get("edge")?.set.collections.get("ServiceEntry")?.size, 40);
  b.confirm();
  await settle();
  assertEquals(b.names("edge"), ["a/svc-0"]);
  assertEquals(b.disk.sources.get("edge")?.set.collections.get("ServiceEntry")?.size, 1);
});

Deno.test("sources: what is held is not stored, even where a save of what came before it still waits", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  await take(edge, ...many(40));
  const saves = Promise.withResolvers<void>();
  const { disk } = b;
  const save = disk.save.bind(disk);
  disk.save = async (source) => {
    await saves.promise;
    await save(source);
  };
  const taken = [take(edge, ...many(41)), take(edge, ...many(42)), take(edge, "a/svc-0")];
  saves.resolve();
  assertEquals((await Promise.all(taken)).map(({ ok }) => ok), [true, true, true]);
  const size = () => disk.sources.get("edge")?.set.collections.get("ServiceEntry")?.size;
  assertEquals([size(), b.sources.status()[0]?.held], [42, true]);
  b.confirm();
  await settle();
  assertEquals([size(), b.sources.status()[0]?.held], [1, false]);
});

Deno.test("sources: what no rule admits is taken out, if the guard lets it; and comes back with its rule", async () => {
  await using b = bench({ pull: [PULL] });
  await take(b.connect("small"), "a/x");
  await take(b.connect(PULL.url), ...many(40));
  b.sources.configure({ pull: [] });
  await settle();
  assertEquals(b.names("small"), [], "few are taken at a word");
  assertEquals(b.names(PULL.url).length, 40, "many wait for a person");
  b.sources.configure({ pull: [PULL] });
  assertEquals(b.parts.held, [], "the rule is back");
  b.sources.configure({ pull: [] });
  b.confirm();
  await settle();
  assertEquals([b.names(PULL.url), b.disk.sources.size], [[], 0]);
});

Deno.test("sources: rules say who may come, and which namespaces it may fill", async () => {
  const from = [
    { source: "spiffe://example.org/edge/*", namespaces: ["a*"] },
    { source: "edge", namespaces: [] },
  ];
  await using b = bench({ receive: { ...RECEIVE, from } });
  const refused = b.sources.connect({ name: "other", address: "127.0.0.1", end: () => {} });
  assertEquals(refused, { refused: "no rule admits the source other" });
  assertEquals(b.connect("spiffe://example.org/edge/1").namespaces, ["a*"]);
  assertEquals(b.allowed, ["spiffe://example.org/edge/1: a*"]);
  const edge = b.connect("edge");
  assertEquals(edge.namespaces, []);
  await take(edge, "a/x", "b/x");
  b.sources.configure({
    receive: { ...RECEIVE, from: [{ source: "edge", namespaces: ["b"] }] },
    pull: [],
  });
  assertEquals(b.names("edge"), ["b/x"]);
  assertEquals(edge.namespaces, ["b"]);
  assertEquals(edge.held(TYPE), { "b/x": "b/x@1" });
});

Deno.test("sources: a rule with capitals counts for a DNS name, when it comes and when rules change", async () => {
  const receive = { ...RECEIVE, from: [{ source: "Edge.Example", namespaces: ["a"] }] };
  await using b = bench({ receive });
  const [name, address, end] = ["edge.example", "127.0.0.1", () => {}] as const;
  const byToken = b.sources.connect({ name, address, end, namedBy: "token" });
  assertEquals(byToken, { refused: "no rule admits the source edge.example" });
  const edge = b.sources.connect({ name, address, end, namedBy: "dns" }) as SourceConnection;
  await take(edge, "a/x", "b/y");
  const from = [{ source: "*.EXAMPLE", namespaces: ["b"] }, ...receive.from];
  b.sources.configure({ receive: { ...receive, from }, pull: [] });
  assertEquals(edge.namespaces, ["b"]);
});

Deno.test("sources: a disk that fails or hangs holds up no source for long", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  b.disk.failing = new Error("disk full");
  const message = "it is served, but not saved: disk full";
  assertEquals(await take(edge, "a/x"), { ok: false, message });
  assertEquals(b.names("edge"), ["a/x"]);
  assertEquals(b.sources.status()[0]?.saveError, "disk full");
  assertEquals(b.said.at(-1), "edge saveFailed");
  b.disk.failing = undefined;
  await take(edge, "a/x", "a/y");
  assertEquals(b.sources.status()[0]?.saveError, undefined);
  b.disk.hanging = true;
  const taken = take(edge, "a/z");
  await b.clock.advance(2000);
  assertEquals((await taken).ok, false);
  assertEquals(b.names("edge"), ["a/z"]);
});

Deno.test("sources: one that we dial and that turns us away each time is neither there nor told of", async () => {
  await using b = bench({ pull: [PULL] });
  const { url: name } = PULL;
  for (let attempt = 0; attempt < 3; attempt++) {
    const tried = b.sources.connect({ name, address: "::1", tentative: true, end: () => {} });
    (tried as SourceConnection)[Symbol.dispose]();
  }
  assertEquals([b.said, b.sources.status()[0]?.state], [[], "stale"]);
  const answering = b.sources.connect({ name, address: "::1", tentative: true, end: () => {} });
  await take(answering as SourceConnection, "a/x");
  assertEquals(b.said, [`${name} connected`, `${name} pushed`]);
  assertEquals(b.sources.status()[0]?.state, "connected");
});

Deno.test("sources: what could not be saved is acknowledged only once it is, and is tried again", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  b.disk.failing = new Error("disk full");
  assertEquals((await take(edge, "a/x")).ok, false);
  const again = b.connect("edge");
  assertEquals(again.held(TYPE), { "a/x": "a/x@1" }, "it is in effect");
  assertEquals((await take(again, "a/x")).ok, false, "the disk is still full");
  b.disk.failing = undefined;
  assertEquals(await take(again, "a/x"), { ok: true });
  assertEquals(b.disk.sources.size, 1);
  b.disk.failing = new Error("disk full");
  await take(again, "a/y");
  b.disk.failing = undefined;
  await b.clock.advance(30_000);
  await settle();
  assertEquals(b.sources.status()[0]?.saveError, undefined);
  const stored = b.disk.sources.get("edge")?.set.collections.get("ServiceEntry");
  assertEquals(Array.from(stored ?? [], ({ name }) => name), ["a/y"], "nobody had to push again");
});

Deno.test("sources: what could not be saved is saved at the end, if it can be", async () => {
  const b = bench();
  b.disk.failing = new Error("disk full");
  await take(b.connect("edge"), "a/x");
  b.disk.failing = undefined;
  await b[Symbol.asyncDispose]();
  assertEquals([...b.disk.sources.keys()], ["edge"]);
});

Deno.test("sources: one that comes back while it is being forgotten is stored after that", async () => {
  await using b = bench({ pull: [PULL] });
  await take(b.connect(PULL.url), "a/x");
  const removed = Promise.withResolvers<void>();
  const { disk } = b;
  const remove = disk.remove.bind(disk);
  disk.remove = async (name) => {
    await removed.promise;
    await remove(name);
  };
  b.sources.configure({ pull: [] });
  b.sources.configure({ pull: [PULL] });
  const taken = take(b.connect(PULL.url), "a/y");
  await settle();
  removed.resolve();
  assertEquals(await taken, { ok: true });
  assertEquals([b.names(PULL.url), disk.sources.size], [["a/y"], 1]);
});

Deno.test("sources: one that is forgotten does nothing more of itself", async () => {
  await using b = bench({ receive: { ...RECEIVE, keep: 60_000 } });
  const edge = b.connect("edge");
  await take(edge, "a/x");
  edge[Symbol.dispose]();
  await b.clock.advance(60_000);
  await settle();
  await take(b.connect("edge"), "a/y");
  await b.clock.advance(120_000);
  assertEquals(b.said.filter((line) => line === "edge forgotten").length, 1);
  assertEquals(b.names("edge"), ["a/y"]);
});

Deno.test("sources: what a refused push was about shows until one is taken", async () => {
  await using b = bench();
  const edge = b.connect("edge");
  const head = { type: TYPE, nonce: "1", version: "1", incremental: false };
  edge.refused({ kind: "refused", head, findings: [], message: "a/x: no ports" });
  assertEquals(b.sources.status()[0]?.refused?.message, "a/x: no ports");
  await take(edge, "a/x");
  assertEquals(b.sources.status()[0]?.refused, undefined);
});

/** What a snapshot says: each name with the source that gave it. */
function restored(owners: Readonly<Record<string, string>>): Restored {
  const names = Object.keys(owners);
  const entries = names.map((name) => ({
    name,
    version: owners[name]!,
    bytes: new Uint8Array(0),
  }));
  return {
    served: new Map([[
      "ServiceEntry",
      Collection.of(MCP_RESOURCE_TYPE_URL, names.map((name) => resource(name, "x"))),
    ]]),
    origins: new Map([["ServiceEntry", Collection.of("pinnace/Origin", entries)]]),
  };
}

Deno.test("sources: one whose set is lost has what was served of it, until it gives everything anew", async () => {
  await using b = bench();
  await b.sources.load(restored({ "a/x": "edge", "a/y": "edge", "b/z": "other" }));
  assertEquals([b.names("edge"), b.names("other")], [["a/x", "a/y"], ["b/z"]]);
  await settle();
  assertEquals([...b.disk.sources.keys()].sort(), ["edge", "other"], "and over another restart");
  const edge = b.connect("edge");
  assertEquals(edge.held(TYPE), { "a/x": "", "a/y": "" }, "it is to give everything anew");
  await take(edge, "a/y");
  assertEquals(b.names("edge"), ["a/y"]);
});

Deno.test("sources: what one took back before the process was killed is not served for ever", async () => {
  await using b = bench();
  await take(b.connect("edge"), "a/x");
  await using next = new Bench(b.disk);
  await next.sources.load(restored({ "a/x": "edge", "a/gone": "edge" }));
  assertEquals(next.names("edge"), ["a/x"]);
});

Deno.test("sources: after a restart each first has what it had, then what it would have", async () => {
  await using b = bench();
  await take(b.connect("first"), "a/contested", "a/x");
  await take(b.connect("second"), "a/contested", "a/y");
  await using next = new Bench(b.disk);
  await next.sources.load(restored({ "a/contested": "second", "a/x": "first", "a/y": "second" }));
  assertEquals(next.offers.slice(0, 2), ["first: a/x", "second: a/contested a/y"]);
  assertEquals(next.names("first"), ["a/contested", "a/x"]);
});

Deno.test("sources: only who says that it heeds what is held is asked for everything at once", async () => {
  await using b = bench();
  assertEquals(b.connect("galley", { instance: "galley-a" }).cautious, true);
  assertEquals(b.connect("edge", { instance: "edge-1", resumes: true }).cautious, false);
});

Deno.test("sources: a name that was proved once is nobody's who proves nothing, over restarts too", async () => {
  await using b = bench();
  const come = (bench: Bench, namedBy: string) =>
    bench.sources.connect({ name: "edge.example", address: "::1", namedBy, end: () => {} });
  await take(come(b, "instance") as SourceConnection, "a/x");
  await take(come(b, "dns") as SourceConnection, "a/y");
  await using next = new Bench(b.disk);
  await next.sources.load({ served: new Map(), origins: new Map() });
  next.sources.configure({ receive: RECEIVE, pull: [] });
  for (const each of [b, next]) {
    assertEquals(
      come(each, "instance").refused,
      "edge.example has proved its name by certificate or token before, and does not now",
    );
  }
  await take(come(next, "uri") as SourceConnection, "a/z");
  assertEquals(next.names("edge.example"), ["a/z"]);
});

Deno.test("sources: there is a bound on how many there are", async () => {
  await using b = bench();
  for (let n = 0; n < MAX_SOURCES; n++) b.connect(`edge-${n}`);
  const more = b.sources.connect({ name: "more", address: "127.0.0.1", end: () => {} });
  assertEquals(typeof more.refused, "string");
});
