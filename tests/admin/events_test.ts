import { assert, assertEquals } from "@std/assert";
import { EventLog, eventSchema } from "../../lib/admin/events.ts";
import { type Cause, MAX_CAUSES, mergeCauses } from "../../lib/model/cause.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";

const file = (name: string): Cause => ({ kind: "file", name, what: "changed" });

function bench(limit?: number) {
  let now = 1000;
  const events = new EventLog({ now: () => now, ...(limit === undefined ? {} : { limit }) });
  const publish = (entries: Readonly<Record<string, string>>, ...causes: Cause[]) =>
    events.published({ snapshot: snapshotOf(entries), changedAt: now, causes });
  return { events, publish, pass: (ms: number) => now += ms };
}

Deno.test("events: an event tells what came, became another and went", () => {
  const { events, publish } = bench();
  publish({ "a/1": "x", "a/2": "x" }, { kind: "start" });
  const event = publish({ "a/2": "y", "a/3": "x" }, file("shop.yaml"));
  assertEquals([event.seq, events.newest], [2, 2]);
  assertEquals(event.services, {
    added: { count: 1, names: ["a/3"] },
    changed: { count: 1, names: ["a/2"] },
    removed: { count: 1, names: ["a/1"] },
  });
  assertEquals(event.resources.changed.names, ["ServiceEntry/a/2"]);
  assertEquals(eventSchema.strict().parse(event), event);
  assertEquals(events.list().map(({ seq }) => seq), [2, 1]);
  assertEquals(events.list()[1]!.services.added, { count: 2, names: ["a/1", "a/2"] });
});

Deno.test("events: of changes that went out as one every reason stays, then their number", () => {
  const { publish } = bench();
  let causes: readonly Cause[] = [];
  for (let i = 0; i < 250; i++) causes = mergeCauses(causes, [file(`${i % 120}.yaml`)]);
  const event = publish({ "a/1": "x" }, ...causes);
  assertEquals(event.causes.length, MAX_CAUSES + 1);
  assertEquals(event.causes[0], file("0.yaml"));
  assert(event.causes.at(-1)!.kind === "more");
  assertEquals(eventSchema.parse(event), event);
});

Deno.test("events: names are listed up to 50, counted beyond, and cut where they are long", () => {
  const { publish } = bench();
  const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`a/${i}`, "x"]));
  const event = publish(many, { kind: "source", name: "s".repeat(100_000) });
  assertEquals([event.services.added.count, event.services.added.names.length], [3000, 50]);
  assert(JSON.stringify(event).length < 10_000);
});

Deno.test("events: the oldest are forgotten, and answers to them are nobody's", () => {
  const { events, publish } = bench(3);
  for (let i = 0; i < 5; i++) publish({ "a/1": String(i) });
  assertEquals(events.list().map(({ seq }) => seq), [5, 4, 3]);
  assertEquals(events.list({ after: 4 }).map(({ seq }) => seq), [5]);
  assertEquals(events.list({ limit: 2 }).map(({ seq }) => seq), [5, 4]);
  assertEquals(events.list({ limit: 0 }), []);
  events.sent([1, 2]);
  events.answered([1, 2], "ack");
  for (const { answers } of events.list()) assertEquals([answers.acks, answers.pending], [0, 0]);
});

Deno.test("events: answers are counted, the slowest from the change noticed", () => {
  const { events, publish, pass } = bench();
  publish({ "a/1": "x" });
  events.sent([1]);
  events.sent([1]);
  events.sent([1]);
  events.sent([1]);
  pass(20);
  events.answered([1], "ack");
  pass(50);
  events.answered([1], "nack");
  pass(100);
  events.answered([1], "lost");
  const [{ answers }] = events.list() as [ReturnType<typeof publish>];
  assertEquals(answers, { acks: 1, nacks: 1, lost: 1, pending: 1, slowestMs: 70 });
});

Deno.test("events: a push carries the events since the last one that changed its kind", () => {
  const { events, publish } = bench();
  publish({ "a/1": "x" });
  publish({ "a/1": "y" });
  publish({ "a/1": "y" }); // nothing of any kind
  publish({ "a/1": "z" });
  assertEquals(events.since(1, "ServiceEntry"), [2, 4]);
  assertEquals(events.since(1, "Gateway"), []);
  assertEquals(events.since(1), [2, 3, 4]);
});
