/** What views are made of, from services as people write them: for golden cases of every kind of client. */
import { load } from "js-yaml";
import { check } from "../../lib/config/check.ts";
import { normaliseService } from "../../lib/config/normalise.ts";
import { serviceSchema } from "../../lib/config/schema_service.ts";
import { convertService, encodeResource } from "../../lib/convert/convert.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import type { Service } from "../../lib/model/service.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import {
  emptySnapshot,
  makeSnapshot,
  SERVICES_ANY_TYPE,
  type Snapshot,
} from "../../lib/snapshot/snapshot.ts";
import { Catalogues } from "../../lib/view/catalogue.ts";
import type { Addresses, Catalogue } from "../../lib/view/served_service.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import {
  type Partially,
  type VirtualService,
  virtualServiceCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";

/** What a golden case is made of. */
export interface World {
  /** As in a configuration. */
  readonly services: readonly unknown[];
  /** Objects of other sources, by `namespace/name`. */
  readonly virtualServices?: Readonly<Record<string, Partially<VirtualService>>>;
  /** What DNS names resolve to. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
}

/** Reads a world as YAML. */
export function readWorld(text: string): World {
  return load(text) as World;
}

/** Every service of a world as clients are to see it. */
export function catalogueOf(world: World): Catalogue {
  return new Catalogues().of(snapshotOf(world));
}

/** What the names of a world resolve to. */
export function addressesOf({ addresses = {} }: World): Addresses {
  return { get: (host) => Object.hasOwn(addresses, host) ? addresses[host] : undefined };
}

function snapshotOf({ services, virtualServices = {} }: World): Snapshot {
  const own = services.map(readService);
  const found = own.flatMap((service) => {
    const { resources, findings } = convertService(service);
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) throw new Error(`${service.name}: ${JSON.stringify(errors)}`);
    return resources;
  });
  for (const [key, body] of Object.entries(virtualServices)) {
    const [namespace, name] = key.split("/") as [string, string];
    const metadata = { namespace, name, labels: {}, annotations: {} };
    const resource = encodeResource(metadata, virtualServiceCodec.pack(body));
    found.push({ kind: "VirtualService", resource });
  }
  const collections = new Map(emptySnapshot(SETTINGS).collections);
  for (const [kind, of] of Map.groupBy(found, ({ kind }) => kind)) {
    collections.set(kind, Collection.of(MCP_RESOURCE_TYPE_URL, of.map(({ resource }) => resource)));
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
