import { assert, assertEquals } from "@std/assert";
import { type Section, sectionLines } from "../../lib/cli/status_sections.ts";

const HEAD = ["head 1", "head 2"];

const titleLine = (title: string, more: number) => more === 0 ? title : `${title} ${more} more`;

function section(title: string, rows: number): Section {
  const groups = Array.from({ length: rows }, (_, at) => [`${title} ${at + 1}`]);
  return { title, columns: `${title} columns`, groups };
}

Deno.test("status sections: where there is room for all, all is shown", () => {
  const all = ["head 1", "head 2", "", "A", "A columns", "A 1", "", "B", "B columns", "B 1"];
  const sections = [section("A", 1), section("B", 1)];
  assertEquals(sectionLines(HEAD, sections, { turn: 3, titleLine }), all);
  assertEquals(sectionLines(HEAD, sections, { rows: all.length, turn: 3, titleLine }), all);
});

Deno.test("status sections: a long one leaves the others their share, and says how much is left out", () => {
  const sections = [section("A", 200), section("B", 1), section("C", 3)];
  assertEquals(sectionLines(HEAD, sections, { rows: 16, turn: 5, titleLine }), [
    ...HEAD,
    ...["A 196 more", "A columns", "A 1", "A 2", "A 3", "A 4"],
    ...["B", "B columns", "B 1"],
    ...["C", "C columns", "C 1", "C 2", "C 3"],
  ]);
});

Deno.test("status sections: on a screen too small for all each has its turn, and none is higher than it", () => {
  const sections = ["A", "B", "C", "D"].map((title) => section(title, 20));
  const seen = new Set<string>();
  for (let turn = 0; turn < 4; turn++) {
    for (let rows = 4; rows < 60; rows++) {
      const lines = sectionLines(HEAD, sections, { rows, turn, titleLine });
      assert(lines.length <= rows, `${lines.length} of ${rows}`);
      if (rows === 8) lines.forEach((line) => seen.add(line[0]!));
    }
  }
  assertEquals([...seen].sort(), ["A", "B", "C", "D", "h"]);
});

Deno.test("status sections: a long head leaves room for a section", () => {
  const head = Array.from({ length: 20 }, (_, at) => `head ${at}`);
  assertEquals(sectionLines(head, [section("A", 2)], { rows: 7, turn: 0, titleLine }), [
    ...["head 0", "head 1", "… 18 more lines"],
    ...["A", "A columns", "A 1", "A 2"],
  ]);
});
