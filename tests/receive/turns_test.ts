import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Turns } from "../../lib/receive/turns.ts";

function all<T>(turns: Turns<T>): T[] {
  const out: T[] = [];
  for (let one = turns.take(); one !== undefined; one = turns.take()) out.push(one);
  return out;
}

Deno.test("turns: the smaller goes first, equals in the order in which they came", () => {
  const turns = new Turns<string>();
  for (const [name, size] of [["a", 9], ["b", 2], ["c", 9], ["d", 1]] as const) {
    turns.add(name, size);
  }
  turns.delete("b");
  assertEquals([turns.size, all(turns), turns.size], [3, ["d", "a", "c"], 0]);
});

Deno.test("turns: how many wait in one queue holds up nobody else", () => {
  const turns = new Turns<string>();
  for (let i = 0; i < 4; i++) turns.add(`a${i}`, 5, "a");
  for (let i = 0; i < 2; i++) turns.add(`b${i}`, 7, "b");
  turns.add("alone", 6);
  assertEquals(all(turns), ["a0", "alone", "b0", "a1", "b1", "a2", "a3"]);
  turns.add("a4", 5, "a");
  turns.add("other", 5);
  assertEquals(all(turns), ["a4", "other"], "what was done before does not count");
});

interface Piece {
  readonly size: number;
  readonly of: number;
  /** Its size, with what waited before it in its queue. */
  readonly asked: number;
  /** By whom it was overtaken, and by how much. */
  readonly overtaken: Map<number, number>;
}

Deno.test("turns: nobody who comes again and again overtakes by more than the other asks for", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1 });
  const some = fc.array(sizes, { minLength: 2, maxLength: 8 });
  fc.assert(fc.property(some, fc.integer({ min: 1, max: 4 }), (parties, atOnce) => {
    const turns = new Turns<Piece>();
    const waiting: Piece[] = [];
    const come = (of: number) => {
      const size = parties[of]!.shift();
      if (size === undefined) return;
      const own = waiting.filter((one) => one.of === of);
      const asked = own.reduce((sum, one) => sum + one.size, size);
      const piece = { size, of, asked, overtaken: new Map() };
      turns.add(piece, size, `${of}`);
      waiting.push(piece);
    };
    for (let i = 0; i < atOnce; i++) for (const of of parties.keys()) come(of);
    for (let one = turns.take(); one !== undefined; one = turns.take()) {
      const place = waiting.indexOf(one);
      waiting.splice(place, 1);
      for (const other of waiting.slice(0, place)) {
        const by = (other.overtaken.get(one.of) ?? 0) + one.size;
        other.overtaken.set(one.of, by);
        assert(by <= other.asked, `${by} before ${other.asked}`);
      }
      come(one.of);
    }
    assertEquals(waiting, []);
  }));
});
