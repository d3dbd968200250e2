import { assertEquals } from "@std/assert";
import { Pace, Retries } from "../../lib/transport/pace.ts";

const BOUNDS = { first: 1000, most: 8000 };

Deno.test("pace: what comes again at once waits ever longer, up to a bound", () => {
  const pace = new Pace(BOUNDS);
  let now = 0;
  const waits = Array.from({ length: 7 }, () => {
    const wait = pace.delay(now);
    now += wait; // the other side answers at once
    return wait;
  });
  assertEquals(waits, [0, 1000, 2000, 4000, 8000, 8000, 8000]);
});

Deno.test("pace: what comes late enough does not wait", () => {
  const pace = new Pace(BOUNDS);
  assertEquals([0, 1500, 1600, 30_000, 30_100].map((now) => pace.delay(now)), [0, 0, 1900, 0, 900]);
});

Deno.test("pace: after a reset it is the first time again", () => {
  const pace = new Pace(BOUNDS);
  pace.delay(0);
  pace.delay(0);
  pace.reset();
  assertEquals(pace.delay(0), 0);
});

Deno.test("pace: attempts that fail are ever further apart until a quiet time has passed", () => {
  const retries = new Retries(BOUNDS);
  const times = [0, 100, 5000, 9000, 20_000, 36_001];
  assertEquals(times.map((now) => retries.fail(now)), [1000, 2000, 4000, 8000, 8000, 1000]);
});
