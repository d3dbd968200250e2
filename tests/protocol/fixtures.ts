/**
 * Snapshots and resolvers for tests of the state machines.
 */
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { ClientKind, Settings } from "../../lib/model/settings.ts";
import { XDS_TYPES } from "../../lib/model/xds_type.ts";
import type { Resolver } from "../../lib/protocol/resolve.ts";
import { type DubboAnswers, xdsResolvers } from "../../lib/protocol/xds_resolver.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { emptySnapshot, type Snapshot } from "../../lib/snapshot/snapshot.ts";

/** Names and their versions. */
export type Contents = Readonly<Record<string, string>>;

const SETTINGS: Settings = {
  defaults: { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] },
  include: [],
  instance: "test",
  listen: [],
  peers: [],
  sinks: [],
  pull: [],
  push: { quiet: 100, max: 1000, guard: 0.5 },
  envoy: {
    bind: "127.0.0.1",
    portOffset: 0,
    trustedCa: "/etc/ssl/certs/ca-certificates.crt",
  },
  watch: { poll: 5000 },
  limits: { file: 1, message: 1 },
  log: { level: "info", format: "text" },
  unknownCollection: "empty",
};

const encoder = new TextEncoder();

/** A resource whose content is its name and version. */
export function resourceOf(name: string, version: string): Resource {
  return { name, version, bytes: encoder.encode(`${name}@${version}`) };
}

/** A collection of these contents. */
export function collectionOf(contents: Contents): Collection {
  return Collection.of(
    MCP_RESOURCE_TYPE_URL,
    Object.entries(contents).map(([name, version]) => resourceOf(name, version)),
  );
}

/**
 * A snapshot with these contents by kind; it shares with `before` what is equal. Where an xDS type is
 * named (`CDS`, …) it is a client view, which has all of them.
 */
export function snapshotOf(
  contents: Readonly<Record<string, Contents>>,
  before: Snapshot = emptySnapshot(SETTINGS),
): Snapshot {
  const collections = new Map(before.collections);
  const isView = XDS_TYPES.some(({ shortName }) => Object.hasOwn(contents, shortName));
  for (const { name, typeUrl } of isView ? XDS_TYPES : []) {
    if (!collections.has(name)) collections.set(name, Collection.empty(typeUrl));
  }
  for (const [kind, wanted] of Object.entries(contents)) {
    const key = XDS_TYPES.find(({ shortName }) => shortName === kind)?.name ?? kind;
    const old = collections.get(key) ?? Collection.empty(MCP_RESOURCE_TYPE_URL);
    const gone = [...old].map((r) => r.name).filter((name) => !Object.hasOwn(wanted, name));
    collections.set(key, old.patch(collectionOf(wanted), gone));
  }
  return { ...before, collections };
}

/** xDS types by their usual abbreviations: `CDS`, `EDS`, `LDS`, `RDS`. */
export const ENVOY_TYPES: ReadonlyMap<string, string> = new Map(
  XDS_TYPES.map(({ shortName, typeUrl }) => [shortName, typeUrl]),
);

/** Answers for Dubbo that show what they are by their version: `empty`, or `1#2` for the second variant of version 1. */
export const DUBBO_ANSWERS: DubboAnswers = {
  empty: (_type, name) => resourceOf(name, "empty"),
  variant: ({ name, version }, opening) => resourceOf(name, `${version}#${opening}`),
};

/** What type URLs stand for to clients of this kind. */
export function xdsResolverOf(kind: ClientKind): Resolver {
  return xdsResolvers(DUBBO_ANSWERS)(() => kind);
}

/** Kind names in the order of the table. */
export const KIND_NAMES: readonly string[] = KINDS.map(({ kind }) => kind);
