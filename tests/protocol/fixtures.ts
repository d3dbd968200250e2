/**
 * Snapshots and resolvers for tests of the state machines.
 */
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { Settings } from "../../lib/model/settings.ts";
import type { Resolver, ServedType } from "../../lib/protocol/resolve.ts";
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

/** A snapshot with these contents by kind; it shares with `before` what is equal. */
export function snapshotOf(
  contents: Readonly<Record<string, Contents>>,
  before: Snapshot = emptySnapshot(SETTINGS),
): Snapshot {
  const collections = new Map(before.collections);
  for (const [kind, wanted] of Object.entries(contents)) {
    const old = collections.get(kind) ?? Collection.empty(MCP_RESOURCE_TYPE_URL);
    const gone = [...old].map((r) => r.name).filter((name) => !Object.hasOwn(wanted, name));
    collections.set(kind, old.patch(collectionOf(wanted), gone));
  }
  return { ...before, collections };
}

/** Envoy's types by their usual abbreviations. */
export const ENVOY_TYPES: ReadonlyMap<string, string> = new Map([
  ["CDS", "type.googleapis.com/envoy.config.cluster.v3.Cluster"],
  ["EDS", "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"],
  ["LDS", "type.googleapis.com/envoy.config.listener.v3.Listener"],
  ["RDS", "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"],
]);

/** Serves `CDS`, `EDS`, `LDS` and `RDS` of a snapshot by the rules of xDS. */
export function envoyResolver(): Resolver {
  const types = new Map<string, ServedType>();
  [...ENVOY_TYPES].forEach(([short, url], priority) => {
    const nothing = Collection.empty(url);
    const complete = short === "CDS" || short === "LDS";
    types.set(url, {
      collection: (snapshot) => snapshot.collections.get(short) ?? nothing,
      nothing,
      wildcard: complete,
      complete,
      priority,
      ...(short === "CDS" ? { renews: ENVOY_TYPES.get("EDS")! } : {}),
    });
  });
  return {
    resolve(type) {
      const served = types.get(type);
      return served === undefined
        ? { kind: "unsupported", message: `${type} is not served` }
        : { kind: "served", type: served };
    },
  };
}

/** Kind names in the order of the table. */
export const KIND_NAMES: readonly string[] = KINDS.map(({ kind }) => kind);
