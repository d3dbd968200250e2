import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { ConfigReader } from "../../lib/config/load.ts";
import type { LoadResult } from "../../lib/config/messages.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

/** What a file may hold: services of these names and this weight, or something broken, or nothing at all. */
type Holding =
  | { readonly kind: "services"; readonly names: readonly string[]; readonly weight: number }
  | { readonly kind: "broken"; readonly text: string }
  | { readonly kind: "gone" };

const FILES = ["s/a.yaml", "s/b.yaml", "s/c.yaml"];
const holding: fc.Arbitrary<Holding> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("services" as const),
      names: fc.uniqueArray(fc.constantFrom("u", "v", "w", "x", "y", "z"), { maxLength: 3 }),
      weight: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("", "services: [", "- x\n", "{}\n", "services:\n  - {}\n")
      .map((text) => ({ kind: "broken" as const, text })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "gone" as const }) },
);
const step = fc.array(
  fc.record({ file: fc.constantFrom(...FILES), holding }),
  { minLength: 1, maxLength: 3 },
);

function textOf({ names, weight }: Holding & { kind: "services" }): string {
  const items = names.map((name) =>
    `  - { name: ${name}, ports: [80], endpoints: [{ address: 10.0.0.1, weight: ${weight} }] }\n`
  );
  return `services:${items.length === 0 ? " []" : ""}\n${items.join("")}`;
}

/** Names of a file's services with the weight that says which content they are of. */
type Content = ReadonlyMap<string, number>;

const contentOf = ({ names, weight }: Holding & { kind: "services" }): Content =>
  new Map(names.map((name) => [name, weight]));

function effectiveOf(reader: ConfigReader): Map<string, Content> {
  const files = new Map<string, Map<string, number>>();
  for (const { file, service } of reader.services) {
    if (!files.has(file)) files.set(file, new Map());
    files.get(file)!.set(service.name, service.endpoints[0]!.weight!);
  }
  return files;
}

const show = (content: Content | undefined) => [...content ?? []].sort().join(" ");

Deno.test("load: whatever happens to files, each has in effect what it holds or what it had, and changes add up", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      using folder = new TempFolder();
      folder.write("c.yaml", "include: [s/]\nservices: []\n");
      folder.write("s/z.txt", "");
      const reader = new ConfigReader(folder.at("c.yaml"), {
        converter: PLAIN_CONVERTER,
        hostName: "test",
      });
      const now = new Map<string, Holding>();
      const sent = new Map<string, string>();
      for (const edits of steps) {
        const before = effectiveOf(reader);
        for (const { file, holding } of edits) {
          now.set(file, holding);
          if (holding.kind === "services") folder.write(file, textOf(holding));
          else if (holding.kind === "broken") folder.write(file, holding.text);
          else folder.removeIfThere(file);
        }
        const result = reader.load();
        if (result.usable) apply(sent, result);
        checkFiles(now, before, effectiveOf(reader));
        const loaded = reader.services.map(({ record }) => `${record.name} ${record.version}`);
        assertEquals(
          [...sent].map(([name, version]) => `${name} ${version}`).sort(),
          loaded.sort(),
        );
        assertEquals(new Set(reader.services.map(({ name }) => name)).size, loaded.length);
        assertEquals(reader.hasChanged(), false);
      }
    }),
    { numRuns: 80 },
  );
});

function apply(sent: Map<string, string>, { changes, full }: LoadResult): void {
  if (full) sent.clear();
  const change = changes.find(({ kind }) => kind === "Service");
  change?.removed.forEach((name) => assert(sent.delete(name), `${name} was never there`));
  change?.names.forEach((name, index) => sent.set(name, change.versions[index]!));
}

function checkFiles(
  now: ReadonlyMap<string, Holding>,
  before: ReadonlyMap<string, Content>,
  after: ReadonlyMap<string, Content>,
): void {
  const good = [...now].filter(([, holding]) => holding.kind === "services") as [
    string,
    Holding & { kind: "services" },
  ][];
  for (const [file, holding] of now) {
    const is = show(after.get(file));
    const was = show(before.get(file));
    if (holding.kind === "gone") assertEquals(is, "");
    else if (holding.kind === "broken") assertEquals(is, was, `${file} is broken`);
    else {
      const holds = contentOf(holding);
      assert(is === show(holds) || is === was, `${file}: ${is}, not ${show(holds)} or ${was}`);
      // Nobody else claims, now or by what is in effect, what it holds: then it is in effect.
      const others = [
        ...good.filter(([other]) => other !== file).flatMap(([, { names }]) => names),
        ...[...before].filter(([other]) => other !== file).flatMap(([, had]) => [...had.keys()]),
      ];
      if (!holding.names.some((name) => others.includes(name))) assertEquals(is, show(holds));
    }
  }
}
