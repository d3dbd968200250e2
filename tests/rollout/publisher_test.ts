import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { Clock } from "../../lib/rollout/clock.ts";
import { Publisher, type PublisherEvent } from "../../lib/rollout/publisher.ts";
import { Hub, type Publication } from "../../lib/snapshot/hub.ts";
import { MemoryStore } from "../../lib/snapshot/memory_store.ts";
import type { SnapshotStore } from "../../lib/snapshot/store.ts";
import { contentOf, SETTINGS, snapshotOf } from "../snapshot/snapshots.ts";
import { FakeClock } from "./fake_clock.ts";
import { changeOf, entriesOf, loadOf, names, ScriptedStore } from "./loads.ts";

interface Bench extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly hub: Hub;
  readonly publisher: Publisher;
  readonly published: Publication[];
  readonly events: PublisherEvent[];
  /** Kinds of the events, those of `saved` left out. */
  kinds(): string[];
}

function bench(store: SnapshotStore): Bench {
  const clock = new FakeClock();
  const hub = new Hub();
  const published: Publication[] = [];
  hub.subscribe((publication) => published.push(publication));
  const events: PublisherEvent[] = [];
  const onEvent = (event: PublisherEvent) => void events.push(event);
  const publisher = new Publisher({ hub, store, clock, onEvent });
  return {
    clock,
    hub,
    publisher,
    published,
    events,
    kinds: () => events.map((event) => event.kind).filter((kind) => kind !== "saved"),
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
}

const idsOf = (published: readonly Publication[]) => published.map((p) => p.snapshot.id);
const storedOf = (entries: Record<string, string>) => ({
  snapshot: snapshotOf(entries),
  savedAt: 5,
  sequence: 3,
});

Deno.test("publisher: restores the newest of the store before any load", async () => {
  await using b = bench(new ScriptedStore(storedOf({ "a/b": "1" })));
  const stored = await b.publisher.restore();
  assertEquals(stored?.sequence, 3);
  assertEquals(idsOf(b.published), [snapshotOf({ "a/b": "1" }).id]);
  assertEquals(b.published[0]?.changedAt, b.clock.now());
  assertEquals(b.publisher.status().published?.saved, true);
  assertEquals(b.kinds(), ["restored", "published"]);
});

Deno.test("publisher: an empty store publishes nothing; one that cannot be read neither, with an alert", async () => {
  await using empty = bench(new ScriptedStore());
  assertEquals(await empty.publisher.restore(), undefined);
  const store = new ScriptedStore();
  store.load = () => Promise.reject(new Error("the disk is gone"));
  await using broken = bench(store);
  assertEquals(await broken.publisher.restore(), undefined);
  assertEquals([empty.published.length, broken.published.length], [0, 0]);
  assertEquals(empty.publisher.status().alerts, []);
  const [alert] = broken.publisher.status().alerts;
  assertEquals([alert?.kind, alert?.message], ["restoreFailed", "the disk is gone"]);
  broken.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await broken.publisher.idle();
  assertEquals(broken.published.length, 1);
});

Deno.test("publisher: saves, then publishes", async () => {
  const store = new ScriptedStore();
  store.manual = true;
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 77 });
  await b.clock.advance(249);
  assertEquals([b.published.length, store.running], [0, 1]);
  store.finish();
  await b.publisher.idle();
  const expected = snapshotOf({ "a/b": "1" });
  assertEquals(idsOf(b.published), [expected.id]);
  assertEquals(contentOf(b.published[0]!.snapshot), contentOf(expected));
  assertEquals(b.published[0]?.changedAt, 77);
  const last = b.events.at(-1);
  assert(last?.kind === "published" && last.save === "saved");
  assertEquals(b.publisher.status().alerts, []);
  assertEquals(b.publisher.status().published, {
    id: expected.id,
    changedAt: 77,
    publishedAt: b.clock.now(),
    resources: 1,
    saved: true,
  });
  assertEquals(b.clock.sleeping, 0);
});

Deno.test("publisher: a save of more than 250 ms is not waited for; the alert goes when it ends", async () => {
  const store = new ScriptedStore();
  store.manual = true;
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.clock.advance(250);
  assertEquals(b.published.length, 1);
  assertEquals(b.publisher.status().published?.saved, false);
  assertEquals(b.publisher.status().alerts.map((a) => a.kind), ["saveSlow"]);
  store.finish();
  await b.clock.advance(0);
  assertEquals(b.publisher.status().published?.saved, true);
  assertEquals(b.publisher.status().alerts, []);
  assertEquals(store.begun.length, 1);
});

Deno.test("publisher: a save that fails is published at once, and tried again ever more slowly until it works", async () => {
  const store = new ScriptedStore();
  store.error = new Error("No space left on device");
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  assertEquals(b.published.length, 1);
  const [alert] = b.publisher.status().alerts;
  assertEquals(alert?.kind, "saveFailed");
  assertStringIncludes(alert!.message, "No space left on device");
  const pauses: number[] = [];
  for (let i = 0; i < 9; i++) {
    const pause = b.publisher.status().save.failing!.retryAt! - b.clock.now();
    pauses.push(pause / 1000);
    await b.clock.advance(pause - 1);
    assertEquals(store.begun.length, i + 1);
    await b.clock.advance(1);
    assertEquals(store.begun.length, i + 2);
  }
  assertEquals(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  store.error = undefined;
  await b.clock.advance(60_000);
  assertEquals(store.savedId, b.published[0]?.snapshot.id);
  assertEquals(b.publisher.status().alerts, []);
  assertEquals(b.published.length, 1);
  assertEquals(b.clock.sleeping, 0);
});

Deno.test("publisher: while saving fails, a newer snapshot is saved in place of the older at once", async () => {
  const store = new ScriptedStore();
  store.error = new Error("full");
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  await b.clock.advance(20_000);
  store.error = undefined;
  b.publisher.take(loadOf({ "a/b": "2" }), { changedAt: 2 });
  await b.publisher.idle();
  assertEquals(store.savedId, snapshotOf({ "a/b": "2" }).id);
  assertEquals(b.publisher.status().alerts, []);
  await b.clock.advance(120_000);
  assertEquals(store.savedId, snapshotOf({ "a/b": "2" }).id);
});

Deno.test("publisher: changes while a save runs merge; only the newest is saved and published, at the earliest time", async () => {
  const store = new ScriptedStore();
  store.manual = true;
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 10 });
  await b.clock.advance(0);
  for (const i of [2, 3, 4]) {
    b.publisher.take(loadOf({ "a/b": String(i), [`a/${i}`]: "new" }), { changedAt: 10 * i });
  }
  await b.clock.advance(100);
  store.finish();
  await b.clock.advance(0);
  store.finish();
  await b.publisher.idle();
  const newest = snapshotOf({ "a/b": "4", "a/2": "new", "a/3": "new", "a/4": "new" });
  assertEquals(idsOf(b.published), [snapshotOf({ "a/b": "1" }).id, newest.id]);
  assertEquals(b.published.map((p) => p.changedAt), [10, 20]);
  assertEquals(store.begun, idsOf(b.published));
});

Deno.test("publisher: on a disk that hangs every change is published after 250 ms, and one save waits", async () => {
  const store = new ScriptedStore();
  store.manual = true;
  await using b = bench(store);
  for (let i = 0; i < 20; i++) {
    b.publisher.take(loadOf({ "a/b": String(i) }), { changedAt: i });
    await b.clock.advance(250);
    assertEquals(b.published.at(-1)?.snapshot.id, snapshotOf({ "a/b": String(i) }).id);
  }
  assertEquals([store.begun.length, store.atOnce], [1, 1]);
  store.finish();
  await b.clock.advance(0);
  store.finish();
  await b.clock.advance(0);
  assertEquals(store.begun, [0, 19].map((i) => snapshotOf({ "a/b": String(i) }).id));
  assertEquals(b.publisher.status().published?.saved, true);
  assertEquals([store.running, b.clock.sleeping], [0, 0]);
});

Deno.test("publisher: a load that changes nothing saves and publishes nothing", async () => {
  const store = new ScriptedStore(storedOf({ "a/b": "1" }));
  await using b = bench(store);
  await b.publisher.restore();
  const { snapshot } = b.published[0]!;
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  b.publisher.take(loadOf({}), { changedAt: 2 });
  await b.publisher.idle();
  assertEquals([b.published.length, store.begun.length], [1, 0]);
  assert(b.hub.current?.snapshot === snapshot);
});

Deno.test("publisher: a change that is taken back while another saves is not published", async () => {
  const store = new ScriptedStore();
  store.manual = true;
  await using b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.clock.advance(0);
  b.publisher.take(loadOf({ "a/b": "2" }), { changedAt: 2 });
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 3 });
  store.finish();
  await b.publisher.idle();
  assertEquals([b.published.length, store.begun.length], [1, 1]);
});

Deno.test("publisher: a change of settings alone is a new snapshot with the same resources", async () => {
  await using b = bench(new ScriptedStore());
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  const settings = { ...SETTINGS, watch: { poll: 1 } };
  b.publisher.take(loadOf({}, [], settings), { changedAt: 2 });
  await b.publisher.idle();
  assertEquals(b.published[1]?.snapshot.settings, settings);
  const [before, after] = b.published.map((p) => p.snapshot.collections.get("ServiceEntry"));
  assert(before === after, "the collection is shared");
});

Deno.test("publisher: a load of which nothing could be made changes nothing", async () => {
  await using b = bench(new ScriptedStore());
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  b.publisher.take({ ...loadOf({}, ["a/b"]), usable: false }, { changedAt: 2 });
  await b.publisher.idle();
  assertEquals(b.published.length, 1);
});

Deno.test("publisher: the first load holds everything; what it does not name is gone", async () => {
  await using b = bench(new ScriptedStore(storedOf({ "a/b": "1", "a/gone": "1" })));
  await b.publisher.restore();
  b.publisher.take(loadOf({ "a/b": "1", "a/c": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  const expected = snapshotOf({ "a/b": "1", "a/c": "1" });
  assertEquals(contentOf(b.hub.current!.snapshot), contentOf(expected));
  b.publisher.take(loadOf({ "a/d": "1" }, ["a/b"]), { changedAt: 1 });
  await b.publisher.idle();
  assertEquals(b.hub.current!.snapshot.id, snapshotOf({ "a/c": "1", "a/d": "1" }).id);
  b.publisher.take(loadOf({ "a/e": "1" }), { changedAt: 1, full: true });
  await b.publisher.idle();
  assertEquals(b.hub.current!.snapshot.id, snapshotOf({ "a/e": "1" }).id);
  b.publisher.take({ usable: true, settings: SETTINGS, changes: [] }, { changedAt: 1, full: true });
  await b.publisher.idle();
  assertEquals(b.hub.current!.snapshot.id, snapshotOf({}).id);
});

Deno.test("publisher: changes that do not fit together are an error and change nothing", async () => {
  await using b = bench(new ScriptedStore());
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  const change = changeOf("ServiceEntry", { "a/b": "2", "a/c": "2" });
  const wrong = [
    { ...change, kind: "Nonsense" },
    { ...change, versions: change.versions.slice(1) },
    { ...change, lengths: [1] },
    { ...change, bytes: new Uint8Array(9) },
  ];
  for (const broken of wrong) {
    const load = { usable: true, settings: SETTINGS, changes: [broken] };
    assertThrows(() => b.publisher.take(load, { changedAt: 2 }));
  }
  const twice = { usable: true, settings: SETTINGS, changes: [change, change] };
  assertThrows(() => b.publisher.take(twice, { changedAt: 2 }), TypeError);
  await b.publisher.idle();
  assertEquals(b.published.length, 1);
  b.publisher.take(loadOf({}), { changedAt: 3 });
  await b.publisher.idle();
  assertEquals(b.published.length, 1);
});

Deno.test("publisher: what would remove too much is held until it is confirmed", async () => {
  const store = new ScriptedStore();
  await using b = bench(store);
  b.publisher.take(loadOf(entriesOf(names(0, 100))), { changedAt: 1 });
  await b.publisher.idle();
  b.publisher.take(loadOf({}, names(10, 100)), { changedAt: 2 });
  await b.publisher.idle();
  const { id } = snapshotOf(entriesOf(names(0, 10)));
  const { held, alerts, published } = b.publisher.status();
  assertEquals([held?.id, held?.verdict.removed, held?.verdict.of], [id, 90, 100]);
  assertStringIncludes(held!.message, `pinnace snapshots confirm ${id}`);
  assertStringIncludes(held!.message, "90 of 100");
  assertEquals(alerts.map((a) => a.kind), ["held"]);
  assertEquals([published?.resources, store.begun.length], [100, 1]);

  const wrong = b.publisher.confirm("0123456789abcdef");
  assert(!wrong.ok && wrong.message.includes(id));
  assertEquals(b.published.length, 1);

  await b.clock.advance(5000);
  assertEquals(b.publisher.confirm(id), { ok: true });
  await b.publisher.idle();
  assertEquals(b.hub.current?.snapshot.id, id);
  assertEquals(b.hub.current?.changedAt, b.clock.now());
  assertEquals(store.savedId, id);
  assertEquals(b.publisher.status().alerts, []);
  const again = b.publisher.confirm(id);
  assert(!again.ok && again.message.includes("no snapshot waits"));
  assertEquals(b.kinds(), ["published", "held", "released", "published"]);
});

Deno.test("publisher: a held candidate is told once, replaced by a newer one, and forgotten when all is back", async () => {
  await using b = bench(new ScriptedStore());
  const all = entriesOf(names(0, 100));
  b.publisher.take(loadOf(all), { changedAt: 1 });
  await b.publisher.idle();
  b.publisher.take(loadOf({}, names(10, 100)), { changedAt: 2 });
  await b.publisher.idle();
  const first = b.publisher.status().held?.id;
  b.publisher.take(loadOf({}), { changedAt: 3 });
  await b.publisher.idle();
  assertEquals(b.kinds(), ["published", "held"]);
  b.publisher.take(loadOf({}, names(0, 10)), { changedAt: 4 });
  await b.publisher.idle();
  assertEquals(b.publisher.status().held?.id, snapshotOf({}).id);
  assert(!b.publisher.confirm(first!).ok, "what was replaced cannot be confirmed");
  b.publisher.take(loadOf(all), { changedAt: 5 });
  await b.publisher.idle();
  assertEquals(b.publisher.status().held, undefined);
  assertEquals(b.published.length, 1);
  assertEquals(b.kinds(), ["published", "held", "released", "held", "released"]);
});

Deno.test("publisher: other changes wait with what is held, and pass once it is put right", async () => {
  await using b = bench(new ScriptedStore());
  b.publisher.take(loadOf(entriesOf(names(0, 100))), { changedAt: 1 });
  await b.publisher.idle();
  b.publisher.take(loadOf({}, names(10, 100)), { changedAt: 2 });
  b.publisher.take(loadOf({ "a/svc-0": "changed" }), { changedAt: 3 });
  await b.publisher.idle();
  assertEquals(b.published.length, 1);
  b.publisher.take(loadOf(entriesOf(names(10, 100))), { changedAt: 4 });
  await b.publisher.idle();
  const expected = snapshotOf({ ...entriesOf(names(0, 100)), "a/svc-0": "changed" });
  assertEquals(b.hub.current?.snapshot.id, expected.id);
});

Deno.test("publisher: the guard holds across restarts", async () => {
  const store = new MemoryStore({ keep: 5, now: () => 0 });
  {
    await using b = bench(store);
    b.publisher.take(loadOf(entriesOf(names(0, 100))), { changedAt: 1 });
    await b.publisher.idle();
  }
  await using b = bench(store);
  await b.publisher.restore();
  b.publisher.take(loadOf({}), { changedAt: 1 });
  await b.publisher.idle();
  assertEquals(b.publisher.status().held?.verdict.removed, 100);
  assertEquals(b.publisher.status().published?.resources, 100);
});

Deno.test("publisher: what is confirmed goes out although a newer candidate has come, which is judged by it", async () => {
  const store = new ScriptedStore();
  await using b = bench(store);
  b.publisher.take(loadOf(entriesOf(names(0, 100))), { changedAt: 1 });
  await b.publisher.idle();
  b.publisher.take(loadOf({}, names(40, 100)), { changedAt: 2 });
  await b.publisher.idle();
  const { id } = b.publisher.status().held!;
  b.publisher.confirm(id);
  b.publisher.take(loadOf({}, names(30, 40)), { changedAt: 3 });
  await b.publisher.idle();
  assertEquals(idsOf(b.published).slice(1), [id, snapshotOf(entriesOf(names(0, 30))).id]);
});

Deno.test("publisher: who is told of a held candidate may confirm it, and load anew, then and there", async () => {
  const hub = new Hub();
  const clock = new FakeClock();
  const told: string[] = [];
  await using publisher: Publisher = new Publisher({
    hub,
    store: new ScriptedStore(),
    clock,
    onEvent: (event) => {
      if (event.kind === "published") told.push(event.publication.snapshot.id);
      if (event.kind !== "held") return;
      publisher.take(loadOf({ "a/new": "x" }), { changedAt: 3 });
      assert(publisher.confirm(event.id).ok);
    },
  });
  publisher.take(loadOf(entriesOf(names(0, 100))), { changedAt: 1 });
  await publisher.idle();
  publisher.take(loadOf({}, names(40, 100)), { changedAt: 2 });
  await publisher.idle();
  const left = entriesOf(names(0, 40));
  assertEquals(told.slice(1), [snapshotOf(left).id, snapshotOf({ ...left, "a/new": "x" }).id]);
});

Deno.test("publisher: a store in memory is an alert", async () => {
  await using b = bench(new MemoryStore({ keep: 5, now: () => 0 }));
  assertEquals(b.publisher.status().alerts.map((a) => a.kind), ["notDurable"]);
});

Deno.test("publisher: at its end it saves what is not saved, publishes nothing more, and never hangs", async () => {
  const store = new ScriptedStore();
  store.error = new Error("full");
  const b = bench(store);
  b.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await b.publisher.idle();
  store.error = undefined;
  await b.publisher[Symbol.asyncDispose]();
  assertEquals(store.savedId, snapshotOf({ "a/b": "1" }).id);
  b.publisher.take(loadOf({ "a/b": "2" }), { changedAt: 2 });
  await b.publisher.idle();
  assertEquals([b.published.length, b.clock.sleeping], [1, 0]);

  const hung = new ScriptedStore();
  hung.manual = true;
  const c = bench(hung);
  c.publisher.take(loadOf({ "a/b": "1" }), { changedAt: 1 });
  await c.clock.advance(0);
  const disposed = c.publisher[Symbol.asyncDispose]();
  await c.clock.advance(2000);
  await disposed;
  assertEquals(c.published.length, 0);
});

Deno.test("publisher: one changed service among 10,000 costs the main thread little", async () => {
  const clock: Clock = { now: () => 0, sleep: () => new Promise(() => {}) };
  const hub = new Hub();
  const publisher = new Publisher({ hub, store: new ScriptedStore(), clock });
  publisher.take(loadOf(entriesOf(names(0, 10_000), "x".repeat(300))), { changedAt: 1 });
  await publisher.idle();
  let best = Infinity;
  for (let i = 0; i < 20; i++) {
    const load = loadOf({ "a/svc-5000": `changed ${i}` });
    const start = performance.now();
    publisher.take(load, { changedAt: 2 });
    await publisher.idle();
    best = Math.min(best, performance.now() - start);
  }
  assert(best < 5, `${best} ms`);
  assertEquals(hub.current?.snapshot.collections.get("ServiceEntry")?.size, 10_000);
});
