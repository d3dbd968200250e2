import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { grpcWrites, LARGEST_WRITE } from "../../lib/transport/pieces.ts";
import { bytes, concat } from "./frames.ts";

const messageOf = (pieces: readonly Uint8Array[]) => ({
  pieces,
  length: pieces.reduce((sum, piece) => sum + piece.length, 0),
});

/** A message as one gRPC frame. */
function framed(pieces: readonly Uint8Array[]): Uint8Array {
  const body = concat(...pieces);
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint32(1, body.length);
  return concat(head, body);
}

Deno.test("pieces: a message of any pieces becomes its gRPC frame, in bounded writes", () => {
  const size = fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.integer({ min: 0, max: 3 * LARGEST_WRITE }),
    fc.constantFrom(16_383, 16_384, LARGEST_WRITE - 5, LARGEST_WRITE, LARGEST_WRITE + 1),
  );
  fc.assert(
    fc.property(fc.array(size, { maxLength: 12 }), (sizes) => {
      const pieces = sizes.map((length, i) => new Uint8Array(length).fill(i + 1));
      const writes = [...grpcWrites(messageOf(pieces))];
      assert(writes.every((write) => write.length > 0 && write.length <= LARGEST_WRITE));
      assertEquals(concat(...writes), framed(pieces));
    }),
    { numRuns: 200 },
  );
});

Deno.test("pieces: many tiny pieces become few writes", () => {
  const pieces = Array.from({ length: 10_000 }, (_, i) => bytes(30, i));
  const writes = [...grpcWrites(messageOf(pieces))];
  assertEquals(writes.length, Math.ceil((300_000 + 5) / LARGEST_WRITE));
});

Deno.test("pieces: large pieces are shared, not copied", () => {
  const leaf = bytes(40_000);
  const writes = [...grpcWrites(messageOf([bytes(20), leaf, leaf, bytes(9)]))];
  assertEquals(writes.map((write) => write.length), [25, 40_000, 40_000, 9]);
  assert(writes[1]!.buffer === leaf.buffer && writes[2]!.buffer === leaf.buffer);
});
