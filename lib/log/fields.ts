/**
 * Fields of a log line: flat, bounded, and without secrets, whatever was handed over.
 *
 * @module
 */

/** What a line says beside its message, by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field's value as it is written. */
export type FieldValue = string | number | boolean | null | readonly (string | number | boolean)[];

/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

/** Characters of one value that are written. */
const LONGEST = 2_000;
/** Elements of one list that are written. */
const ELEMENTS = 20;
/** Fields of one line that are written. */
const PAIRS = 64;
/** Objects inside objects that are followed, and causes of errors. */
const DEPTH = 4;

const SECRET =
  /authorization|authentication|^auth$|token(?!file)|secret|passw|cookie|credential|private|api[-_]?key|^key$/i;
const SCHEME = /^(bearer|basic|digest|negotiate|token)\s/i;

/** Whether what bears this name is not for logs: headers, settings and fields alike. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name);
}

/**
 * The fields as flat pairs: objects become `outer.inner`, errors the chain of their messages, secrets
 * {@link REDACTED}. Long values, lists and deep objects are cut and say so; undefined is left out.
 */
export function flatten(fields: Fields): [string, FieldValue][] {
  const pairs: [string, FieldValue][] = [];
  collect(pairs, "", fields, 0);
  return pairs;
}

function collect(pairs: [string, FieldValue][], prefix: string, value: Fields, depth: number) {
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined || typeof one === "function") continue;
    const name = prefix + key;
    if (pairs.length >= PAIRS) return;
    if (isSecretName(key)) pairs.push([name, REDACTED]);
    else if (isPlain(one) && depth < DEPTH) collect(pairs, `${name}.`, one, depth + 1);
    else pairs.push([name, written(one)]);
  }
}

function isPlain(value: unknown): value is Fields {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function written(value: unknown): FieldValue {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "string") return SCHEME.test(value) ? REDACTED : cut(value);
  if (value instanceof Error) return cut(explain(value));
  if (value instanceof Date) return isNaN(value.getTime()) ? "no date" : value.toISOString();
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value) || value instanceof Set) return list([...value]);
  return cut(isPlain(value) ? "…" : String(value));
}

function list(values: readonly unknown[]): readonly (string | number | boolean)[] {
  const shown = values.slice(0, ELEMENTS).map((value) => {
    const one = written(value);
    return typeof one === "object" ? String(one) : one;
  });
  return values.length > ELEMENTS ? [...shown, `… ${values.length - ELEMENTS} more`] : shown;
}

function cut(text: string): string {
  return text.length > LONGEST
    ? `${text.slice(0, LONGEST)}… ${text.length - LONGEST} more characters`
    : text;
}

/** An error in one line: its message, then why, then why that. */
export function explain(error: unknown): string {
  const parts: string[] = [];
  let one: unknown = error;
  // Counted by depth, not by parts: a cause may lead back to where it came from.
  for (let depth = 0; one !== undefined && one !== null && depth < DEPTH; depth++) {
    const text = one instanceof Error ? one.message || one.name : String(one);
    // Whoever wraps an error often repeats what it says.
    if (!parts.some((part) => part.includes(text))) parts.push(text);
    one = one instanceof Error ? one.cause : undefined;
  }
  return parts.join(": ");
}
