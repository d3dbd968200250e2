import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  decodeSource,
  encodeRecord,
  encodeSource,
  SOURCE_FORMAT,
} from "../../lib/receive/source_file.ts";
import type { StoredSource } from "../../lib/receive/received.ts";
import { diffSets } from "../../lib/receive/source_diff.ts";
import { sealOf } from "../../lib/receive/source_record.ts";
import { applyPush } from "../../lib/receive/source_set.ts";
import { StoredFileError } from "../../lib/snapshot/sections.ts";
import { contentOf, large, stored } from "./sets.ts";

/** The file of the first, with the others appended one after the other. */
function fileOf(first: StoredSource, ...later: readonly StoredSource[]): Uint8Array {
  return new Uint8Array(piecesOf(first, ...later).flatMap((piece) => [...piece]));
}

/** The set at first, and then a record and a seal for each change. */
function piecesOf(first: StoredSource, ...later: readonly StoredSource[]): Uint8Array[] {
  const base = [...encodeSource(first)];
  const seal = sealOf(base.at(-1)!);
  const pieces: Uint8Array[] = [new Uint8Array(base.flatMap((piece) => [...piece]))];
  let checksum = base.at(-1)!;
  let before = first;
  for (const source of later) {
    const record = encodeRecord(source, diffSets(before.set, source.set), checksum);
    pieces.push(record.bytes, seal);
    checksum = record.checksum;
    before = source;
  }
  return pieces;
}

const head = { type: "", nonce: "", version: "", incremental: true };

Deno.test("source file: what is read is what was written, whatever changed on the way", () => {
  const names = fc.string({ unit: "binary", minLength: 1, maxLength: 12 });
  const change = fc.record({
    kindName: fc.constantFrom("ServiceEntry", "Gateway"),
    entries: fc.dictionary(fc.nat(60).map((i) => `a/${i}`), fc.nat(3).map(String)),
    removed: fc.array(fc.nat(60).map((i) => `a/${i}`), { maxLength: 20 }),
    told: fc.constantFrom("", "x", "y"),
    namedBy: fc.constantFrom("dns", "instance"),
  });
  fc.assert(
    fc.property(names, fc.array(change, { maxLength: 8 }), (name, changes) => {
      const all: StoredSource[] = [stored(name, { "a/0": "zero" })];
      for (const { kindName, entries, removed, told, namedBy } of changes) {
        const resources = Object.entries(entries).map(([name, text]) => ({
          resource: { name, version: text.repeat(4), bytes: new TextEncoder().encode(text) },
          told: told === "" ? text : told,
        }));
        const gone = removed.filter((name) => !(name in entries));
        const push = { kind: "accepted", head, resources, removed: gone, findings: [] } as const;
        const set = applyPush(all.at(-1)!.set, { ...push, kindName });
        all.push({ ...all.at(-1)!, set, namedBy });
      }
      const { source, unfinished } = decodeSource(fileOf(all[0]!, ...all.slice(1)));
      assertEquals(unfinished, 0);
      assertEquals(contentOf(source), contentOf(all.at(-1)!));
      assertEquals(contentOf(decodeSource(fileOf(source)).source), contentOf(source));
    }),
    { numRuns: 150 },
  );
});

const STATES = [
  stored("edge", { "a/b": "one", "a/c": "two" }),
  stored("edge", { "a/b": "three", "a/c": "two" }),
  stored("edge", { "a/b": "four", "a/c": "two" }),
] as const;

Deno.test("source file: cut anywhere, it gives what was written before the cut", () => {
  const bytes = fileOf(...STATES);
  const pieces = piecesOf(...STATES).map(({ length }) => length);
  const ends = pieces.map((_, i) => pieces.slice(0, i + 1).reduce((sum, one) => sum + one));
  for (let at = 0; at < bytes.length; at++) {
    const cut = bytes.subarray(0, at);
    if (at < ends[0]!) {
      assertThrows(() => decodeSource(cut), StoredFileError);
      continue;
    }
    const { source, unfinished, tail } = decodeSource(cut);
    const last = ends.findLastIndex((end) => end <= at);
    assertEquals(contentOf(source), contentOf(STATES[(last + 1) >> 1]!));
    assertEquals([unfinished, tail === undefined], [at - ends[last]!, unfinished > 0]);
  }
  for (const rest of [[0], [0, 0, 0, 0], new Array(100).fill(0), new Array(100).fill(255)]) {
    const { source, unfinished } = decodeSource(new Uint8Array([...bytes, ...rest]));
    assertEquals([contentOf(source), unfinished], [contentOf(STATES[2]), rest.length]);
  }
});

Deno.test("source file: a changed byte in what was saved is damage, in old changes too", () => {
  const bytes = fileOf(...STATES);
  const seals = bytes.length - 16;
  for (let at = 0; at < seals; at++) {
    const flipped = bytes.slice();
    flipped[at]! ^= 1 << (at % 8);
    assertEquals(assertThrows(() => decodeSource(flipped), StoredFileError).reason, "damaged");
  }
  // The last seal says nothing about the set.
  for (let at = seals; at < bytes.length; at++) {
    const flipped = bytes.slice();
    flipped[at]! ^= 1 << (at % 8);
    const { source, tail } = decodeSource(flipped);
    assertEquals([contentOf(source), tail], [contentOf(STATES[2]), undefined]);
  }
});

Deno.test("source file: a changed byte in a change that nobody was told is saved is no damage", () => {
  const pieces = piecesOf(...STATES);
  const before = pieces.slice(0, 3).flatMap((piece) => [...piece]);
  const record = pieces[3]!;
  for (let at = 0; at < record.length; at++) {
    const torn = record.slice();
    torn[at]! ^= 1 << (at % 8);
    const { source, unfinished } = decodeSource(new Uint8Array([...before, ...torn]));
    assertEquals([contentOf(source), unfinished], [contentOf(STATES[1]), record.length]);
  }
});

Deno.test("source file: a record counts only behind those it was written behind", () => {
  const [base, , , second] = piecesOf(...STATES);
  const { source, unfinished } = decodeSource(new Uint8Array([...base!, ...second!]));
  assertEquals(contentOf(source), contentOf(STATES[0]));
  assertEquals(unfinished, second!.length);
});

/** As the code wrote it before it wrote format 2: two ServiceEntries, one of them changed in a record. */
const FORMAT_1 = [
  "cGlubmFjZS1zb3VyY2UgMSAtCgAAAHwAAAAAeyJuYW1lIjoiZWRnZSIsImZpcnN0U2VlbiI6MTAwMCwibGFzdFNlZW4i",
  "OjIwMDAsImtpbmRzIjpbWyJTZXJ2aWNlRW50cnkiLHsidmVyc2lvbiI6Ijc5NzBiYWY2N2Q0NGRkNjYiLCJzaXplIjoy",
  "fV1dLCJydW5zIjoxfQAAAI8AAAAGeyJraW5kIjoiU2VydmljZUVudHJ5IiwibmFtZXMiOlsiYS9iIiwiYS9jIl0sInZl",
  "cnNpb25zIjpbImEwMzRhN2VhNWVhMTg3OWUiLCJhMDM0YTdlYTVlYTE4NzllIl0sImxlbmd0aHMiOlszLDNdLCJ0b2xk",
  "IjpbInRvbGQgb25lIiwidG9sZCBvbmUiXX1vbmVvbmX5pdx6P4ZpY1CIvI4h2iv6fibjz+HX1Q5408ds0nA+CAAAAREA",
  "AAB8AAAAAHsibmFtZSI6ImVkZ2UiLCJmaXJzdFNlZW4iOjEwMDAsImxhc3RTZWVuIjoyMDAwLCJraW5kcyI6W1siU2Vy",
  "dmljZUVudHJ5Iix7InZlcnNpb24iOiI4ZGY3YmExOTc2MDVmYjUyIiwic2l6ZSI6Mn1dXSwicnVucyI6MX0AAACCAAAA",
  "A3sia2luZCI6IlNlcnZpY2VFbnRyeSIsIm5hbWVzIjpbImEvYiJdLCJ2ZXJzaW9ucyI6WyJhYmUwYjMzZDFhZjUyY2Iy",
  "Il0sImxlbmd0aHMiOlszXSwidG9sZCI6WyJ0b2xkIHR3byJdLCJyZW1vdmVkIjpbXSwicmV0b2xkIjpbXX10d2+V6wG8",
  "YGy0vSVDdhEU7GRRB6nF0G6Jd0tAgqCOzOnNyw==",
].join("");

Deno.test("source file: one without seals and with the time last seen, of format 1, is read, and is to be written anew", () => {
  const { source, unfinished, tail } = decodeSource(Uint8Array.fromBase64(FORMAT_1));
  assertEquals(contentOf(source), contentOf(stored("edge", { "a/b": "two", "a/c": "one" })));
  assertEquals([unfinished, tail], [0, undefined]);
});

Deno.test("source file: a file of a newer release is told from a damaged one", () => {
  const newer = new TextEncoder().encode(`pinnace-source ${SOURCE_FORMAT + 1} anything\n\x00`);
  assertEquals(assertThrows(() => decodeSource(newer), StoredFileError).reason, "newer");
  for (const text of ["", "\n", "pinnace-snapshot 1 {}\n", "pinnace-source 2 -\n"]) {
    const bytes = new TextEncoder().encode(text);
    assertEquals(assertThrows(() => decodeSource(bytes), StoredFileError).reason, "damaged");
  }
});

Deno.test("source file: written in pieces of bounded size, and not kept in memory by what is read from it", () => {
  const pieces = [...encodeSource(large("edge", 2000, 4096))];
  for (const piece of pieces) assert(piece.length < 300 * 1024, `${piece.length}`);
  const file = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    file.set(piece, at);
    at += piece.length;
  }
  const { source } = decodeSource(file);
  for (const { bytes } of source.set.collections.get("ServiceEntry")!) {
    assert(bytes.buffer !== file.buffer && bytes.buffer.byteLength < 300 * 1024);
  }
});
