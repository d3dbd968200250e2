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

interface Piece {
  readonly size: number;
  readonly of: number;
  /** By whom it was overtaken, and by how much. */
  readonly overtaken: Map<number, number>;
}

Deno.test("turns: nobody who comes again and again overtakes by more than the other asks for", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1 });
  fc.assert(fc.property(fc.array(sizes, { minLength: 2, maxLength: 8 }), (parties) => {
    const turns = new Turns<Piece>();
    const waiting: Piece[] = [];
    const come = (of: number) => {
      const size = parties[of]!.shift();
      if (size === undefined) return;
      const piece = { size, of, overtaken: new Map() };
      turns.add(piece, size);
      waiting.push(piece);
    };
    for (const of of parties.keys()) come(of);
    for (let one = turns.take(); one !== undefined; one = turns.take()) {
      const place = waiting.indexOf(one);
      waiting.splice(place, 1);
      for (const other of waiting.slice(0, place)) {
        const by = (other.overtaken.get(one.of) ?? 0) + one.size;
        other.overtaken.set(one.of, by);
        assert(by <= other.size, `${by} before ${other.size}`);
      }
      come(one.of);
    }
    assertEquals(waiting, []);
  }));
});
