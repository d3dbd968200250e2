/** Views of gRPC clients for tests: from services as people write them to decoded messages. */
import { load } from "js-yaml";
import { check } from "../../../lib/config/check.ts";
import { normaliseService } from "../../../lib/config/normalise.ts";
import { serviceSchema } from "../../../lib/config/schema_service.ts";
import { convertService, encodeResource } from "../../../lib/convert/convert.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../../lib/model/kind.ts";
import type { Resource } from "../../../lib/model/resource.ts";
import type { Service } from "../../../lib/model/service.ts";
import { Collection } from "../../../lib/snapshot/collection.ts";
import {
  emptySnapshot,
  makeSnapshot,
  SERVICES_ANY_TYPE,
  type Snapshot,
} from "../../../lib/snapshot/snapshot.ts";
import { Catalogues } from "../../../lib/view/catalogue.ts";
import { grpcRecipe } from "../../../lib/view/grpc/recipe.ts";
import type { ViewFinding } from "../../../lib/view/recipe.ts";
import type { Addresses, Catalogue, ServedService } from "../../../lib/view/served_service.ts";
import { makerOf, type XdsView } from "../../../lib/view/view_maker.ts";
import {
  type Cluster,
  clusterCodec,
  type ClusterLoadAssignment,
  clusterLoadAssignmentCodec,
  type HttpConnectionManager,
  httpConnectionManagerCodec,
  listenerCodec,
  type MessageCodec,
  type Partially,
  type RouteConfiguration,
  routeConfigurationCodec,
  type VirtualService,
  virtualServiceCodec,
} from "../../../lib/wire/messages.ts";
import { contentHash } from "../../../lib/wire/hash.ts";
import { SETTINGS } from "../../snapshot/snapshots.ts";
import { CONTEXT } from "../services.ts";

/** What a golden case is made of. */
export interface GrpcWorld {
  /** As in a configuration. */
  readonly services: readonly unknown[];
  /** Objects of other sources, by `namespace/name`. */
  readonly virtualServices?: Readonly<Record<string, Partially<VirtualService>>>;
  /** What DNS names resolve to. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
}

/** A view, decoded. */
export interface GrpcView {
  /** By name; the HttpConnectionManager of each. */
  readonly listeners: Readonly<Record<string, HttpConnectionManager>>;
  readonly routes: Readonly<Record<string, RouteConfiguration>>;
  readonly clusters: Readonly<Record<string, Cluster>>;
  readonly endpoints: Readonly<Record<string, ClusterLoadAssignment>>;
  readonly lookUps: readonly string[];
  readonly findings: readonly ViewFinding[];
}

/** Reads a world as YAML. */
export function readWorld(text: string): GrpcWorld {
  return load(text) as GrpcWorld;
}

/** The view of a world that gRPC clients get. */
export function viewOfWorld(world: GrpcWorld): GrpcView {
  return decodeView(xdsViewOfWorld(world));
}

/** The same as it is served. */
export function xdsViewOfWorld(world: GrpcWorld): XdsView {
  const catalogue = new Catalogues().of(snapshotOf(world));
  return makerOf(grpcRecipe).make(catalogue, addressesOf(world.addresses ?? {}));
}

/** The view of these services. */
export function viewOfServices(
  services: readonly ServedService[],
  addresses: Readonly<Record<string, readonly string[]>> = {},
): GrpcView {
  const sorted = services.map((served) => [served.key, served] as const).toSorted(byKey);
  const catalogue: Catalogue = { services: new Map(sorted), context: CONTEXT };
  return decodeView(makerOf(grpcRecipe).make(catalogue, addressesOf(addresses)));
}

/** Decodes every resource of a view; each must have the name under which it is served. */
export function decodeView({ collections, lookUps, findings }: XdsView): GrpcView {
  const listeners = decodeAll(collections.get("Listener")!, listenerCodec, ({ name }) => name);
  return {
    listeners: Object.fromEntries(
      Object.entries(listeners).map(([name, { apiListener }]) => [
        name,
        httpConnectionManagerCodec.decode(apiListener!.apiListener!.value),
      ]),
    ),
    routes: decodeAll(
      collections.get("RouteConfiguration")!,
      routeConfigurationCodec,
      ({ name }) => name,
    ),
    clusters: decodeAll(collections.get("Cluster")!, clusterCodec, ({ name }) => name),
    endpoints: decodeAll(
      collections.get("ClusterLoadAssignment")!,
      clusterLoadAssignmentCodec,
      ({ clusterName }) => clusterName,
    ),
    lookUps: [...lookUps].sort(),
    findings,
  };
}

function decodeAll<T>(
  collection: Collection,
  codec: MessageCodec<T>,
  nameOf: (message: T) => string,
): Record<string, T> {
  return Object.fromEntries(Array.from(collection, ({ name, bytes }) => {
    const message = codec.decode(bytes);
    if (nameOf(message) !== name) throw new Error(`${name} holds ${nameOf(message)}`);
    return [name, message];
  }));
}

function addressesOf(known: Readonly<Record<string, readonly string[]>>): Addresses {
  return { get: (host) => Object.hasOwn(known, host) ? known[host] : undefined };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function snapshotOf({ services, virtualServices = {} }: GrpcWorld): Snapshot {
  const own = services.map(readService);
  const byKind = new Map<string, Resource[]>();
  for (const service of own) {
    const { resources, findings } = convertService(service);
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) throw new Error(`${service.name}: ${JSON.stringify(errors)}`);
    for (const { kind, resource } of resources) {
      byKind.set(kind, [...byKind.get(kind) ?? [], resource]);
    }
  }
  for (const [key, body] of Object.entries(virtualServices)) {
    const [namespace, name] = key.split("/") as [string, string];
    const metadata = { namespace, name, labels: {}, annotations: {} };
    const resource = encodeResource(metadata, virtualServiceCodec.pack(body));
    byKind.set("VirtualService", [...byKind.get("VirtualService") ?? [], resource]);
  }
  const empty = emptySnapshot(SETTINGS);
  const collections = new Map(empty.collections);
  for (const [kind, resources] of byKind) {
    collections.set(kind, Collection.of(MCP_RESOURCE_TYPE_URL, resources));
  }
  const records = Collection.of(SERVICES_ANY_TYPE, own.map(recordOf));
  return makeSnapshot({ collections, services: records, settings: SETTINGS });
}

function readService(raw: unknown): Service {
  const checked = check(serviceSchema, raw);
  if (!checked.ok) throw new Error(`no configuration: ${JSON.stringify(checked)}`);
  return normaliseService(checked.value, SETTINGS.defaults).service;
}

function recordOf(service: Service): Resource {
  const bytes = new TextEncoder().encode(JSON.stringify({ file: "pinnace.yaml", service }));
  return { name: `${service.namespace}/${service.name}`, version: contentHash([bytes]), bytes };
}
