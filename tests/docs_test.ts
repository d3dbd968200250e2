import { assert, assertEquals } from "@std/assert";
import { ROOT, type SourceFile, sources } from "./source_files.ts";

/** A declaration that starts a line, as the formatter writes it. */
const EXPORTED =
  /^export (?:declare |abstract |async )*(?:function\*?|class|interface|type|const|let|enum) +(\w+)/;

/** Exported names of a file that no docstring stands before. */
function undocumented({ path, text }: SourceFile): string[] {
  const lines = text.split("\n");
  const documented = new Set<string>();
  const missing: string[] = [];
  lines.forEach((line, at) => {
    const name = EXPORTED.exec(line)?.[1];
    if (name === undefined) return;
    if (endsDocstring(lines, at - 1)) documented.add(name);
    // Further signatures of an overloaded function need no words of their own.
    else if (!documented.has(name)) missing.push(`${path}:${at + 1} ${name}`);
  });
  return missing;
}

/** Whether the line closes a docstring; lint comments may stand between it and what it is about. */
function endsDocstring(lines: readonly string[], at: number): boolean {
  while (lines[at]?.startsWith("// deno-lint-ignore")) at--;
  if (!lines[at]?.trimEnd().endsWith("*/")) return false;
  while (at >= 0 && !lines[at]!.trimStart().startsWith("/*")) at--;
  const block: string[] = [];
  for (let line = at; line < lines.length; line++) {
    block.push(lines[line]!);
    if (lines[line]!.includes("*/")) break;
  }
  const text = block.join("\n");
  return text.startsWith("/**") && /\w{3}/.test(text);
}

Deno.test("docs: everything exported says what it is", () => {
  const files = [...sources("lib"), ...sources("vendor")];
  assert(files.length > 30, "the walk finds the sources");
  assertEquals(files.flatMap(undocumented), []);
});

Deno.test("docs: the walk finds what has no docstring", () => {
  const file = (text: string) => undocumented({ path: "a.ts", text }).length;
  assertEquals(file("/** Says so. */\nexport const a = 1;"), 0);
  assertEquals(file("/**\n * Says so.\n */\nexport abstract class A {}"), 0);
  assertEquals(file("/** Does. */\n// deno-lint-ignore x\nexport function f() {}"), 0);
  assertEquals(file("/** Does. */\nexport function f(): void;\nexport function f() {}"), 0);
  assertEquals(file("export const a = 1;"), 1);
  assertEquals(file("/* not one */\nexport type A = 1;"), 1);
  assertEquals(file("/** */\nexport interface A {}"), 1);
  assertEquals(file("/** Of another. */\n\nexport async function f() {}"), 1);
});

Deno.test("docs: every decision is in the list of decisions, in order, under its number", () => {
  const folder = `${ROOT}/docs/adr`;
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name !== "README.md").sort();
  const list = Deno.readTextFileSync(`${folder}/README.md`);
  const rows = [...list.matchAll(/^\| \[(\d+)\]\(([^)]+)\)/gm)];
  assertEquals(rows.map(([, , file]) => file), files);
  rows.forEach(([, number, file], at) => {
    assertEquals([Number(number), Number(file!.slice(0, 4))], [at + 1, at + 1]);
    const title = Deno.readTextFileSync(`${folder}/${file}`).split("\n")[0]!;
    assert(title.startsWith(`# ${number}. `), `${file} begins with ${title}`);
  });
});
