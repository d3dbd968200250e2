/**
 * Objects that say something of hosts (VirtualServices, DestinationRules), and which of them count for a
 * service.
 *
 * Clients that are served directly have no namespace of their own, so it is the service's that counts: an
 * object is for a service of its own namespace, and for those of namespaces that it is exported to.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Service } from "../model/service.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { ViewContext } from "./served_service.ts";

/** An object that says something of hosts. */
export interface Ruling<Content> {
  /** `namespace/name`. */
  readonly name: string;
  /** Complete; may have wildcards. */
  readonly hosts: readonly string[];
  /** As written: namespaces, `.`, `*`, `~`; empty: all. */
  readonly exportTo: readonly string[];
  readonly content: Content;
}

/** The namespace of an object, by its name. */
export function namespaceOf(objectName: string): string {
  return objectName.slice(0, Math.max(0, objectName.indexOf("/")));
}

/** The objects of one kind, by the hosts that they are of. */
export class Rulings<Content> {
  readonly #parse: (resource: Resource, context: ViewContext) => Ruling<Content> | undefined;
  readonly #byName = new Map<string, Ruling<Content>>();
  /** Of each host, sorted by name. */
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

  /**
   * The objects for this service, each once. First those of its own namespace, then those of others
   * that are exported to it; of either, those that name one of its hosts before those with a wildcard,
   * and of these the ones for more of the host first; else by name.
   */
  of({ hosts, namespace }: Pick<Service, "hosts" | "namespace">): readonly Ruling<Content>[] {
    if (this.#byHost.size === 0) return [];
    const found = new Set<Ruling<Content>>();
    const add = (host: string) => {
      for (const one of this.#byHost.get(host) ?? []) if (counts(one, namespace)) found.add(one);
    };
    for (const host of hosts) add(host);
    for (const host of hosts) for (const wildcard of wildcardsOf(host)) add(wildcard);
    const isOwn = ({ name }: Ruling<Content>) => namespaceOf(name) === namespace;
    return [...[...found].filter(isOwn), ...[...found].filter((one) => !isOwn(one))];
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

/** Whether the object is for services of this namespace. Its own always, unless it is for nobody: what is exported to others alone is of that service all the same. */
function counts({ name, exportTo }: Ruling<unknown>, namespace: string): boolean {
  if (exportTo.length === 0) return true;
  if (namespaceOf(name) === namespace) return exportTo.some((to) => to !== "~");
  return exportTo.some((to) => to === "*" || to === namespace);
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
