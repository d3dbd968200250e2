/**
 * The two forms of a log line: text for people, JSON for machines.
 *
 * @module
 */
import type { LogLevel } from "../model/settings.ts";
import { type Fields, type FieldValue, flatten } from "./fields.ts";

/** What one line says. */
export interface Line {
  readonly time: Date;
  readonly level: LogLevel;
  /** Dotted, from the large to the small: `transport.gate`. */
  readonly category: string;
  readonly message: string;
  readonly fields: Fields;
}

const COLOURS: Readonly<Record<LogLevel, number>> = { debug: 90, info: 32, warn: 33, error: 31 };
const DIM = 2;

/**
 * `2026-01-31T09:26:53.589Z WARN  sink  refused what was sent  peer=10.0.0.7:9901 nonce=3`: time in
 * UTC, level, category, message, fields. Always one line; what a peer sent can't break out of it or
 * reach a terminal.
 */
export function formatText(line: Line, colours: boolean): string {
  const paint = (code: number, text: string) => colours ? `\x1b[${code}m${text}\x1b[0m` : text;
  const fields = flatten(line.fields)
    .map(([name, value]) => ` ${paint(DIM, `${escape(name)}=`)}${textValue(value)}`);
  return [
    paint(DIM, line.time.toISOString()),
    paint(COLOURS[line.level], line.level.toUpperCase().padEnd(5)),
    `${line.category} `,
    escape(line.message) + (fields.length > 0 ? ` ${fields.join("")}` : ""),
  ].join(" ");
}

/**
 * One JSON object: `time` (RFC 3339, UTC), `level`, `category`, `msg`, and the fields beside them. A
 * field that bears one of those names gets an underscore before it.
 */
export function formatJson(line: Line): string {
  const out: Record<string, FieldValue> = {
    time: line.time.toISOString(),
    level: line.level,
    category: line.category,
    msg: line.message,
  };
  for (const [name, value] of flatten(line.fields)) {
    out[Object.hasOwn(out, name) ? `_${name}` : name] = value;
  }
  return JSON.stringify(out);
}

function textValue(value: FieldValue): string {
  if (typeof value === "object" && value !== null) return `[${value.map(textValue).join(",")}]`;
  if (typeof value !== "string") return String(value);
  return value === "" || /[\s"=,[\]]|[^\x20-\x7e\xa1-\uffff]/.test(value)
    ? escape(JSON.stringify(value))
    : value;
}

/** Control characters made visible, those that turn text around included. */
function escape(text: string): string {
  return text.replace(
    /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (c) => SHORT[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
