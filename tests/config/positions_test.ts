import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { dump } from "js-yaml";
import { locate } from "../../lib/config/positions.ts";
import type { Path } from "../../lib/config/problem.ts";

function at(text: string, ...path: Path): string {
  const [place] = locate(text, [path]);
  return place === undefined ? "nowhere" : `${place.line}:${place.column}`;
}

const TEXT = `# a comment
services:
  - name: a            # first
    "hosts": ['x.example', "y.example"]
    ports:
    - 80
    -   { number: 81, name: b }
  - &anchor
    name: c
  - !!map { name: d }
  - *anchor
note: |
  ports: 1
last: {"k": [1, [2, {"deep": 3}]]}
`;

Deno.test("positions: keys in mappings, items in lists, block and flow, with tags and anchors", () => {
  assertEquals(at(TEXT, "services"), "2:1");
  assertEquals(at(TEXT, "services", 0), "3:5");
  assertEquals(at(TEXT, "services", 0, "name"), "3:5");
  assertEquals(at(TEXT, "services", 0, "hosts"), "4:5");
  assertEquals(at(TEXT, "services", 0, "hosts", 0), "4:15");
  assertEquals(at(TEXT, "services", 0, "hosts", 1), "4:28");
  assertEquals(at(TEXT, "services", 0, "ports", 0), "6:7");
  assertEquals(at(TEXT, "services", 0, "ports", 1, "name"), "7:23");
  assertEquals(at(TEXT, "services", 1), "8:5");
  assertEquals(at(TEXT, "services", 1, "name"), "9:5");
  assertEquals(at(TEXT, "services", 2), "10:5");
  assertEquals(at(TEXT, "services", 2, "name"), "10:13");
  assertEquals(at(TEXT, "services", 3), "11:5");
  assertEquals(at(TEXT, "last", "k", 1, 1, "deep"), "14:22");
});

Deno.test("positions: what is not there has the place of what is around it", () => {
  assertEquals(at(TEXT, "services", 0, "ports", 0, "number"), "6:7");
  assertEquals(at(TEXT, "services", 0, "labels", "x"), "3:5");
  assertEquals(at(TEXT, "services", 3, "name"), "11:5");
  assertEquals(at(TEXT, "services", 99), "2:1");
  assertEquals(at(TEXT, "nothing"), "1:1");
});

Deno.test("positions: CRLF and characters outside the basic plane", () => {
  const text = 'a: 1\r\nb: "😀"\r\nc: { d: "😀", e: 2 }\r\n';
  assertEquals(at(text, "b"), "2:1");
  assertEquals(at(text, "c", "e"), "3:15", "columns count UTF-16 code units, as editors do");
});

Deno.test("positions: several paths in one pass come back in their order", () => {
  const places = locate(TEXT, [["last"], ["services", 2], ["services"], ["services", 2], []]);
  assertEquals(places.map((place) => place?.line), [14, 10, 2, 10, 1]);
});

Deno.test("positions: of what is no YAML there are none", () => {
  assertEquals(at("a: [", "a"), "nowhere");
});

Deno.test("positions: in any document every value is found where it is written", () => {
  const key = fc.stringMatching(/^[a-z]{1,6}$/);
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.nat(),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(
      fc.dictionary(key, tree, { minKeys: 1, maxKeys: 4 }),
      fc.boolean(),
      (document, flow) => {
        const text = dump(document, { flowLevel: flow ? 1 : -1, noRefs: true });
        const lines = text.split("\n");
        for (const path of pathsOf(document)) {
          const [place] = locate(text, [path]);
          const rest = lines[place!.line - 1]!.slice(place!.column - 1);
          const last = path.at(-1)!;
          if (typeof last === "string") assert(rest.replace(/^['"]/, "").startsWith(last), text);
          else assert(begins(rest, valueAt(document, path)), `${text}\n${path}: ${rest}`);
        }
      },
    ),
    { numRuns: 200 },
  );
});

function pathsOf(value: unknown, prefix: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([part, child]) => {
    const path = [...prefix, Array.isArray(value) ? Number(part) : part];
    return [path, ...pathsOf(child, path)];
  });
}

/** Whether what is written begins as this value would. */
function begins(written: string, value: unknown): boolean {
  if (typeof value === "number") return written.startsWith(String(value));
  if (Array.isArray(value)) return /^[-[]/.test(written);
  return /^[{a-z'"]/.test(written);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, part) => (at as Record<string | number, unknown>)[part], value);
}
