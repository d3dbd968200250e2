import { assertEquals } from "@std/assert";
import { SourceMemory } from "../../lib/transport/source_memory.ts";

Deno.test("source memory: a stream given up at a collection, and another by the same connection, tell", () => {
  const memory = new SourceMemory();
  assertEquals(memory.learn("a:1"), undefined);
  memory.end({ abrupt: true, unanswered: "A" });
  assertEquals(memory.learn("a:1"), "A");
  assertEquals(memory.learn("a:1"), undefined, "once");
});

Deno.test("source memory: by other connections, three streams in a row at the same collection tell", () => {
  const memory = new SourceMemory();
  const learned = [1, 2, 3, 4].map((port) => {
    const learned = memory.learn(`a:${port}`);
    memory.end({ abrupt: true, unanswered: "A" });
    return learned;
  });
  assertEquals(learned, [undefined, undefined, undefined, "A"]);
});

Deno.test("source memory: another collection, or none, begins the count anew", () => {
  for (const between of ["B", undefined]) {
    const memory = new SourceMemory();
    for (const collection of ["A", "A", between, "A", "A"]) {
      assertEquals(memory.learn(`a:${Math.random()}`), undefined);
      memory.end({ abrupt: true, ...(collection === undefined ? {} : { unanswered: collection }) });
    }
    assertEquals(memory.learn("a:0"), undefined);
  }
});

Deno.test("source memory: a source that ends stream after stream without answering all is asked with caution", () => {
  const memory = new SourceMemory();
  const after = [true, true, false, true, true, true, true, false].map((abrupt) => {
    memory.end({ abrupt });
    return memory.cautious;
  });
  assertEquals(after, [false, false, false, false, false, true, true, false]);
});

Deno.test("source memory: places taken over too often are not given any more, as long as someone tries", () => {
  const memory = new SourceMemory();
  const takes = (...times: readonly number[]) => times.map((at) => memory.takesOver(at));
  assertEquals(takes(0, 1, 2, 3, 4, 5), [true, true, true, true, true, false]);
  assertEquals(takes(50_000, 100_000, 150_000), [false, false, false]);
  assertEquals(takes(210_000), [true]);
});

Deno.test("source memory: places taken over now and then are given", () => {
  const memory = new SourceMemory();
  for (let at = 0; at < 1_000_000; at += 13_000) assertEquals(memory.takesOver(at), true);
});
