import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isWellFormed } from "../../lib/receive/well_formed.ts";

const bytes = (...list: number[]) => Uint8Array.of(...list);

/** A varint as it is written. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** A field of each type, as protobuf's guide has it. */
const field = fc.letrec<{ field: number[]; group: number[] }>((tie) => {
  const tag = (wire: number) =>
    fc.integer({ min: 1, max: 2 ** 29 - 1 }).map((n) => varint(n * 8 + wire));
  const rest = (tagged: fc.Arbitrary<number[]>, value: fc.Arbitrary<number[]>) =>
    fc.tuple(tagged, value).map(([t, v]) => [...t, ...v]);
  const fixed = (size: number) => fc.array(fc.nat(255), { minLength: size, maxLength: size });
  return {
    field: fc.oneof(
      { maxDepth: 4 },
      rest(tag(0), fc.maxSafeNat().map(varint)),
      rest(tag(1), fixed(8)),
      rest(
        tag(2),
        fc.array(fc.nat(255), { maxLength: 200 }).map((b) => [...varint(b.length), ...b]),
      ),
      rest(tag(5), fixed(4)),
      tie("group"),
    ),
    group: fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.array(tie("field"), { maxLength: 3 }))
      .map(
        ([n, inside]) => [...varint(n * 8 + 3), ...inside.flat(), ...varint(n * 8 + 4)],
      ),
  };
}).field;

Deno.test("well-formed: any fields one after the other are, and no field cut short is", () => {
  fc.assert(fc.property(fc.array(field, { maxLength: 6 }), field, fc.nat(), (fields, last, cut) => {
    const whole = fields.flat();
    assert(isWellFormed(new Uint8Array([...whole, ...last])));
    const part = last.slice(0, cut % last.length);
    const isField = part.length > 0 && isWellFormed(new Uint8Array(part));
    // A group cut behind a field is still open; nothing else ends early.
    assert(!isField, `${last} cut to ${part}`);
    assertEquals(isWellFormed(new Uint8Array([...whole, ...part])), part.length === 0);
  }));
});

Deno.test("well-formed: what no field can be is refused", () => {
  assert(isWellFormed(bytes()));
  for (
    const wrong of [
      bytes(0x00, 1), // field number 0
      bytes(0x0e), // no such type
      bytes(0x0f),
      bytes(0x0c), // a group ends that never began
      bytes(0x0b), // a group without end
      bytes(0x0b, 0x14), // the end of another group
      bytes(0x08, ...new Array(10).fill(0x80), 0), // a varint of eleven bytes
      bytes(0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0), // a field number of 30 bits and more
      bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), // a length beyond all
      new Uint8Array(101).fill(0x0b),
    ]
  ) assertEquals(isWellFormed(wrong), false, `${wrong}`);
  assert(
    isWellFormed(new Uint8Array([...new Array(100).fill(0x0b), ...new Array(100).fill(0x0c)])),
  );
});
