import { assertEquals } from "@std/assert";
import { Heartbeat } from "../../lib/admin/health.ts";

Deno.test("health: a push loop that has work and gets nowhere is no longer healthy", () => {
  let now = 0;
  let loop = { waiting: false, progressedAt: 0 };
  using heartbeat = new Heartbeat(() => now, () => loop);
  now = 60_000;
  assertEquals(heartbeat.check(), { ok: true }); // nothing to do is no fault
  loop = { waiting: true, progressedAt: 50_000 };
  assertEquals(heartbeat.check(), { ok: true });
  now = 66_000;
  assertEquals(heartbeat.check().ok, false);
});

Deno.test("health: an event loop that was held up shows by how much", async () => {
  let now = 0;
  using heartbeat = new Heartbeat(() => now, () => ({ waiting: false, progressedAt: 0 }));
  now = 20_500;
  assertEquals(heartbeat.delay, 20);
  await new Promise((resolve) => setTimeout(resolve, 700)); // a beat
  assertEquals([heartbeat.delay, heartbeat.check().ok], [20, false]);
  now += 500;
  await new Promise((resolve) => setTimeout(resolve, 600));
  assertEquals([heartbeat.delay, heartbeat.check().ok], [0, true]);
});
