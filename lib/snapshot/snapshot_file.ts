/**
 * A snapshot as a file:
 *
 *     pinnace-snapshot 1 {"id":…,"sequence":…,"savedAt":…,"resources":…}\n     the head, one line of text
 *     section*        u32 length of its index, u32 length of its body, the index (JSON), the body
 *     checksum        SHA-256 of all that comes before, 32 bytes
 *
 * Integers are big-endian. The first section holds the settings and, for every kind and the services,
 * version and size; each further one a run of one kind's resources: names, versions and lengths in
 * the index, their bytes end to end in the body. Sections are bounded, so that writing one at a time
 * never holds the event loop for long.
 *
 * What is verified: the checksum, so every byte is as it was written; each collection's version,
 * made again from names and versions; the id, made again from those and the settings. Resource
 * versions are not made again from the bytes: the checksum vouches for both together.
 *
 * A change of the shape of `Settings` or `ServiceRecord` that the reader of an old file would trip
 * over needs a higher {@link FORMAT}, and a way here to read the old one.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { KINDS } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import type { Settings } from "../model/settings.ts";
import type { Collection } from "./collection.ts";
import { emptySnapshot, makeSnapshot, resourceCount, type Snapshot } from "./snapshot.ts";
import type { StoredSnapshot } from "./store.ts";

/** Number of the format written, and the highest that is read. */
export const FORMAT = 1;

/** Longest head that is written or read. Bytes. */
export const MAX_HEAD = 512;

/** A section ends after this many resources or bytes of bodies, whichever comes first. */
const SECTION = { resources: 256, bytes: 256 * 1024 };

const CHECKSUM_LENGTH = 32;
const SERVICE = "Service";

/** What the first line says. */
export interface SnapshotHead {
  readonly id: string;
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  /** Number of resources over all collections. */
  readonly resources: number;
}

/** A file that gives no snapshot. `newer`: of a later release, and not at fault; `damaged`: anything else. */
export class SnapshotFileError extends Error {
  override readonly name = "SnapshotFileError";

  constructor(readonly reason: "damaged" | "newer", message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

interface CollectionSummary {
  readonly version: string;
  readonly size: number;
}

interface Summary {
  readonly settings: Settings;
  /** By kind, in the order of the table of the release that wrote it. */
  readonly collections: readonly (readonly [string, CollectionSummary])[];
  readonly services: CollectionSummary;
}

interface SectionIndex {
  readonly kind: string;
  readonly names: readonly string[];
  readonly versions: readonly string[];
  readonly lengths: readonly number[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The file's bytes, a bounded piece at a time. */
export function* encodeSnapshot(
  snapshot: Snapshot,
  { sequence, savedAt }: { readonly sequence: number; readonly savedAt: number },
): Generator<Uint8Array, void, void> {
  const hash = createHash("sha256");
  for (const piece of encodePieces(snapshot, { sequence, savedAt })) {
    hash.update(piece);
    yield piece;
  }
  yield new Uint8Array(hash.digest());
}

function* encodePieces(
  snapshot: Snapshot,
  { sequence, savedAt }: { readonly sequence: number; readonly savedAt: number },
): Generator<Uint8Array, void, void> {
  const resources = resourceCount(snapshot);
  const head: SnapshotHead = { id: snapshot.id, sequence, savedAt, resources };
  yield encoder.encode(`pinnace-snapshot ${FORMAT} ${JSON.stringify(head)}\n`);
  const summary: Summary = {
    settings: snapshot.settings,
    collections: [...snapshot.collections].map(([kind, c]) => [kind, summarise(c)]),
    services: summarise(snapshot.services),
  };
  yield encodeSection(summary, []);
  for (
    const [kind, collection] of [...snapshot.collections, [SERVICE, snapshot.services] as const]
  ) {
    for (const run of runs(collection)) {
      const index: SectionIndex = {
        kind,
        names: run.map((r) => r.name),
        versions: run.map((r) => r.version),
        lengths: run.map((r) => r.bytes.length),
      };
      yield encodeSection(index, run);
    }
  }
}

function summarise(collection: Collection): CollectionSummary {
  return { version: collection.version, size: collection.size };
}

function* runs(collection: Collection): Generator<Resource[], void, void> {
  let run: Resource[] = [];
  let bytes = 0;
  for (const resource of collection) {
    run.push(resource);
    bytes += resource.bytes.length;
    if (run.length < SECTION.resources && bytes < SECTION.bytes) continue;
    yield run;
    [run, bytes] = [[], 0];
  }
  if (run.length > 0) yield run;
}

function encodeSection(index: unknown, resources: readonly Resource[]): Uint8Array {
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

/** The head, out of the first {@link MAX_HEAD} bytes (or more) of a file. Throws {@link SnapshotFileError}. */
export function decodeHead(bytes: Uint8Array): SnapshotHead {
  return readHead(bytes).head;
}

function readHead(bytes: Uint8Array): { readonly head: SnapshotHead; readonly end: number } {
  const end = bytes.subarray(0, MAX_HEAD).indexOf(0x0a) + 1;
  const line = latin1(bytes.subarray(0, end));
  const [, format, json] = /^pinnace-snapshot (\d{1,9}) (.*)\n$/.exec(line) ?? [];
  if (format === undefined || json === undefined) throw damaged("it does not begin as a snapshot");
  if (Number(format) > FORMAT) {
    throw new SnapshotFileError(
      "newer",
      `it has format ${format}, of a newer release; this one reads formats up to ${FORMAT}`,
    );
  }
  const head = parse<SnapshotHead>(json);
  if (
    typeof head.id !== "string" || !Number.isSafeInteger(head.sequence) ||
    !Number.isFinite(head.savedAt) || !Number.isSafeInteger(head.resources)
  ) throw damaged("its first line is incomplete");
  return { head, end };
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/**
 * The snapshot in a file, verified. Its resources share copies of their sections, not `bytes`: what
 * stays in memory when most resources have changed is a section each, never the file.
 * Throws {@link SnapshotFileError}.
 */
export function decodeSnapshot(bytes: Uint8Array): StoredSnapshot {
  const { head, end } = readHead(bytes);
  const content = bytes.subarray(0, Math.max(end, bytes.length - CHECKSUM_LENGTH));
  const checksum = createHash("sha256").update(content).digest();
  if (!checksum.equals(bytes.subarray(content.length))) {
    throw damaged("its checksum does not match: it was cut off or changed");
  }
  const { summary, resources } = readSections(content, end);
  return { ...head, ...assemble(head, summary, resources) };
}

interface Sections {
  readonly summary: Summary;
  readonly resources: ReadonlyMap<string, readonly Resource[]>;
}

function readSections(content: Uint8Array, start: number): Sections {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const resources = new Map<string, Resource[]>();
  let summary: Summary | undefined;
  for (let at = start; at < content.length;) {
    if (at + 8 > content.length) throw damaged("a section is cut off");
    const bodyAt = at + 8 + view.getUint32(at);
    const next = bodyAt + view.getUint32(at + 4);
    if (next > content.length) throw damaged("a section is cut off");
    const text = decoder.decode(content.subarray(at + 8, bodyAt));
    if (summary === undefined) {
      summary = parse<Summary>(text);
    } else {
      const index = parse<SectionIndex>(text);
      const list = resources.get(index.kind) ?? [];
      resources.set(index.kind, list);
      readRun(index, content.slice(bodyAt, next), list);
    }
    at = next;
  }
  if (summary === undefined) throw damaged("it has no sections");
  return { summary, resources };
}

function readRun(index: SectionIndex, body: Uint8Array, out: Resource[]): void {
  let at = 0;
  index.names.forEach((name, i) => {
    const [version, length] = [index.versions[i], index.lengths[i]];
    if (version === undefined || length === undefined) throw damaged("an index is incomplete");
    out.push({ name, version, bytes: body.subarray(at, at += length) });
  });
  if (at !== body.length) throw damaged("an index does not fit its resources");
}

function assemble(
  head: SnapshotHead,
  summary: Summary,
  resources: ReadonlyMap<string, readonly Resource[]>,
): { readonly snapshot: Snapshot } {
  const empty = emptySnapshot(summary.settings);
  const collections = new Map(empty.collections);
  for (const [kind, expected] of summary.collections) {
    const blank = empty.collections.get(kind);
    if (blank !== undefined) {
      collections.set(kind, fill(kind, blank, resources.get(kind), expected));
    } else if (expected.size > 0) {
      throw new SnapshotFileError("newer", `it holds ${kind} resources, a kind unknown here`);
    }
  }
  const services = fill(SERVICE, empty.services, resources.get(SERVICE), summary.services);
  const snapshot = makeSnapshot({ collections, services, settings: summary.settings });
  // Another release's table of kinds gives the same content another id; the rest is verified.
  if (sameKinds(summary) && snapshot.id !== head.id) throw damaged("its id is not its content's");
  return { snapshot };
}

function fill(
  kind: string,
  blank: Collection,
  resources: readonly Resource[] | undefined,
  expected: CollectionSummary,
): Collection {
  const collection = blank.patch(resources ?? [], []);
  if (collection.version !== expected.version || collection.size !== expected.size) {
    throw damaged(`its ${kind} resources are not those it was written with`);
  }
  return collection;
}

function sameKinds(summary: Summary): boolean {
  return summary.collections.length === KINDS.length &&
    KINDS.every(({ kind }, index) => summary.collections[index]?.[0] === kind);
}

function parse<T extends object>(json: string): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new SnapshotFileError("damaged", "its index is not JSON", { cause });
  }
  if (value === null || typeof value !== "object") throw damaged("its index is not an object");
  return value as T;
}

function damaged(message: string): SnapshotFileError {
  return new SnapshotFileError("damaged", message);
}
