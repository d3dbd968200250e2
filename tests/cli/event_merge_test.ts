/** The history of events over the real publisher: changes that merge, are held, and come out of the store. */
import { assertEquals } from "@std/assert";
import { EventLog } from "../../lib/admin/events.ts";
import { type Cause, MAX_CAUSES } from "../../lib/model/cause.ts";
import { Publisher } from "../../lib/rollout/publisher.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { FakeClock, settle } from "../rollout/fake_clock.ts";
import { entriesOf, loadOf, names, ScriptedStore } from "../rollout/loads.ts";

class Bench implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly hub = new Hub();
  readonly events = new EventLog({ now: () => this.clock.now() });
  readonly store = new ScriptedStore();
  readonly publisher: Publisher;

  constructor() {
    const { hub, store, clock } = this;
    hub.subscribe((publication) => void this.events.published(publication));
    this.publisher = new Publisher({ hub, store, clock });
  }

  /** A file says this of `a/<file>`. */
  change(file: string, text: string): void {
    const causes: Cause[] = [{ kind: "file", name: `${file}.yaml`, what: "changed" }];
    const load = loadOf({ [`a/${file}`]: text });
    this.publisher.take(load, { changedAt: this.clock.now(), causes });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store.manual = false;
    this.store.forget();
    await this.clock.advance(10_000);
    await this.publisher[Symbol.asyncDispose]();
  }
}

Deno.test("events: changes that merge while one is saved are one event with every reason", async () => {
  await using bench = new Bench();
  const { store, events, publisher } = bench;
  bench.change("first", "x");
  await publisher.idle();
  store.manual = true;
  bench.change("one", "x");
  await settle();
  bench.change("two", "x");
  bench.change("three", "x");
  bench.change("two", "y");
  store.finish();
  await settle();
  store.finish();
  await publisher.idle();
  const [merged, one] = events.list();
  assertEquals(one!.causes.map((cause) => cause.kind === "file" && cause.name), ["one.yaml"]);
  assertEquals(merged!.causes.map((cause) => cause.kind === "file" && cause.name), [
    "two.yaml",
    "three.yaml",
  ]);
  assertEquals(merged!.services.added.names, ["a/three", "a/two"]);
  assertEquals(events.list().length, 3);
});

Deno.test("events: of very many reasons the first stay, and the others are counted", async () => {
  await using bench = new Bench();
  const { store, events, publisher } = bench;
  bench.change("first", "x");
  await publisher.idle();
  store.manual = true;
  bench.change("one", "x");
  await settle();
  for (let i = 0; i < 250; i++) bench.change(`f${i}`, "x");
  store.finish();
  await settle();
  store.finish();
  await publisher.idle();
  const { causes, services } = events.list()[0]!;
  assertEquals(causes.length, MAX_CAUSES + 1);
  assertEquals(causes.at(-1), { kind: "more", count: 150 });
  assertEquals([services.added.count, services.added.names.length], [250, 50]);
});

Deno.test("events: what a person confirms says so, and a change that is held is none yet", async () => {
  await using bench = new Bench();
  const { events, publisher, clock } = bench;
  const all = names(0, 40);
  publisher.take(loadOf(entriesOf(all)), { changedAt: clock.now() });
  await publisher.idle();
  const causes: Cause[] = [{ kind: "file", name: "shop.yaml", what: "removed" }];
  publisher.take(loadOf({}, all.slice(0, 30)), { changedAt: clock.now(), causes });
  await publisher.idle();
  assertEquals(events.list().length, 1);
  const { id } = publisher.status().held!;
  publisher.confirm(id);
  await publisher.idle();
  const [confirmed] = events.list();
  assertEquals(confirmed!.causes.at(-1), { kind: "confirmed", id });
  assertEquals(confirmed!.services.removed.count, 30);
});

Deno.test("events: what comes out of the store says so", async () => {
  await using before = new Bench();
  before.change("first", "x");
  await before.publisher.idle();
  const stored = await before.store.load();
  const hub = new Hub();
  const events = new EventLog({ now: () => 0 });
  hub.subscribe((publication) => void events.published(publication));
  const store = new ScriptedStore(stored);
  await using publisher = new Publisher({ hub, store, clock: new FakeClock() });
  await publisher.restore();
  assertEquals(events.list().map(({ causes }) => causes), [[{ kind: "start" }]]);
});
