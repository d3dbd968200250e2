/**
 * WorkloadEntries of a snapshot, for services that select their endpoints by label.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Endpoint } from "../model/service.ts";
import type { Collection } from "../snapshot/collection.ts";
import { mcpResourceCodec, workloadEntryCodec } from "../wire/messages.ts";
import { WireError } from "../wire/wire_error.ts";
import { toEndpoint } from "./service_of_entry.ts";

/** The WorkloadEntries of the snapshot taken last. */
export class Workloads {
  /** By namespace, then by name. */
  readonly #byNamespace = new Map<string, Map<string, Endpoint>>();
  #taken: Collection | undefined;

  /** Takes the WorkloadEntries there are; gives the namespaces in which any changed. */
  take(collection: Collection | undefined): ReadonlySet<string> {
    const touched = new Set<string>();
    if (collection === undefined || collection === this.#taken) return touched;
    const { changed, removed } = this.#taken === undefined
      ? { changed: collection, removed: [] }
      : collection.diff(this.#taken);
    for (const name of removed) this.#set(name, undefined, touched);
    for (const resource of changed) this.#set(resource.name, endpointOf(resource), touched);
    this.#taken = collection;
    return touched;
  }

  /** The endpoints of this namespace that have all these labels, by name. None without labels, as in Istio. */
  select(namespace: string, labels: Readonly<Record<string, string>>): Endpoint[] {
    const wanted = Object.entries(labels);
    if (wanted.length === 0) return [];
    const all = [...this.#byNamespace.get(namespace) ?? []].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([, endpoint]) => endpoint).filter((endpoint) =>
      wanted.every(([key, value]) =>
        Object.hasOwn(endpoint.labels, key) && endpoint.labels[key] === value
      )
    );
  }

  #set(name: string, endpoint: Endpoint | undefined, touched: Set<string>): void {
    const namespace = name.slice(0, name.indexOf("/"));
    const here = this.#byNamespace.get(namespace) ?? new Map<string, Endpoint>();
    if (endpoint === undefined) here.delete(name);
    else here.set(name, endpoint);
    if (here.size === 0) this.#byNamespace.delete(namespace);
    else this.#byNamespace.set(namespace, here);
    touched.add(namespace);
  }
}

/** Undefined where the bytes are no WorkloadEntry. */
function endpointOf({ bytes }: Resource): Endpoint | undefined {
  try {
    const { metadata, body } = mcpResourceCodec.decode(bytes);
    if (body === undefined) return undefined;
    const endpoint = toEndpoint(workloadEntryCodec.decode(body.value));
    // Labels of the object itself count where the entry has none of that name, as in Istio.
    return { ...endpoint, labels: { ...metadata?.labels, ...endpoint.labels } };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return undefined;
  }
}
