import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { SortedQueue } from "../../lib/receive/sorted_queue.ts";

Deno.test("sorted queue: whatever batches come in between, the least of what is there goes first", () => {
  const number = fc.integer({ min: 0, max: 50 });
  const step = fc.oneof(fc.array(number, { maxLength: 6 }), fc.constant("take" as const));
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const queue = new SortedQueue<number>((a, b) => a - b);
    const model: number[] = [];
    for (const one of [...steps, ...Array.from({ length: 400 }, () => "take" as const)]) {
      if (one === "take") assertEquals(queue.shift(), model.shift());
      else {
        queue.push(one);
        model.push(...one);
        model.sort((a, b) => a - b);
      }
    }
  }));
});
