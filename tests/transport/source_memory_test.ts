import { assertEquals } from "@std/assert";
import { SourceMemory } from "../../lib/transport/source_memory.ts";

const HOUR = 3_600_000;

Deno.test("source memory: a stream given up at a collection, and another by the same connection, tell", () => {
  const memory = new SourceMemory();
  memory.learn("a:1", 0);
  memory.end({ abrupt: true, unanswered: "A" }, 5);
  memory.learn("a:1", 10);
  assertEquals([...memory.skip], [["A", 10 + HOUR]]);
  memory.answered("B");
  assertEquals(memory.skip.size, 1);
  memory.answered("A");
  assertEquals(memory.skip.size, 0);
});

Deno.test("source memory: by other connections, three streams in a row at the same collection tell, for a while", () => {
  const memory = new SourceMemory();
  const learned = [1, 2, 3, 4].map((port) => {
    memory.learn(`a:${port}`, port);
    const skip = [...memory.skip];
    memory.end({ abrupt: true, unanswered: "A" }, port);
    return skip;
  });
  assertEquals(learned, [[], [], [], [["A", 4 + 60_000]]]);
});

Deno.test("source memory: a stream that ends where a collection was asked for again makes the doubt last longer", () => {
  const memory = new SourceMemory();
  memory.learn("a:1", 0);
  for (const port of [2, 3, 4]) {
    memory.end({ abrupt: true, unanswered: "A" }, 0);
    memory.learn(`a:${port}`, 0);
  }
  const lasts = Array.from({ length: 8 }, () => {
    const before = memory.skip.get("A")!;
    memory.end({ abrupt: true, unanswered: "A" }, before);
    return (memory.skip.get("A")! - before) / 60_000;
  });
  assertEquals(lasts, [2, 4, 8, 16, 32, 60, 60, 60]);
  memory.end({ abrupt: false }, 0);
  assertEquals(memory.skip.size, 1, "a stream that we ended tells nothing");
});

Deno.test("source memory: another collection, or none, begins the count anew", () => {
  for (const between of ["B", undefined]) {
    const memory = new SourceMemory();
    for (const collection of ["A", "A", between, "A", "A"]) {
      memory.learn(`a:${Math.random()}`, 0);
      const unanswered = collection === undefined ? {} : { unanswered: collection };
      memory.end({ abrupt: true, ...unanswered }, 0);
    }
    memory.learn("a:0", 0);
    assertEquals(memory.skip.size, 0);
  }
});

Deno.test("source memory: a source that ends stream after stream without answering all is asked with caution", () => {
  const memory = new SourceMemory();
  const after = [true, true, false, true, true, true, true, false].map((abrupt) => {
    memory.end({ abrupt }, 0);
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
