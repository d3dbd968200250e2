import { assert, assertEquals } from "@std/assert";
import { imports, ROOT, sources } from "./source_files.ts";

const map: Record<string, string> = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`)).imports;
const docs = Deno.readTextFileSync(`${ROOT}/docs/dependencies.md`);

/** Packages in the first column of the tables of a section. */
function explained(heading: string): string[] {
  const section = docs.split(/^## /m).find((part) => part.startsWith(heading));
  assert(section !== undefined, `docs/dependencies.md has no section "${heading}"`);
  return section.split("\n").filter((line) => line.startsWith("|"))
    .flatMap((row) => [...row.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

/** Packages of the import map that the files import. */
function used(...folders: string[]): string[] {
  const specifiers = folders.flatMap(sources).flatMap(imports).map(({ to }) => to);
  return Object.keys(map).filter((name) =>
    specifiers.some((to) => to === name || to.startsWith(`${name}/`))
  );
}

Deno.test("dependencies: docs/dependencies.md explains each package of the import map, no other", () => {
  assertEquals(
    [...explained("In the program"), ...explained("In tests")].toSorted(),
    Object.keys(map).toSorted(),
  );
});

Deno.test("dependencies: each package is used where docs/dependencies.md says", () => {
  const program = used("lib", "main.ts");
  assertEquals(explained("In the program").toSorted(), program.toSorted());
  const tests = used("tests").filter((name) => !program.includes(name));
  assertEquals(explained("In tests").toSorted(), tests.toSorted());
});

Deno.test("dependencies: versions are exact, but for the linked packages", () => {
  const links: string[] = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`)).links;
  const linked = links.map((link) =>
    JSON.parse(Deno.readTextFileSync(`${ROOT}/${link}/deno.json`)).name
  );
  for (const [name, target] of Object.entries(map)) {
    if (linked.includes(name)) continue;
    assert(/@\d+\.\d+\.\d+$/.test(target), `${name}: ${target} is a range`);
  }
});
