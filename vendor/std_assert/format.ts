import { diff, inspect } from "node:util";

/** More lines than this together are not compared: the comparison is quadratic in the worst case. */
const DIFF_LINES = 4_000;
/** Equal lines shown around each difference. */
const CONTEXT = 3;

/** A value as a message shows it: whole, keys sorted, one property a line if it doesn't fit. */
export function format(value: unknown): string {
  return inspect(value, {
    depth: Infinity,
    sorted: true,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    compact: false,
    breakLength: 80,
    getters: false,
  });
}

/** A value in one line, cut when long: for the middle of a sentence. */
export function formatShort(value: unknown): string {
  const text = inspect(value, {
    depth: 4,
    breakLength: Infinity,
    sorted: true,
  });
  return text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text;
}

/**
 * How two values differ, line by line: `-` what was there, `+` what was expected; far equal parts
 * are left out. Texts of several lines are compared as such.
 */
export function formatDifference(actual: unknown, expected: unknown): string {
  const both = typeof actual === "string" && typeof expected === "string";
  const texts = both && (actual.includes("\n") || expected.includes("\n"));
  const before = texts
    ? JSON.stringify(actual).slice(1, -1).split("\\n")
    : format(actual).split("\n");
  const after = texts
    ? JSON.stringify(expected).slice(1, -1).split("\\n")
    : format(expected).split("\n");
  if (before.length + after.length > DIFF_LINES) {
    return firstDifference(before, after);
  }
  const entries = diff(before, after) as [number, string][];
  const near = entries.map((_, at) =>
    entries.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([op]) => op !== 0)
  );
  const lines: string[] = ["    [Diff] - actual, + expected", ""];
  let skipped = 0;
  const flush = () => {
    if (skipped > 0) lines.push(`    … ${skipped} equal lines`);
    skipped = 0;
  };
  entries.forEach(([op, line], at) => {
    if (!near[at]) return void skipped++;
    flush();
    lines.push(`${op === 0 ? "   " : op > 0 ? "-  " : "+  "} ${line}`);
  });
  flush();
  return lines.join("\n");
}

function firstDifference(
  before: readonly string[],
  after: readonly string[],
): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const cut = (lines: readonly string[], mark: string) =>
    lines.slice(at, at + 10).map((line) => `${mark}   ${line}`);
  return [
    `    [First difference, at line ${at + 1} of ${before.length} and ${after.length}]`,
    "",
    ...before.slice(Math.max(0, at - CONTEXT), at).map((line) => `    ${line}`),
    ...cut(before, "-"),
    ...cut(after, "+"),
  ].join("\n");
}
