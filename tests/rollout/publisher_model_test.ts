/** The publisher under random schedules of loads, saves that end well, badly or late, and confirmations. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { guard } from "../../lib/rollout/guard.ts";
import { Publisher } from "../../lib/rollout/publisher.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";
import { FakeClock, settle } from "./fake_clock.ts";
import { entriesOf, loadOf, names, ScriptedStore } from "./loads.ts";

type Step =
  | { readonly do: "take"; readonly from: number; readonly to: number; readonly text: string }
  | { readonly do: "finish" | "fail" | "confirm" | "restart" | "hang" }
  | { readonly do: "advance"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      from: fc.integer({ min: 0, max: 30 }),
      to: fc.integer({ min: 30, max: 60 }),
      text: fc.constantFrom("x", "y"),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("finish" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("fail", "confirm", "restart", "hang") }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(0, 100, 250, 1500, 70_000),
    }),
  },
);

/** One program at a time on one store; checks each publication as it is made. */
class World {
  readonly clock = new FakeClock();
  readonly store = new ScriptedStore();
  readonly #confirmed = new Set<string>();
  #hub!: Hub;
  #publisher!: Publisher;
  /** What the configuration says. */
  #configured: Record<string, string> = {};
  #taken = false;

  async start(): Promise<void> {
    this.#hub = new Hub();
    this.#taken = false;
    let before: Snapshot | undefined;
    this.#hub.subscribe(({ snapshot }) => {
      assert(snapshot.id !== before?.id, "published twice");
      const { pass } = guard(before, snapshot);
      assert(pass || this.#confirmed.has(snapshot.id), "passed the guard unconfirmed");
      before = snapshot;
    });
    const { clock, store } = this;
    this.#publisher = new Publisher({ hub: this.#hub, store, clock });
    await this.#publisher.restore();
  }

  async do(step: Step): Promise<void> {
    if (step.do === "take") this.#take(entriesOf(names(step.from, step.to), step.text));
    if (step.do === "advance") await this.clock.advance(step.ms);
    if (step.do === "finish" && this.store.running > 0) this.store.finish();
    if (step.do === "fail" && this.store.running > 0) this.store.fail("failed");
    if (step.do === "confirm") this.#confirm();
    if (step.do === "restart" || step.do === "hang") await this.#restart(step.do === "restart");
    await settle();
    assert(this.store.atOnce <= 1, "two saves at once");
  }

  #take(entries: Record<string, string>): void {
    const removed = Object.keys(this.#configured).filter((name) => !(name in entries));
    this.#configured = entries;
    this.#taken = true;
    this.#publisher.take(loadOf(entries, removed), { changedAt: this.clock.now() });
  }

  #confirm(): void {
    const { held } = this.#publisher.status();
    if (held === undefined) return;
    this.#confirmed.add(held.id);
    assertEquals(this.#publisher.confirm(held.id), { ok: true });
  }

  async #restart(finishing: boolean): Promise<void> {
    const disposed = this.#publisher[Symbol.asyncDispose]();
    await settle();
    if (finishing && this.store.running > 0) this.store.finish();
    await this.clock.advance(2000);
    await disposed;
    this.store.forget();
    await this.start();
  }

  /** With a disk that works, what is configured ends up published, or held; and what is published, saved. */
  async end(): Promise<void> {
    if (!this.#taken) this.#take(this.#configured);
    for (let i = 0; i < 8; i++) {
      while (this.store.running > 0) {
        this.store.finish();
        await settle();
      }
      await this.clock.advance(60_000);
    }
    await this.#publisher.idle();
    const { published, held, save } = this.#publisher.status();
    const configured = snapshotOf(this.#configured).id;
    assert([published?.id, held?.id].includes(configured), "the newest is neither served nor held");
    assertEquals(this.store.savedId, published?.id);
    assertEquals([save.failing, save.running], [undefined, undefined]);
    assertEquals(this.clock.sleeping, 0);
    await this.#publisher[Symbol.asyncDispose]();
  }
}

Deno.test("publisher: under any schedule the newest ends up published or held, and what is published saved", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = new World();
      world.store.manual = true;
      await world.start();
      for (const each of steps) await world.do(each);
      await world.end();
    }),
    { numRuns: 400 },
  );
});
