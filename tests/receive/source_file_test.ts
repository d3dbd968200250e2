import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  decodeSource,
  diffSets,
  encodeRecord,
  encodeSource,
  SOURCE_FORMAT,
} from "../../lib/receive/source_file.ts";
import type { StoredSource } from "../../lib/receive/received.ts";
import { applyPush } from "../../lib/receive/source_set.ts";
import { StoredFileError } from "../../lib/snapshot/sections.ts";
import { contentOf, large, stored } from "./sets.ts";

/** The file of the first, with the others appended one after the other. */
function fileOf(first: StoredSource, ...later: readonly StoredSource[]): Uint8Array {
  const pieces = [...encodeSource(first)];
  let checksum = pieces.at(-1)!;
  let before = first;
  for (const source of later) {
    const record = encodeRecord(source, diffSets(before.set, source.set), checksum);
    pieces.push(record.bytes);
    checksum = record.checksum;
    before = source;
  }
  return new Uint8Array(pieces.flatMap((piece) => [...piece]));
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

Deno.test("source file: of a changed byte and of every cut, no more is believed than was written before it", () => {
  const states = [
    stored("edge", { "a/b": "one", "a/c": "two" }),
    stored("edge", { "a/b": "three", "a/c": "two" }),
    stored("edge", { "a/b": "four", "a/c": "two" }),
  ];
  const ends = [1, 2, 3].map((count) => fileOf(states[0]!, ...states.slice(1, count)).length);
  const bytes = fileOf(states[0]!, ...states.slice(1));
  assertEquals(bytes.length, ends[2]);
  const check = (file: Uint8Array, at: number) => {
    if (at < ends[0]!) {
      assertThrows(() => decodeSource(file), StoredFileError);
      return;
    }
    const { source, unfinished } = decodeSource(file);
    const whole = ends.findLastIndex((end) => end <= at);
    assertEquals(contentOf(source), contentOf(states[whole]!));
    assertEquals(unfinished, file.length - ends[whole]!);
  };
  for (let at = 0; at < bytes.length; at++) {
    const flipped = bytes.slice();
    flipped[at]! ^= 1 << (at % 8);
    check(flipped, at);
    check(bytes.subarray(0, at), at);
  }
  for (const rest of [[0], [0, 0, 0, 0], new Array(100).fill(0), new Array(100).fill(255)]) {
    const { source, unfinished } = decodeSource(new Uint8Array([...bytes, ...rest]));
    assertEquals([contentOf(source), unfinished], [contentOf(states[2]!), rest.length]);
  }
});

Deno.test("source file: a record counts only behind those it was written behind", () => {
  const states = ["1", "2", "3"].map((text) => stored("edge", { "a/b": text }));
  const base = fileOf(states[0]!);
  const both = fileOf(...states as [StoredSource]);
  const first = fileOf(states[0]!, states[1]!).length;
  const skipped = new Uint8Array([...base, ...both.subarray(first)]);
  const { source, unfinished } = decodeSource(skipped);
  assertEquals(contentOf(source), contentOf(states[0]!));
  assert(unfinished > 0);
});

Deno.test("source file: a file of a newer release is told from a damaged one", () => {
  const newer = new TextEncoder().encode(`pinnace-source ${SOURCE_FORMAT + 1} anything\n\x00`);
  assertEquals(assertThrows(() => decodeSource(newer), StoredFileError).reason, "newer");
  for (const text of ["", "\n", "pinnace-snapshot 1 {}\n", "pinnace-source 1 -\n"]) {
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
