/**
 * How traffic to each host is directed, read from the VirtualServices and DestinationRules of a
 * snapshot, our own and those of other sources.
 *
 * Of several VirtualServices for one host the first by name counts; subsets of several
 * DestinationRules for one host are put together, of two with one name the first counts.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";
import type { Collection } from "../snapshot/collection.ts";
import {
  type DestinationRule,
  destinationRuleCodec,
  mcpResourceCodec,
  type MessageCodec,
  type VirtualService,
  virtualServiceCodec,
} from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import type { Traffic, ViewContext } from "./served_service.ts";
import { routesOf, type VirtualRoutes } from "./virtual_routes.ts";

/** Traffic that is not directed in any way. */
export const PLAIN_TRAFFIC: Traffic = { subsets: new Map(), http: [], streams: [], unserved: [] };

/** An object that says something of hosts. */
interface Ruling<Content> {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly content: Content;
}

type Subsets = DestinationRule["subsets"];

/** Knows the rules of the snapshot taken last. */
export class TrafficRules {
  readonly #routes = new Rulings<VirtualRoutes>(({ name, bytes }, context) => {
    const object = read(virtualServiceCodec, bytes);
    if (object === undefined || !isForMesh(object)) return undefined;
    const hosts = object.hosts.map((host) => fullHost(host, name, context));
    return { name, hosts, content: routesOf(object, (host) => fullHost(host, name, context)) };
  });
  readonly #subsets = new Rulings<Subsets>(({ name, bytes }, context) => {
    const object = read(destinationRuleCodec, bytes);
    if (object === undefined) return undefined;
    return { name, hosts: [fullHost(object.host, name, context)], content: object.subsets };
  });

  /** Takes the rules of these collections; gives the hosts of which the rules changed. */
  take(collections: ReadonlyMap<string, Collection>, context: ViewContext): string[] {
    return [
      ...this.#routes.take(collections.get("VirtualService"), context),
      ...this.#subsets.take(collections.get("DestinationRule"), context),
    ];
  }

  /** How traffic to this service is directed. */
  of({ hosts }: Service): Traffic {
    const [routes] = this.#routes.of(hosts);
    const subsets = new Map<string, Readonly<Record<string, string>>>();
    for (const { content } of this.#subsets.of(hosts)) {
      for (const { name, labels } of content) if (!subsets.has(name)) subsets.set(name, labels);
    }
    if (routes === undefined && subsets.size === 0) return PLAIN_TRAFFIC;
    const sorted = new Map([...subsets].sort(([a], [b]) => (a < b ? -1 : 1)));
    const { http, streams, unserved } = routes?.content ?? PLAIN_TRAFFIC;
    const named = unserved.map((what) => `${what} (VirtualService ${routes?.name})`);
    return { subsets: sorted, http, streams, unserved: named };
  }
}

/** The objects of one kind, by the hosts that they are of. */
class Rulings<Content> {
  readonly #parse: (resource: Resource, context: ViewContext) => Ruling<Content> | undefined;
  readonly #byName = new Map<string, Ruling<Content>>();
  /** Sorted by name. */
  readonly #byHost = new Map<string, Ruling<Content>[]>();
  #taken: Collection | undefined;
  #context: ViewContext | undefined;

  constructor(parse: (resource: Resource, context: ViewContext) => Ruling<Content> | undefined) {
    this.#parse = parse;
  }

  take(collection: Collection | undefined, context: ViewContext): string[] {
    if (collection === undefined) return [];
    if (collection === this.#taken && context === this.#context) return [];
    const hosts = new Set<string>();
    const fresh = this.#taken === undefined || context !== this.#context;
    if (fresh) { for (const name of [...this.#byName.keys()]) this.#remove(name, hosts); }
    const { changed, removed } = fresh
      ? { changed: [...collection], removed: [] }
      : collection.diff(this.#taken!);
    for (const name of removed) this.#remove(name, hosts);
    for (const resource of changed) {
      this.#remove(resource.name, hosts);
      const ruling = this.#parse(resource, context);
      if (ruling !== undefined) this.#add(ruling, hosts);
    }
    this.#taken = collection;
    this.#context = context;
    return [...hosts];
  }

  /** The objects for any of these hosts, those that name one before those with a wildcard, each once. */
  of(hosts: readonly string[]): readonly Ruling<Content>[] {
    if (this.#byHost.size === 0) return [];
    const found = new Set<Ruling<Content>>();
    for (const host of hosts) for (const one of this.#byHost.get(host) ?? []) found.add(one);
    for (const host of hosts) {
      for (const wildcard of wildcardsOf(host)) {
        for (const one of this.#byHost.get(wildcard) ?? []) found.add(one);
      }
    }
    return [...found];
  }

  #add(ruling: Ruling<Content>, touched: Set<string>): void {
    this.#byName.set(ruling.name, ruling);
    for (const host of new Set(ruling.hosts)) {
      const others = this.#byHost.get(host) ?? [];
      const sorted = [...others, ruling].sort((a, b) => (a.name < b.name ? -1 : 1));
      this.#byHost.set(host, sorted);
      touched.add(host);
    }
  }

  #remove(name: string, touched: Set<string>): void {
    const ruling = this.#byName.get(name);
    if (ruling === undefined) return;
    this.#byName.delete(name);
    for (const host of new Set(ruling.hosts)) {
      const left = this.#byHost.get(host)!.filter((one) => one !== ruling);
      if (left.length === 0) this.#byHost.delete(host);
      else this.#byHost.set(host, left);
      touched.add(host);
    }
  }
}

/** Wildcards that the host falls under, the longest first; `*` alone last. */
function wildcardsOf(host: string): string[] {
  const wildcards: string[] = [];
  for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
    const wildcard = `*${host.slice(dot)}`;
    if (wildcard !== host) wildcards.push(wildcard);
  }
  return [...wildcards, "*"];
}

/** A VirtualService that names only gateways is for those. */
function isForMesh({ gateways }: VirtualService): boolean {
  return gateways.length === 0 || gateways.includes("mesh");
}

/** A host without a dot is a service of the object's own namespace. */
function fullHost(host: string, objectName: string, { domain }: ViewContext): string {
  const small = host.toLowerCase();
  if (small.includes(".") || small === "*") return small;
  return `${small}.${objectName.slice(0, objectName.indexOf("/"))}.${domain}`;
}

/** Undefined where the bytes are no such object. */
function read<T>(codec: MessageCodec<T>, bytes: Uint8Array): T | undefined {
  try {
    const { body } = mcpResourceCodec.decode(bytes);
    return body && codec.decode(body.value);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return undefined;
  }
}
