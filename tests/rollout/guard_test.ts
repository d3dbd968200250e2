import { assertEquals } from "@std/assert";
import { guard } from "../../lib/rollout/guard.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { SETTINGS, snapshotOf } from "../snapshot/snapshots.ts";

/** A snapshot of the services `from` to `to` (not included). */
function services(from: number, to: number, limit = 0.5): Snapshot {
  const names = Array.from({ length: to - from }, (_, i) => `a/svc-${from + i}`);
  const settings = { ...SETTINGS, push: { ...SETTINGS.push, guard: limit } };
  return snapshotOf(Object.fromEntries(names.map((name) => [name, "x"])), settings);
}

Deno.test("guard: what removes the share or more is held: a halved file is one cut in half", () => {
  const published = services(0, 100);
  assertEquals(guard(published, services(0, 51)), { pass: true, removed: 49, of: 100, limit: 0.5 });
  assertEquals(guard(published, services(0, 50)), {
    pass: false,
    removed: 50,
    of: 100,
    limit: 0.5,
  });
  assertEquals(guard(published, services(0, 0)).pass, false);
});

Deno.test("guard: additions do not make up for removals", () => {
  const verdict = guard(services(0, 100), services(60, 400));
  assertEquals([verdict.pass, verdict.removed], [false, 60]);
});

Deno.test("guard: counts from 20 published resources on", () => {
  assertEquals(guard(services(0, 19), services(0, 0)).pass, true);
  assertEquals(guard(services(0, 20), services(0, 0)).pass, false);
});

Deno.test("guard: with nothing published anything passes", () => {
  assertEquals(guard(undefined, services(0, 100)).pass, true);
  assertEquals(guard(undefined, services(0, 0)).pass, true);
});

Deno.test("guard: the share is that of the candidate; 1 lets all pass, 0 lets nothing go", () => {
  const published = services(0, 100);
  assertEquals(guard(published, services(0, 0, 1)).pass, true);
  assertEquals(guard(published, services(0, 99, 0)).pass, false);
  assertEquals(guard(published, services(0, 200, 0)).pass, true);
});

Deno.test("guard: changed resources are not removed ones", () => {
  const names = Array.from({ length: 50 }, (_, i) => `a/svc-${i}`);
  const before = snapshotOf(Object.fromEntries(names.map((name) => [name, "before"])));
  const after = snapshotOf(Object.fromEntries(names.map((name) => [name, "after"])));
  assertEquals(guard(before, after).removed, 0);
});
