/**
 * A snapshot as a file:
 *
 *     pinnace-snapshot 3 {"id":…,"sequence":…,"savedAt":…,"resources":…}\n     the head, one line of text
 *     section*        as `sections.ts` says
 *     checksum        SHA-256 of all that comes before, 32 bytes
 *
 * The first section holds the settings and, for every kind and the services,
 * version and size; each further one a run of one kind's resources: names, versions and lengths in
 * the index, their bytes end to end in the body.
 *
 * What is verified: the checksum, so every byte is as it was written; each collection's version,
 * made again from names and versions; the id, made again from those and the settings. Resource
 * versions are not made again from the bytes: the checksum vouches for both together.
 *
 * A change of the shape of `Settings` or `ServiceRecord` that the reader of an old file would trip
 * over needs a higher {@link FORMAT}, and a way here to read the old one (`upgrade_settings.ts`).
 *
 * @module
 */
import { KINDS } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import type { Settings } from "../model/settings.ts";
import { Collection } from "./collection.ts";
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
  StoredFileError,
  withChecksum,
} from "./sections.ts";
import {
  emptySnapshot,
  makeSnapshot,
  ORIGINS_ANY_TYPE,
  resourceCount,
  type Snapshot,
} from "./snapshot.ts";
import type { StoredSnapshot } from "./store.ts";
import { upgradeSettings } from "./upgrade_settings.ts";

export { MAX_HEAD, StoredFileError as SnapshotFileError } from "./sections.ts";

/** Number of the format written, and the highest that is read. */
export const FORMAT = 3;

const NAME = "pinnace-snapshot";
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

interface CollectionSummary {
  readonly version: string;
  readonly size: number;
}

interface Summary {
  readonly settings: Settings;
  /** By kind, in the order of the table of the release that wrote it. */
  readonly collections: readonly (readonly [string, CollectionSummary])[];
  readonly services: CollectionSummary;
  /** By kind, of those that other sources give; absent where there are none. */
  readonly origins?: readonly (readonly [string, CollectionSummary])[];
}

const encoder = new TextEncoder();

/** The file's bytes, a bounded piece at a time. */
export function encodeSnapshot(
  snapshot: Snapshot,
  at: { readonly sequence: number; readonly savedAt: number },
): Generator<Uint8Array, void, void> {
  return withChecksum(encodePieces(snapshot, at));
}

function* encodePieces(
  snapshot: Snapshot,
  { sequence, savedAt }: { readonly sequence: number; readonly savedAt: number },
): Generator<Uint8Array, void, void> {
  const resources = resourceCount(snapshot);
  const origins = [...snapshot.origins ?? []].filter(([, { size }]) => size > 0);
  const head: SnapshotHead = { id: snapshot.id, sequence, savedAt, resources };
  yield encoder.encode(`${NAME} ${FORMAT} ${JSON.stringify(head)}\n`);
  const summary: Summary = {
    settings: snapshot.settings,
    collections: [...snapshot.collections].map(([kind, c]) => [kind, summarise(c)]),
    services: summarise(snapshot.services),
    ...(origins.length === 0 ? {} : { origins: origins.map(([kind, c]) => [kind, summarise(c)]) }),
  };
  yield encodeSection(summary, []);
  const content = [
    ...snapshot.collections,
    [SERVICE, snapshot.services] as const,
    ...origins.map(([kind, collection]) => [originOf(kind), collection] as const),
  ];
  for (const [kind, collection] of content) {
    for (const run of runs(collection)) yield encodeSection(indexOf(kind, run), run);
  }
}

/** What sections of the origins of a kind are named by. */
function originOf(kind: string): string {
  return `origin:${kind}`;
}

function summarise(collection: Collection): CollectionSummary {
  return { version: collection.version, size: collection.size };
}

/** The head, out of the first {@link MAX_HEAD} bytes (or more) of a file. Throws {@link SnapshotFileError}. */
export function decodeHead(bytes: Uint8Array): SnapshotHead {
  return readHead(bytes).head;
}

interface Head {
  readonly head: SnapshotHead;
  readonly format: number;
  readonly end: number;
}

function readHead(bytes: Uint8Array): Head {
  const { text, format, end } = readFirstLine(bytes, NAME, FORMAT);
  const head = parseIndex<SnapshotHead>(text);
  if (
    typeof head.id !== "string" || !Number.isSafeInteger(head.sequence) ||
    !Number.isFinite(head.savedAt) || !Number.isSafeInteger(head.resources)
  ) throw damaged("its first line is incomplete");
  return { head, format, end };
}

/**
 * The snapshot in a file, verified. Its resources share copies of their sections, not `bytes`: what
 * stays in memory when most resources have changed is a section each, never the file. A file of an
 * earlier format gives a snapshot with settings of today's shape, so its id is another than the file's.
 * Throws {@link SnapshotFileError}.
 */
export function decodeSnapshot(bytes: Uint8Array): StoredSnapshot {
  const { head, format, end } = readHead(bytes);
  const content = bytes.subarray(0, Math.max(end, bytes.length - CHECKSUM_LENGTH));
  if (!equalBytes(checksumOf(content), bytes.subarray(content.length))) {
    throw damaged("its checksum does not match: it was cut off or changed");
  }
  const { summary, resources } = readSections(content, end);
  const snapshot = assemble(head, summary, resources);
  const settings = upgradeSettings(summary.settings, format);
  const isToday = settings === summary.settings;
  return { ...head, snapshot: isToday ? snapshot : makeSnapshot({ ...snapshot, settings }) };
}

interface Sections {
  readonly summary: Summary;
  readonly resources: ReadonlyMap<string, readonly Resource[]>;
}

function readSections(content: Uint8Array, start: number): Sections {
  if (start === content.length) throw damaged("it has no sections");
  const first = readSection(content, start);
  const summary = parseIndex<Summary>(first.index);
  const resources = new Map<string, Resource[]>();
  for (let at = first.end; at < content.length;) {
    const section = readSection(content, at);
    const index = parseIndex<RunIndex>(section.index);
    const list = resources.get(index.kind) ?? [];
    resources.set(index.kind, list);
    for (const resource of readRun(index, section.body)) list.push(resource);
    at = section.end;
  }
  return { summary, resources };
}

function assemble(
  head: SnapshotHead,
  summary: Summary,
  resources: ReadonlyMap<string, readonly Resource[]>,
): Snapshot {
  const empty = emptySnapshot(summary.settings);
  const collections = new Map(empty.collections);
  for (const [kind, expected] of summary.collections) {
    const blank = empty.collections.get(kind);
    if (blank !== undefined) {
      collections.set(kind, fill(kind, blank, resources.get(kind), expected));
    } else if (expected.size > 0) {
      throw new StoredFileError("newer", `it holds ${kind} resources, a kind unknown here`);
    }
  }
  const services = fill(SERVICE, empty.services, resources.get(SERVICE), summary.services);
  const origins = (summary.origins ?? []).map(([kind, expected]) => {
    const name = originOf(kind);
    return [kind, fill(name, NO_ORIGINS, resources.get(name), expected)] as const;
  });
  const snapshot = makeSnapshot({
    collections,
    services,
    settings: summary.settings,
    ...(origins.length === 0 ? {} : { origins: new Map(origins) }),
  });
  // Another release's table of kinds gives the same content another id; the rest is verified.
  if (sameKinds(summary) && snapshot.id !== head.id) throw damaged("its id is not its content's");
  return snapshot;
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

const NO_ORIGINS = Collection.empty(ORIGINS_ANY_TYPE);

function sameKinds(summary: Summary): boolean {
  return summary.collections.length === KINDS.length &&
    KINDS.every(({ kind }, index) => summary.collections[index]?.[0] === kind);
}
