/**
 * The set of a source as a file: the set at one moment, and behind it what changed since.
 *
 *     pinnace-source 2 -\n
 *     section         the summary: the source's name and what is known of it, version and size of each kind, number of runs
 *     section*        runs of resources, with the versions that the source told
 *     checksum        SHA-256 of all that comes before, 32 bytes
 *     record*         what changed, as `source_record.ts` says
 *
 * A record's first section is the summary after it; each further one has what a kind gained, lost and
 * what the source calls by another version. A record that was not finished (the process or its machine
 * died) is left out: nobody was told that it was saved. Format 1 had no seals behind its records.
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
import type { StoredSource } from "./received.ts";
import type { SourceDiff } from "./source_diff.ts";
import { endOfSeal, isSealedBehind, joinRecord, recordAt, sealOf } from "./source_record.ts";
import { ToldVersions } from "./told_versions.ts";

/** Number of the format written, and the highest that is read. */
export const SOURCE_FORMAT = 2;

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
  return joinRecord(sections, before);
}

/** What a file came to. */
export interface DecodedSource {
  readonly source: StoredSource;
  /** Bytes at the end that are no finished record. */
  readonly unfinished: number;
  /** Where it can be appended to; absent where it must be written anew first. */
  readonly tail?: SourceTail;
}

/** The end of a file. */
export interface SourceTail {
  /** Size of the set that its records change. Bytes. */
  readonly base: number;
  /** Size of the records. Bytes. */
  readonly length: number;
  /** Of all there is. */
  readonly checksum: Uint8Array;
  /** What is put behind a record that is on the disk. */
  readonly seal: Uint8Array;
}

/**
 * The source in a file, verified. Keeps no view of `bytes`. Throws `StoredFileError`, also where a
 * change that was saved once can no longer be read: of those behind it none would make sense.
 */
export function decodeSource(bytes: Uint8Array): DecodedSource {
  const { format, end: start } = readFirstLine(bytes, NAME, SOURCE_FORMAT);
  const end = endOfBase(bytes, start);
  const base = end + CHECKSUM_LENGTH;
  let checksum = bytes.subarray(end, base);
  if (!equalBytes(checksumOf(bytes.subarray(0, end)), checksum)) {
    throw damaged("its checksum does not match: it was cut off or changed");
  }
  const reading = new Reading();
  reading.read(bytes, start);
  const seal = sealOf(checksum);
  let at = base;
  for (let record; (record = recordAt(bytes, at, checksum)) !== undefined;) {
    reading.read(record.content, 0);
    checksum = record.checksum;
    at = endOfSeal(bytes, record.end, seal);
  }
  if (isSealedBehind(bytes, at, seal)) throw damaged("a change that was saved was changed since");
  const unfinished = bytes.length - at;
  const tail = { base, length: at - base, checksum: checksum.slice(), seal };
  const isAppendable = unfinished === 0 && format === SOURCE_FORMAT;
  return { source: reading.source(), unfinished, ...(isAppendable ? { tail } : {}) };
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
