/** Snapshots to test with. */
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { Settings } from "../../lib/model/settings.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import {
  emptySnapshot,
  makeSnapshot,
  SERVICES_ANY_TYPE,
  type Snapshot,
} from "../../lib/snapshot/snapshot.ts";
import { contentHash } from "../../lib/wire/hash.ts";

/** Settings with every key that there is. */
export const SETTINGS: Settings = {
  defaults: { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] },
  include: ["services/"],
  instance: "edge-1",
  listen: [{ address: "127.0.0.1:15010", allow: [], insecure: false }],
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
  limits: { file: 32 << 20, message: 16 << 20 },
  admin: "127.0.0.1:15014",
  log: { level: "info", format: "text" },
  unknownCollection: "empty",
};

/** A resource whose bytes say `text`, and whose version follows from them. */
export function resource(name: string, text: string): Resource {
  const bytes = new TextEncoder().encode(text);
  return { name, version: contentHash([bytes]), bytes };
}

/** A snapshot of ServiceEntries, a text by name; its services say the same. */
export function snapshotOf(
  entries: Readonly<Record<string, string>>,
  settings: Settings = SETTINGS,
): Snapshot {
  const resources = Object.entries(entries).map(([name, text]) => resource(name, text));
  const empty = emptySnapshot(settings);
  const collections = new Map(empty.collections);
  collections.set("ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources));
  const services = Collection.of(SERVICES_ANY_TYPE, resources);
  return makeSnapshot({ collections, services, settings });
}

/** A snapshot of `count` ServiceEntries `default/svc-0`…, of about `bytes` bytes each. */
export function largeSnapshot(count: number, bytes = 300): Snapshot {
  return snapshotOf(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`default/svc-${i}`, `${i}:`.padEnd(bytes, "x")]),
    ),
  );
}

/** Every resource of a snapshot as `kind name version text`, sorted: its whole content, to compare. */
export function contentOf(snapshot: Snapshot): string[] {
  const text = new TextDecoder();
  return [...snapshot.collections, ["Service", snapshot.services] as const].flatMap((
    [kind, collection],
  ) => Array.from(collection, (r) => `${kind} ${r.name} ${r.version} ${text.decode(r.bytes)}`));
}
