/**
 * What the store's files are made of, whatever they hold: a first line that names format and number,
 * sections of an index and the bytes it describes, and a checksum.
 *
 *     <name> <format> <text>\n     the first line
 *     section                      u32 length of its index, u32 length of its body, the index (JSON), the body
 *     checksum                     SHA-256, 32 bytes
 *
 * Integers are big-endian. Sections of resources are bounded, so that writing one at a time never holds
 * the event loop for long.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Resource } from "../model/resource.ts";

/** Bytes of a checksum. */
export const CHECKSUM_LENGTH = 32;

/** Longest first line that is written or read. Bytes. */
export const MAX_HEAD = 512;

/** A section ends after this many resources or bytes of bodies, whichever comes first. */
const SECTION = { resources: 256, bytes: 256 * 1024 };

/** A stored file that gives nothing. `newer`: of a later release, and not at fault; `damaged`: anything else. */
export class StoredFileError extends Error {
  override readonly name = "StoredFileError";

  constructor(readonly reason: "damaged" | "newer", message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Index of a section of resources of one kind; their bytes are its body, end to end. */
export interface RunIndex {
  readonly kind: string;
  readonly names: readonly string[];
  readonly versions: readonly string[];
  readonly lengths: readonly number[];
}

/** A section, read. */
export interface Section {
  /** JSON. */
  readonly index: string;
  readonly body: Uint8Array;
  /** Where the next one begins. */
  readonly end: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The pieces, and behind them the checksum of them all. */
export function* withChecksum(
  pieces: Iterable<Uint8Array>,
): Generator<Uint8Array, void, void> {
  const hash = createHash("sha256");
  for (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
  yield new Uint8Array(hash.digest());
}

/** Checksum of these bytes, one after the other. */
export function checksumOf(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

/** Whether two checksums are the same. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** The resources in runs, a section each. */
export function* runs(resources: Iterable<Resource>): Generator<Resource[], void, void> {
  let run: Resource[] = [];
  let bytes = 0;
  for (const resource of resources) {
    run.push(resource);
    bytes += resource.bytes.length;
    if (run.length < SECTION.resources && bytes < SECTION.bytes) continue;
    yield run;
    [run, bytes] = [[], 0];
  }
  if (run.length > 0) yield run;
}

/** The index of a run. */
export function indexOf(kind: string, run: readonly Resource[]): RunIndex {
  return {
    kind,
    names: run.map((r) => r.name),
    versions: run.map((r) => r.version),
    lengths: run.map((r) => r.bytes.length),
  };
}

/** A section of this index, with the bytes of these resources as its body. */
export function encodeSection(index: unknown, resources: readonly Resource[]): Uint8Array {
  const text = encoder.encode(JSON.stringify(index));
  const body = resources.reduce((sum, r) => sum + r.bytes.length, 0);
  const out = new Uint8Array(8 + text.length + body);
  const view = new DataView(out.buffer);
  view.setUint32(0, text.length);
  view.setUint32(4, body);
  out.set(text, 8);
  let at = 8 + text.length;
  for (const { bytes } of resources) {
    out.set(bytes, at);
    at += bytes.length;
  }
  return out;
}

/** The section at `at`. Its body is a view of `content`. Throws {@link StoredFileError}. */
export function readSection(content: Uint8Array, at: number): Section {
  if (at + 8 > content.length) throw damaged("a section is cut off");
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const bodyAt = at + 8 + view.getUint32(at);
  const end = bodyAt + view.getUint32(at + 4);
  if (end > content.length) throw damaged("a section is cut off");
  let index: string;
  try {
    index = decoder.decode(content.subarray(at + 8, bodyAt));
  } catch (cause) {
    throw new StoredFileError("damaged", "its index is not text", { cause });
  }
  return { index, body: content.subarray(bodyAt, end), end };
}

/**
 * The resources of a section. They share a copy of the body, not the file: what stays in memory when
 * most resources have changed is a section each. Throws {@link StoredFileError}.
 */
export function readRun(index: RunIndex, body: Uint8Array): Resource[] {
  const own = body.slice();
  let at = 0;
  const resources = index.names.map((name, i): Resource => {
    const [version, length] = [index.versions[i], index.lengths[i]];
    if (version === undefined || length === undefined) throw damaged("an index is incomplete");
    return { name, version, bytes: own.subarray(at, at += length) };
  });
  if (at !== own.length) throw damaged("an index does not fit its resources");
  return resources;
}

/** The first line of a file: `<name> <format> <text>`. */
export interface FirstLine {
  readonly format: number;
  readonly text: string;
  /** Where what follows begins. */
  readonly end: number;
}

/** The first line. Throws {@link StoredFileError} where it is none, or of a format higher than `newest`. */
export function readFirstLine(bytes: Uint8Array, name: string, newest: number): FirstLine {
  const end = bytes.subarray(0, MAX_HEAD).indexOf(0x0a) + 1;
  const line = String.fromCharCode(...bytes.subarray(0, end));
  const [, found, format, text] = /^(\S+) (\d{1,9}) (.*)\n$/.exec(line) ?? [];
  if (found !== name || format === undefined || text === undefined) {
    throw damaged(`it does not begin as a ${name.replace("pinnace-", "")}`);
  }
  if (Number(format) <= newest) return { format: Number(format), text, end };
  throw new StoredFileError(
    "newer",
    `it has format ${format}, of a newer release; this one reads formats up to ${newest}`,
  );
}

/** The object that a text is the JSON of. Throws {@link StoredFileError}. */
export function parseIndex<T extends object>(json: string): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new StoredFileError("damaged", "its index is not JSON", { cause });
  }
  if (value === null || typeof value !== "object") throw damaged("its index is not an object");
  return value as T;
}

/** The error of a file that is not what was written. */
export function damaged(message: string): StoredFileError {
  return new StoredFileError("damaged", message);
}
