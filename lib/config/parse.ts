/**
 * Bytes of a file → its one document, or what is wrong with it. YAML 1.2 with merge keys; JSON is YAML.
 *
 * @module
 */
import {
  constructFromEvents,
  CORE_SCHEMA,
  defineMappingTag,
  EVENT_ID,
  mapTag,
  mergeTag,
  parseEvents,
  YAMLException,
} from "js-yaml";
import { describe } from "./check.ts";
import { type Problem, problem } from "./problem.ts";
import { isMapping } from "./schema_parts.ts";

/** A problem with a place of its own, where the document could not be read as far as a path. Both count from 1. */
export interface SyntaxProblem extends Problem {
  readonly line?: number;
  readonly column?: number;
}

/** The document, a mapping, or the one thing that is wrong with the file. */
export type Parsed =
  | { readonly ok: true; readonly document: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: SyntaxProblem };

/** Options of the parser; positions are looked up with the same ones. */
export const PARSER_OPTIONS = { maxDepth: 64 } as const;

/** Nodes that aliases may multiply a document to; beyond, only an attack makes sense of it. */
const MAX_EXPANDED = 2_000_000;

/** Only text is a key: `1.10:` would become the key 1.1 without a word. */
const textKeys = defineMappingTag<Record<string, unknown>>("tag:yaml.org,2002:map", {
  create: () => ({}),
  identify: mapTag.identify,
  addPair: (carrier, key, value) => {
    if (typeof key !== "string") return `the key ${describe(key)} is not text; put it in quotes`;
    if (key === "__proto__") return "the key __proto__ is not allowed";
    carrier[key] = value;
    return "";
  },
  has: (carrier, key) => typeof key === "string" && Object.hasOwn(carrier, key),
  keys: (carrier) => Object.keys(carrier),
  get: (carrier, key) => carrier[String(key)],
});

const SCHEMA = CORE_SCHEMA.withTags(textKeys, mergeTag);

/** The text of a file's bytes, without a byte order mark. */
export function decode(
  bytes: Uint8Array,
): { readonly text: string } | { readonly problem: SyntaxProblem } {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    const hint = "save it as UTF-8";
    return { problem: problem("config/encoding", [], "the file is UTF-16, not UTF-8", hint) };
  }
  // The parser would say so too, but takes seconds to draw a picture of the place.
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    const message = "the file holds a NUL byte: it is no text, or not all of it was written";
    return { problem: { ...problem("config/encoding", [], message), line: lineAt(bytes, nul) } };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const line = lineOfBadByte(bytes);
    const found = problem("config/encoding", [], "the file is not UTF-8", "save it as UTF-8");
    return { problem: { ...found, line } };
  }
}

/** Reads the one document of a text. */
export function parse(text: string): Parsed {
  try {
    const events = parseEvents(text, PARSER_OPTIONS);
    const documents = constructFromEvents(events, {
      source: text,
      schema: SCHEMA,
      maxTotalMergeKeys: 1_000_000,
    });
    const hasAliases = events.some(({ type }) => type === EVENT_ID.ALIAS);
    if (documents.length === 1 && hasAliases) checkAliases(documents[0]);
    return checkDocuments(documents);
  } catch (error) {
    // The parser asks its callers to catch whatever it throws, a range error of a deep document too.
    return { ok: false, problem: syntaxProblem(error) };
  }
}

function checkDocuments(documents: readonly unknown[]): Parsed {
  const [document] = documents;
  if (documents.length > 1) {
    const empty = documents.filter((other) => other === null).length;
    const hint = empty > 0
      ? "take out the `---` that begins an empty one"
      : "take out the `---`, or make two files";
    return fail(`the file holds ${documents.length} documents, where one is read`, hint);
  }
  if (document === undefined || document === null) {
    return { ok: false, problem: problem("config/empty", [], "the file is empty", KEEP_NONE) };
  }
  if (isMapping(document)) return { ok: true, document };
  const hint = Array.isArray(document)
    ? "put `services:` above the list"
    : "it should begin with `services:`";
  return fail(`the file must be a mapping, not ${describe(document)}`, hint);
}

/** How to say that there are no services. */
export const KEEP_NONE = "to have no services write `services: []`";

function fail(message: string, hint: string): Parsed {
  return { ok: false, problem: problem("config/document", [], message, hint) };
}

function syntaxProblem(error: unknown): SyntaxProblem {
  if (error instanceof AliasError) return problem("config/aliases", [], error.message);
  if (!(error instanceof YAMLException)) {
    const message = error instanceof Error ? error.message : String(error);
    return problem("config/syntax", [], `the file cannot be read as YAML: ${message}`);
  }
  const { mark } = error;
  const duplicate = error.reason === "duplicated mapping key";
  const reason = duplicate ? "the key is there twice in one mapping" : error.reason;
  const rule = duplicate ? "config/duplicate-key" : "config/syntax";
  const found = problem(rule, [], reason);
  return mark === undefined ? found : { ...found, line: mark.line + 1, column: mark.column + 1 };
}

class AliasError extends Error {}

/** Refuses documents that aliases turn into more nodes than a person means, or into a circle. */
function checkAliases(document: unknown): void {
  const sizes = new Map<object, number>();
  const open = new Set<object>();
  const sizeOf = (value: unknown): number => {
    if (typeof value !== "object" || value === null) return 1;
    if (open.has(value)) throw new AliasError("an alias stands inside what it is an alias of");
    const known = sizes.get(value);
    if (known !== undefined) return known;
    open.add(value);
    let total = 1;
    for (const part of Object.values(value)) total += sizeOf(part);
    open.delete(value);
    if (total > MAX_EXPANDED) {
      throw new AliasError(`aliases make the file larger than ${MAX_EXPANDED} values`);
    }
    sizes.set(value, total);
    return total;
  };
  sizeOf(document);
}

function lineAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(10); at >= 0 && at < offset; at = bytes.indexOf(10, at + 1)) line++;
  return line;
}

function lineOfBadByte(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end));
    } catch {
      return line;
    }
    start = end;
  }
  return line;
}
