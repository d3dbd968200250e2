import { assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { Parts } from "../../lib/rollout/parts.ts";
import { Publisher } from "../../lib/rollout/publisher.ts";
import type { Collections, Uniter } from "../../lib/rollout/parts.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { resource, SETTINGS, snapshotOf } from "../snapshot/snapshots.ts";
import { FakeClock, settle } from "./fake_clock.ts";
import { entriesOf, loadOf, names, ScriptedStore } from "./loads.ts";

const LIMIT = { limit: 0.5, since: 0 };

function entries(from: number, to: number, text = "x"): Collections {
  const all = names(from, to).map((name) => resource(name, text));
  return new Map([["ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, all)]]);
}

/** What a bench of parts was told. */
function parts() {
  const told: string[] = [];
  return {
    told,
    parts: new Parts({
      held: ({ part, verdict }) => told.push(`held ${part} ${verdict.removed}/${verdict.of}`),
      released: ({ part }, why) => told.push(`released ${part} ${why}`),
    }),
  };
}

Deno.test("parts: what is equal is news to nobody", () => {
  const { parts: all, told } = parts();
  assertEquals(all.offer("edge", entries(0, 3), LIMIT), "accepted");
  assertEquals(all.offer("edge", entries(0, 3), LIMIT), "same");
  assertEquals(all.offer("gone", undefined, LIMIT), "same");
  assertEquals(all.offer("empty", new Map(), LIMIT), "accepted", "it is known from now on");
  assertEquals(all.offer("empty", new Map(), LIMIT), "same");
  assertEquals(told, []);
});

Deno.test("parts: a source that would lose half of its resources is held, and only that source", () => {
  const { parts: all, told } = parts();
  all.offer("edge", entries(0, 40), LIMIT);
  assertEquals(all.offer("edge", entries(0, 20), LIMIT), "held");
  assertEquals(all.offer("edge", entries(0, 20), LIMIT), "held", "it is told once");
  assertEquals(all.offer("other", entries(40, 80), LIMIT), "accepted");
  assertEquals(all.held.map(({ part }) => part), ["edge"]);
  assertEquals(all.offer("edge", entries(0, 30), LIMIT), "accepted");
  assertEquals(all.held, []);
  assertEquals(told, ["held edge 20/40", "released edge replaced"]);
});

Deno.test("parts: a source that is no longer configured is held like one that is emptied", () => {
  const { parts: all } = parts();
  all.offer("edge", entries(0, 40), LIMIT);
  assertEquals(all.offer("edge", undefined, LIMIT), "held");
  const { id } = all.held[0]!;
  assertEquals(all.confirm("another"), undefined);
  assertEquals(all.confirm(id), { name: "edge", collections: undefined });
  assertEquals(all.offer("edge", undefined, LIMIT), "same");
});

/** Unites by name; of two with one name the later part's counts. */
class Overlay implements Uniter {
  readonly #parts = new Map<string, Collections>();
  set(part: string, collections: Collections | undefined): void {
    if (collections === undefined) this.#parts.delete(part);
    else this.#parts.set(part, collections);
  }
  get collections(): Collections {
    const base = new Map(snapshotOf({}).collections);
    for (const part of this.#parts.values()) {
      for (const [kind, collection] of part) {
        base.set(kind, base.get(kind)!.patch(collection, []));
      }
    }
    return base;
  }
}

function bench(store = new ScriptedStore()) {
  const hub = new Hub();
  const publisher = new Publisher({
    hub,
    store,
    clock: new FakeClock(),
    unite: () => new Overlay(),
  });
  const served = () => hub.current?.snapshot.collections.get("ServiceEntry")?.size;
  return { hub, store, publisher, served };
}

Deno.test("publisher: other sources' resources are published with our own, and survive a restart", async () => {
  const { publisher, store, served, hub } = bench();
  publisher.offer("edge", entries(100, 103), { changedAt: 1 });
  await settle();
  assertEquals(served(), undefined, "there are no settings yet");
  publisher.take(loadOf(entriesOf(names(0, 2))), { changedAt: 2 });
  await publisher.idle();
  assertEquals(served(), 5);
  publisher.offer("edge", entries(100, 104), { changedAt: 3 });
  await publisher.idle();
  assertEquals(served(), 6);
  assertEquals(hub.current?.causes, [{ kind: "source", name: "edge" }]);
  const { id } = hub.current!.snapshot;
  const next = bench(store);
  await next.publisher.restore();
  assertEquals(next.served(), 6, "before anything is known of the source");
  next.publisher.offer("edge", entries(100, 104), { changedAt: 4, trusted: true });
  next.publisher.take(loadOf(entriesOf(names(0, 2))), { changedAt: 5, full: true });
  await next.publisher.idle();
  assertEquals(next.hub.current?.snapshot.id, id);
  assertEquals(store.begun.length, 2, "nothing was published anew");
});

Deno.test("publisher: a source that is held holds up nobody else, and goes out when it is confirmed", async () => {
  const { publisher, served } = bench();
  publisher.take(loadOf(entriesOf(names(0, 2))), { changedAt: 1 });
  publisher.offer("edge", entries(100, 140), { changedAt: 1 });
  await publisher.idle();
  assertEquals(publisher.offer("edge", entries(100, 105), { changedAt: 2 }), "held");
  publisher.take(loadOf(entriesOf(names(2, 3))), { changedAt: 2 });
  await publisher.idle();
  assertEquals(served(), 43);
  const { heldParts = [], alerts } = publisher.status();
  assertEquals(heldParts.map(({ part }) => part), ["edge"]);
  assertEquals(alerts.map(({ kind }) => kind), ["held"]);
  assertEquals(publisher.confirm(heldParts[0]!.id), { ok: true });
  await publisher.idle();
  assertEquals(served(), 8);
});

Deno.test("publisher: several offers during a pause go out as one", async () => {
  const { publisher, hub, served } = bench();
  publisher.take(loadOf(entriesOf(names(0, 2))), { changedAt: 1 });
  await publisher.idle();
  const sizes: (number | undefined)[] = [];
  hub.subscribe(() => sizes.push(served()));
  {
    using _ = publisher.pause();
    publisher.offer("a", entries(100, 103), { changedAt: 3 });
    publisher.offer("b", entries(200, 203), { changedAt: 2 });
    await publisher.idle();
    assertEquals(sizes, []);
  }
  await publisher.idle();
  assertEquals([sizes, hub.current?.changedAt], [[8], 2]);
});

Deno.test("publisher: a pause holds also what came while something was being saved", async () => {
  const { publisher, store, served } = bench();
  store.manual = true;
  publisher.take(loadOf(entriesOf(names(0, 2))), { changedAt: 1 });
  await settle();
  const pause = publisher.pause();
  publisher.offer("a", entries(100, 103), { changedAt: 2 });
  store.finish();
  await settle();
  assertEquals([served(), store.running], [2, 0]);
  publisher.offer("b", entries(200, 203), { changedAt: 3 });
  pause[Symbol.dispose]();
  await settle();
  store.finish();
  await publisher.idle();
  assertEquals([served(), store.begun.length], [8, 2]);
});

Deno.test("publisher: settings take effect while what came with them is held, over a restart too", async () => {
  const { publisher, hub, served, store } = bench();
  publisher.take(loadOf(entriesOf(names(0, 40))), { changedAt: 1 });
  await publisher.idle();
  const changed = { ...SETTINGS, instance: "another" };
  publisher.take(loadOf({}, names(0, 30), changed), { changedAt: 2 });
  await publisher.idle();
  assertEquals([served(), hub.current?.snapshot.settings.instance], [40, "another"]);
  const next = bench(store);
  const stored = await next.publisher.restore();
  assertEquals(stored?.snapshot.settings.instance, "another");
});
