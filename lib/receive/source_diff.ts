/**
 * What turns one set of a source into another, so that only that is written.
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import { Collection } from "../snapshot/collection.ts";
import type { SourceSet } from "./received.ts";
import { ToldVersions } from "./told_versions.ts";

const EMPTY = Collection.empty(MCP_RESOURCE_TYPE_URL);
const UNTOLD = ToldVersions.of(new Map());

/** What turns one set into another. */
export interface SourceDiff {
  readonly kinds: readonly KindDiff[];
  /** About the size of the record. Bytes. */
  readonly size: number;
}

/** What turns what a set has of one kind into what another has. */
export interface KindDiff {
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
