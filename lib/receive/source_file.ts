/**
 * The set of a source as a file: the set at one moment, and behind it what changed since.
 *
 *     pinnace-source 1 -\n
 *     section         the summary: the source's name and times, version and size of each kind, number of runs
 *     section*        runs of resources, with the versions that the source told
 *     checksum        SHA-256 of all that comes before, 32 bytes
 *     record*         u32 length of its sections, the sections, checksum
 *
 * A record's first section is the summary after it; each further one has what a kind gained, lost and
 * what the source calls by another version. Its checksum is over the checksum before and itself, so a
 * record counts only behind those that it was written behind. A record that was not finished (the
 * process or its machine died) is left out: nobody was told that it was saved.
 *
 * Sections are as `lib/snapshot/sections.ts` says. What is verified: the checksums, and each kind's
 * version after the last record, made again from names and versions.
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import { Collection } from "../snapshot/collection.ts";
import {
  CHECKSUM_LENGTH,
  checksumOf,
  damaged,
  encodeSection,
  equalBytes,
  indexOf,
  parseIndex,
  readFirstLine,
  readRun,
  readSection,
  type RunIndex,
  runs,
  withChecksum,
} from "../snapshot/sections.ts";
import type { SourceSet, StoredSource } from "./received.ts";
import { ToldVersions } from "./told_versions.ts";

/** Number of the format written, and the highest that is read. */
export const SOURCE_FORMAT = 1;

const NAME = "pinnace-source";

interface KindSummary {
  readonly version: string;
  readonly size: number;
}

interface Summary {
  readonly name: string;
  readonly firstSeen: number;
  readonly namedBy?: string;
  readonly kinds: readonly (readonly [kind: string, summary: KindSummary])[];
  /** Sections that follow. */
  readonly runs: number;
}

/** Index of a section of resources. */
interface SetIndex extends RunIndex {
  /** In the order of the names. */
  readonly told: readonly string[];
  /** In records only. */
  readonly removed?: readonly string[];
  /** Of resources that did not change; in records only. */
  readonly retold?: readonly (readonly [name: string, version: string])[];
}

const EMPTY = Collection.empty(MCP_RESOURCE_TYPE_URL);
const UNTOLD = ToldVersions.of(new Map());

/** The file's bytes, a bounded piece at a time; the last piece is the checksum. */
export function encodeSource(source: StoredSource): Generator<Uint8Array, void, void> {
  return withChecksum(encodePieces(source));
}

function* encodePieces(source: StoredSource): Generator<Uint8Array, void, void> {
  const { collections, told } = source.set;
  const all = [...collections].flatMap(([kind, collection]) =>
    Array.from(runs(collection), (run) => ({ kind, run }))
  );
  yield new TextEncoder().encode(`${NAME} ${SOURCE_FORMAT} -\n`);
  yield encodeSection(summarise(source, all.length), []);
  for (const { kind, run } of all) yield encodeSection(indexWith(kind, run, told.get(kind)), run);
}

function summarise({ name, firstSeen, namedBy, set }: StoredSource, runs: number): Summary {
  const kinds = [...set.collections].map(([kind, { version, size }]) =>
    [kind, { version, size }] as const
  );
  return { name, firstSeen, ...(namedBy === undefined ? {} : { namedBy }), kinds, runs };
}

function indexWith(
  kind: string,
  run: readonly Resource[],
  told: ReadonlyMap<string, string> = UNTOLD,
): SetIndex {
  return { ...indexOf(kind, run), told: run.map(({ name }) => told.get(name) ?? "") };
}

/** What turns one set into another. */
export interface SourceDiff {
  readonly kinds: readonly KindDiff[];
  /** About the size of the record. Bytes. */
  readonly size: number;
}

interface KindDiff {
  readonly kind: string;
  readonly changed: readonly Resource[];
  readonly removed: readonly string[];
  readonly retold: readonly (readonly [name: string, version: string])[];
}

/** What a record holds of a resource besides its bytes, about. */
const INDEX_SIZE = 100;

/** What turns `from` into `to`. Kinds that did not change cost nothing. */
export function diffSets(from: SourceSet, to: SourceSet): SourceDiff {
  const names = new Set([...from.collections.keys(), ...to.collections.keys()]);
  const kinds = [...names].map((kind) => diffKind(kind, from, to)).filter((diff) =>
    diff.changed.length + diff.removed.length + diff.retold.length > 0
  );
  const size = kinds.reduce(
    (sum, { changed, removed, retold }) =>
      changed.reduce((bytes, r) => bytes + r.bytes.length, sum) +
      INDEX_SIZE * (changed.length + removed.length + retold.length),
    0,
  );
  return { kinds, size };
}

function diffKind(kind: string, from: SourceSet, to: SourceSet): KindDiff {
  const [had, has] = [from.collections.get(kind) ?? EMPTY, to.collections.get(kind) ?? EMPTY];
  const { changed, removed } = had === has ? { changed: [], removed: [] } : has.diff(had);
  const [before, after] = [from.told.get(kind) ?? UNTOLD, to.told.get(kind) ?? UNTOLD];
  const retold = before === after
    ? new Map<string, string>()
    : ToldVersions.of(after).changesSince(before);
  for (const { name } of changed) retold.delete(name);
  for (const name of removed) retold.delete(name);
  const entries = [...retold].map(([name, version]) => [name, version ?? ""] as const);
  return { kind, changed, removed, retold: entries };
}

/** A record of this difference, to stand behind what has the checksum `before`; its own is its end. */
export function encodeRecord(
  source: StoredSource,
  diff: SourceDiff,
  before: Uint8Array,
): { readonly bytes: Uint8Array; readonly checksum: Uint8Array } {
  const { told } = source.set;
  const sections = diff.kinds.flatMap(({ kind, changed, removed, retold }) => {
    const all = changed.length === 0 ? [[]] : [...runs(changed)];
    return all.map((run, at) =>
      encodeSection({
        ...indexWith(kind, run, told.get(kind)),
        ...(at === 0 ? { removed, retold } : {}),
      }, run)
    );
  });
  sections.unshift(encodeSection(summarise(source, sections.length), []));
  const length = sections.reduce((sum, section) => sum + section.length, 0);
  const bytes = new Uint8Array(4 + length + CHECKSUM_LENGTH);
  new DataView(bytes.buffer).setUint32(0, length);
  let at = 4;
  for (const section of sections) {
    bytes.set(section, at);
    at += section.length;
  }
  const checksum = checksumOf(before, bytes.subarray(0, at));
  bytes.set(checksum, at);
  return { bytes, checksum };
}

/** What a file came to. */
export interface DecodedSource {
  readonly source: StoredSource;
  /** Bytes at the end that are no finished record. */
  readonly unfinished: number;
}

/** The source in a file, verified. Keeps no view of `bytes`. Throws `StoredFileError`. */
export function decodeSource(bytes: Uint8Array): DecodedSource {
  const { end: start } = readFirstLine(bytes, NAME, SOURCE_FORMAT);
  const end = endOfBase(bytes, start);
  let checksum = bytes.subarray(end, end + CHECKSUM_LENGTH);
  if (!equalBytes(checksumOf(bytes.subarray(0, end)), checksum)) {
    throw damaged("its checksum does not match: it was cut off or changed");
  }
  const reading = new Reading();
  reading.read(bytes, start);
  let at = end + CHECKSUM_LENGTH;
  for (;;) {
    const record = recordAt(bytes, at, checksum);
    if (record === undefined) return { source: reading.source(), unfinished: bytes.length - at };
    reading.read(record.content, 0);
    checksum = record.checksum;
    at = record.end;
  }
}

/** Where the checksum of the set stands; what is before it may be anything yet. */
function endOfBase(bytes: Uint8Array, start: number): number {
  const first = readSection(bytes, start);
  const summary = parseIndex<Summary>(first.index);
  if (!isSummary(summary)) throw damaged("its summary is incomplete");
  let end = first.end;
  for (let run = 0; run < summary.runs; run++) end = readSection(bytes, end).end;
  return end;
}

interface Record {
  readonly content: Uint8Array;
  readonly checksum: Uint8Array;
  readonly end: number;
}

/** The record at `at`; undefined where none was finished. */
function recordAt(bytes: Uint8Array, at: number, before: Uint8Array): Record | undefined {
  if (at + 4 > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const contentEnd = at + 4 + view.getUint32(at);
  const end = contentEnd + CHECKSUM_LENGTH;
  if (end > bytes.length) return undefined;
  const checksum = bytes.subarray(contentEnd, end);
  if (!equalBytes(checksumOf(before, bytes.subarray(at, contentEnd)), checksum)) return undefined;
  return { content: bytes.subarray(at + 4, contentEnd), checksum, end };
}

/** A set in the making: plain maps, since hundreds of records may change it before anybody sees it. */
class Reading {
  #summary: Summary | undefined;
  readonly #resources = new Map<string, Map<string, Resource>>();
  readonly #told = new Map<string, Map<string, string>>();

  /** Reads a summary and its runs from `start` on. */
  read(content: Uint8Array, start: number): void {
    const first = readSection(content, start);
    const summary = parseIndex<Summary>(first.index);
    if (!isSummary(summary)) throw damaged("its summary is incomplete");
    this.#summary = summary;
    let at = first.end;
    for (let run = 0; run < summary.runs; run++) {
      const section = readSection(content, at);
      this.#add(parseIndex<SetIndex>(section.index), section.body);
      at = section.end;
    }
  }

  #add(index: SetIndex, body: Uint8Array): void {
    const { kind, names, told: versions, removed = [], retold = [] } = index;
    if (!Array.isArray(names) || versions?.length !== names.length) {
      throw damaged("an index is incomplete");
    }
    const resources = this.#resources.get(kind) ?? new Map<string, Resource>();
    const told = this.#told.get(kind) ?? new Map<string, string>();
    this.#resources.set(kind, resources);
    this.#told.set(kind, told);
    for (const name of removed) {
      resources.delete(name);
      told.delete(name);
    }
    for (const resource of readRun(index, body)) resources.set(resource.name, resource);
    names.forEach((name, i) => told.set(name, versions[i]!));
    for (const [name, version] of retold) told.set(name, version);
  }

  source(): StoredSource {
    const { name, firstSeen, namedBy, kinds } = this.#summary!;
    const collections = new Map<string, Collection>();
    const told = new Map<string, ToldVersions>();
    for (const [kind, expected] of kinds) {
      const collection = EMPTY.patch(this.#resources.get(kind)?.values() ?? [], []);
      if (collection.version !== expected.version || collection.size !== expected.size) {
        throw damaged(`its ${kind} resources are not those it was written with`);
      }
      collections.set(kind, collection);
      told.set(kind, ToldVersions.of(this.#told.get(kind) ?? new Map()));
    }
    const proof = namedBy === undefined ? {} : { namedBy };
    return { name, firstSeen, ...proof, set: { collections, told } };
  }
}

function isSummary({ name, firstSeen, namedBy, kinds, runs }: Summary): boolean {
  return typeof name === "string" && Number.isFinite(firstSeen) &&
    (namedBy === undefined || typeof namedBy === "string") && Array.isArray(kinds) &&
    Number.isSafeInteger(runs) && runs >= 0;
}
