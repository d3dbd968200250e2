/**
 * Reads the program's own sources for the tests that look at them.
 *
 * @module
 */
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** One source file. */
export interface SourceFile {
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** One `import`, `export … from`, `import()` or worker of a source file. */
export interface Import {
  /** The file that imports, relative to the root. */
  readonly from: string;
  /** The file imported, relative to the root; a bare specifier for a package. */
  readonly to: string;
  /** Whether only types are taken: nothing of it is there when the program runs. */
  readonly typesOnly: boolean;
}

/** Every .ts file below a folder of the root, or the file itself. */
export function sources(path: string): SourceFile[] {
  const absolute = join(ROOT, path);
  if (Deno.statSync(absolute).isFile) return [read(absolute)];
  const found: SourceFile[] = [];
  for (const entry of Deno.readDirSync(absolute)) {
    if (entry.isDirectory) found.push(...sources(join(path, entry.name)));
    else if (entry.name.endsWith(".ts")) found.push(read(join(absolute, entry.name)));
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function read(absolute: string): SourceFile {
  const path = relative(ROOT, absolute).replaceAll("\\", "/");
  return { path, text: Deno.readTextFileSync(absolute) };
}

// What the formatter leaves behind is regular enough for these. Comments are taken out before.
const STATEMENT = /^(import|export)\s+(type\s+)?([^"';]*?)\s*\bfrom\s+"([^"]+)"/gm;
const BARE = /^import\s+"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/g;
const WORKER = /\bnew URL\(\s*"(\.[^"]+\.ts)"/g;

/** What a file imports. */
export function imports(file: SourceFile): Import[] {
  const text = withoutComments(file.text);
  const found: Import[] = [];
  const add = (specifier: string, typesOnly: boolean) => {
    const to = specifier.startsWith(".")
      ? posix.join(posix.dirname(file.path), specifier)
      : specifier;
    found.push({ from: file.path, to, typesOnly });
  };
  for (const [, , type, clause, specifier] of text.matchAll(STATEMENT)) {
    add(specifier!, type !== undefined || onlyTypes(clause!));
  }
  for (const [, specifier] of text.matchAll(BARE)) add(specifier!, false);
  for (const [, specifier] of text.matchAll(DYNAMIC)) add(specifier!, false);
  for (const [, specifier] of text.matchAll(WORKER)) add(specifier!, false);
  return found;
}

/** `{ type A, type B }`. */
function onlyTypes(clause: string): boolean {
  const names = /^\{([\s\S]*)\}$/.exec(clause)?.[1];
  if (names === undefined) return false;
  return names.split(",").map((name) => name.trim()).filter(Boolean)
    .every((name) => name.startsWith("type "));
}

/** The text with comments blanked out; line ends stay. Strings that hold `//` are left alone. */
export function withoutComments(text: string): string {
  const pattern = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(
    pattern,
    (found) => found.startsWith("/") ? found.replace(/[^\n]/g, " ") : found,
  );
}
