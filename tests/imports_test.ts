import { assert, assertEquals } from "@std/assert";
import { type Import, imports, ROOT, sources } from "./source_files.ts";

/**
 * Which part may import which: data flows one way through the program, so imports do too. A part may
 * always import itself. `types` are what it may name without needing it at run time. A file may stand
 * for itself where its whole part would be too much.
 */
const DIRECTIONS: Readonly<Record<string, { values: string[]; types?: string[] }>> = {
  // What everything else is made of; knows nobody.
  model: { values: [] },
  // The descriptor is wire's own data; it lies beside the .proto files that it is made from.
  wire: { values: ["model", "proto"] },
  config: { values: ["model", "wire"] },
  convert: { values: ["model", "wire"] },
  // The worker's entry puts the worker's parts together, as main.ts does those of the main thread.
  "lib/config/worker.ts": { values: ["model", "wire", "config", "convert"] },
  snapshot: { values: ["model", "wire"] },
  view: { values: ["model", "wire", "snapshot"] },
  rollout: { values: ["model", "snapshot", "view"] },
  // What other sources give: judged by conversion's rules, kept, united.
  receive: { values: ["model", "wire", "convert", "snapshot", "rollout"] },
  // Pure machines: they look kinds up (model) and name what they send; of the snapshot they need no
  // more than the collection, which is plain immutable data.
  protocol: { values: ["model", "lib/snapshot/collection.ts"], types: ["snapshot", "wire"] },
  // Lays responses out with wire's composer and follows the snapshot hub.
  transport: {
    values: ["model", "wire", "protocol", "rollout", "view"],
    types: ["snapshot", "receive"],
  },
  // Reads what the others show; the shape of a stream's status is the protocol's.
  admin: { values: ["model", "snapshot", "rollout"], types: ["protocol", "receive"] },
  // Handed in to whoever logs; only its own settings are known to it.
  log: { values: [], types: ["model"] },
};

/** Packages that only tests may use. */
const FOR_TESTS = ["@std/assert", "fast-check"];

/** The part a file belongs to: `lib/wire/hash.ts` → `wire`, `lib/log.ts` → `log`. */
function part(path: string): string {
  const [top, name] = path.split("/");
  if (top !== "lib") return top === "proto" ? "proto" : path;
  return name!.replace(/\.ts$/, "");
}

const all: readonly Import[] = [...sources("lib"), ...sources("main.ts")].flatMap(imports);

/** Parts that put the others together. */
const COMPOSERS = new Set(["cli", "main.ts"]);

function allowed({ from, to, typesOnly }: Import): boolean {
  const [here, there] = [part(from), part(to)];
  if (here === there || COMPOSERS.has(here)) return true;
  const rule = DIRECTIONS[from] ?? DIRECTIONS[here];
  if (rule === undefined) return false;
  const names = [...rule.values, ...(typesOnly ? rule.types ?? [] : [])];
  return names.includes(there) || names.includes(to);
}

Deno.test("imports: data and imports flow one way", () => {
  const inside = all.filter(({ to }) => /^(lib|proto)\/|^main\.ts$/.test(to));
  assert(inside.length > 30, "the walk finds the program's imports");
  const wrong = inside.filter((one) => !allowed(one));
  assertEquals(
    wrong.map(({ from, to, typesOnly }) => `${from} → ${to}${typesOnly ? " (types)" : ""}`),
    [],
  );
});

Deno.test("imports: every part has a rule", () => {
  const parts = new Set(sources("lib").map(({ path }) => part(path)));
  const known = [...Object.keys(DIRECTIONS), ...COMPOSERS];
  assertEquals([...parts].filter((one) => !known.includes(one)), []);
});

Deno.test("imports: packages are those of the import map, none of the tests'", () => {
  const map = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`)).imports;
  const named = (to: string, name: string) => to === name || to.startsWith(`${name}/`);
  const packages = all.filter(({ to }) => !/^(lib|proto|vendor)\/|^main\.ts$|^node:/.test(to));
  const unknown = packages.filter(({ to }) => !Object.keys(map).some((name) => named(to, name)));
  assertEquals(unknown.map(({ from, to }) => `${from} → ${to}`), []);
  const testing = packages.filter(({ to }) => FOR_TESTS.some((name) => named(to, name)));
  assertEquals(testing.map(({ from, to }) => `${from} → ${to}`), []);
});

Deno.test("imports: each file imported exists, and none leaves the program", () => {
  const files = new Set([...sources("lib"), ...sources("proto"), ...sources("main.ts")]
    .map(({ path }) => path));
  const relative = all.filter(({ to }) => to.endsWith(".ts"));
  assertEquals(relative.filter(({ to }) => !files.has(to)).map((one) => one.to), []);
});

Deno.test("imports: no file imports itself in a circle", () => {
  const next = new Map<string, string[]>();
  for (const { from, to, typesOnly } of all) {
    if (!typesOnly) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const circle = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const to of next.get(file) ?? []) {
      const found = circle(to, [...path, file]);
      if (found !== undefined) return found;
    }
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) assertEquals(circle(file, []), undefined);
});

Deno.test("imports: the walk sees every way to import", () => {
  const text = [
    'import { a } from "./a.ts";',
    'import type { B } from "../wire/b.ts";',
    "import {",
    "  type C,",
    "  type D,",
    '} from "./c.ts";',
    'import { type E, f } from "./e.ts";',
    'export * from "./g.ts";',
    'import "npm-package";',
    '// import { no } from "./no.ts";',
    'await import("./h.ts");',
    'new Worker(new URL("./i.ts", import.meta.url));',
  ].join("\n");
  const found = imports({ path: "lib/x/file.ts", text });
  assertEquals(found.map(({ to, typesOnly }) => [to, typesOnly]), [
    ["lib/x/a.ts", false],
    ["lib/wire/b.ts", true],
    ["lib/x/c.ts", true],
    ["lib/x/e.ts", false],
    ["lib/x/g.ts", false],
    ["npm-package", false],
    ["lib/x/h.ts", false],
    ["lib/x/i.ts", false],
  ]);
});

Deno.test("imports: a wrong direction is caught", () => {
  const one = (from: string, to: string, typesOnly = false) => allowed({ from, to, typesOnly });
  assert(!one("lib/model/kind.ts", "lib/wire/hash.ts"));
  assert(!one("lib/snapshot/hub.ts", "lib/log.ts", true));
  assert(!one("lib/protocol/sotw.ts", "lib/snapshot/hub.ts"));
  assert(one("lib/protocol/sotw.ts", "lib/snapshot/collection.ts"));
  assert(!one("lib/transport/gate.ts", "lib/admin/metrics.ts", true));
  assert(!one("lib/config/load.ts", "lib/cli/run.ts", true));
  assert(one("lib/protocol/sotw.ts", "lib/snapshot/snapshot.ts", true));
  assert(one("lib/cli/run.ts", "lib/transport/server.ts"));
});
