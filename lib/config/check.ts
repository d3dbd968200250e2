/**
 * Checks a value against a schema and says in plain words what is wrong with it.
 *
 * @module
 */
import type { z } from "zod";
import { nearest } from "./nearest.ts";
import { type Path, type Problem, problem } from "./problem.ts";
import { isMapping, type IssueDetail } from "./schema_parts.ts";

/** The value, of the right form, or what is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks `value` against `schema`. */
export function check<T>(schema: z.ZodType<T>, value: unknown): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  return { ok: false, problems: result.error.issues.flatMap((issue) => explain(issue, value, [])) };
}

type Issue = z.core.$ZodIssue;

function explain(issue: Issue, root: unknown, prefix: Path): Problem[] {
  const path = [...prefix, ...issue.path.map((part) => typeof part === "symbol" ? "" : part)];
  const value = valueAt(root, path);
  const name = nameOf(path);
  switch (issue.code) {
    case "invalid_type":
      return [wrongType(path, value, [issue.expected])];
    case "invalid_value":
      return [wrongChoice(path, value, issue.values.map(String))];
    case "invalid_union":
      return explainUnion(issue, root, path);
    case "invalid_key":
      return issue.issues.map((inner) =>
        problem("config/value", path, `the key ${name} ${inner.message}`)
      );
    case "custom": {
      const { rule, hint } = (issue.params ?? {}) as IssueDetail;
      const message = rule === undefined ? `${name} ${issue.message}` : issue.message;
      return [problem(rule ?? "config/value", path, message, hint)];
    }
    default:
      return [problem("config/value", path, `${name} ${issue.message}`)];
  }
}

/** Only the forms that a value of this type could have been meant as are explained. */
function explainUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  root: unknown,
  path: Path,
): Problem[] {
  const isType = (inner: Issue) =>
    inner.path.length === 0 && (inner.code === "invalid_type" || inner.code === "invalid_value");
  const meant = issue.errors.find((branch) => !branch.some(isType));
  if (meant !== undefined) return meant.flatMap((inner) => explain(inner, root, path));
  const expected = issue.errors.flat().filter(isType).map((inner) =>
    inner.code === "invalid_type"
      ? inner.expected
      : inner.code === "invalid_value"
      ? inner.values.join()
      : ""
  );
  return [wrongType(path, valueAt(root, path), [...new Set(expected)])];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a mapping",
  record: "a mapping",
  array: "a list",
};

function wrongType(path: Path, value: unknown, expected: readonly string[]): Problem {
  const name = nameOf(path);
  const wanted = expected.map((type) => TYPE_NAMES[type] ?? type).join(" or ");
  if (value === undefined) {
    return problem("config/missing", path.slice(0, -1), `${name} is missing`);
  }
  if (value === null) {
    return problem("config/type", path, `${name} is empty`, `give ${wanted}, or leave the key out`);
  }
  // A header may be a secret, even as a number.
  const shown = path.includes("headers") ? `a ${typeof value}` : describe(value);
  // Where a mapping would do as well, true was hardly meant as a text.
  const quotable = typeof value === "number" ||
    (typeof value === "boolean" && expected.length === 1);
  const hint = expected.includes("string") && quotable
    ? "put it in quotes, else YAML reads it as something else (1.10 as 1.1)"
    : undefined;
  return problem("config/type", path, `${name} must be ${wanted}, not ${shown}`, hint);
}

function wrongChoice(path: Path, value: unknown, choices: readonly string[]): Problem {
  const name = nameOf(path);
  if (value === undefined || value === null) return wrongType(path, value, [choices.join(", ")]);
  const meant = typeof value === "string" ? nearest(value, choices) : undefined;
  return problem(
    "config/value",
    path,
    `${name} must be one of ${choices.join(", ")}, not ${describe(value)}`,
    meant === undefined ? undefined : `did you mean ${meant}?`,
  );
}

/** A value in a sentence. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return JSON.stringify(shorten(value));
  return typeof value === "number" ? `the number ${value}` : String(value);
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The last part of a path in a sentence: `` `ports` ``, `` item 2 of `ports` ``. */
function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "this";
  if (typeof last === "string") return `\`${shorten(last)}\``;
  const list = path.at(-2);
  return typeof list === "string" ? `item ${last + 1} of \`${list}\`` : `item ${last + 1}`;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (Array.isArray(value) && typeof part === "number") value = value[part];
    else if (isMapping(value) && Object.hasOwn(value, part)) value = value[part];
    else return undefined;
  }
  return value;
}
