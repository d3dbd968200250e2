import { assertEquals } from "@std/assert";
import { Heartbeat } from "../../lib/admin/health.ts";

/** A timer that goes off when told to. */
function byHand() {
  const timer = { beat: () => {}, stopped: 0 };
  const every = (_: number, beat: () => void): Disposable => {
    timer.beat = beat;
    return { [Symbol.dispose]: () => void timer.stopped++ };
  };
  return { timer, every };
}

Deno.test("health: a push loop that has work and gets nowhere is no longer healthy", () => {
  let now = 0;
  let loop = { waiting: false, progressedAt: 0 };
  const { timer, every } = byHand();
  using heartbeat = new Heartbeat(() => now, () => loop, every);
  const until = (end: number) => {
    for (; now < end; now += 500) timer.beat();
  };
  until(60_000);
  assertEquals(heartbeat.check(), { ok: true }); // nothing to do is no fault
  loop = { waiting: true, progressedAt: 50_000 };
  assertEquals(heartbeat.check(), { ok: true });
  until(66_000);
  const reason = "pushes wait and none gets on its way";
  assertEquals(heartbeat.check(), { ok: false, reason });
  loop = { waiting: true, progressedAt: 65_900 };
  assertEquals(heartbeat.check(), { ok: true });
});

Deno.test("health: an event loop that was held up shows by how much, for a minute", () => {
  let now = 0;
  const { timer, every } = byHand();
  {
    using heartbeat = new Heartbeat(() => now, () => ({ waiting: false, progressedAt: 0 }), every);
    now = 20_500; // nothing turned until now
    assertEquals([heartbeat.delay, heartbeat.check().ok], [20, false]);
    timer.beat();
    assertEquals([heartbeat.delay, heartbeat.check().ok], [20, false]);
    for (let i = 0; i < 119; i++) {
      now += 500;
      timer.beat();
      assertEquals([heartbeat.delay, heartbeat.check().ok], [20, true]);
    }
    now += 500;
    timer.beat();
    assertEquals(heartbeat.delay, 0);
  }
  assertEquals(timer.stopped, 1);
});

Deno.test("health: the beat goes by the system's timer", async () => {
  let now = 0;
  using heartbeat = new Heartbeat(() => now, () => ({ waiting: false, progressedAt: 0 }));
  now = 20_500;
  await new Promise((resolve) => setTimeout(resolve, 700)); // a beat
  now += 500; // without it, this would be later still
  assertEquals(heartbeat.delay, 20);
});
