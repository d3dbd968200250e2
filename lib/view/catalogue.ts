/**
 * The services of a snapshot as clients are to see them, made from the catalogue before: what did not
 * change stays the same object.
 *
 * A service of our own is as our record has it, with the endpoints that merging gave its ServiceEntry;
 * one of another source is what its ServiceEntry says. Of equal hosts, the first service by key keeps
 * them.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import type { Service, ServiceRecord } from "../model/service.ts";
import type { Settings } from "../model/settings.ts";
import type { Collection } from "../snapshot/collection.ts";
import { canonicalJson, type Snapshot } from "../snapshot/snapshot.ts";
import { decodeEntry } from "../wire/decode_entry.ts";
import type { Catalogue, ServedService, ViewContext } from "./served_service.ts";
import { serviceOfEntry, toEndpoint } from "./service_of_entry.ts";
import { TrafficRules } from "./traffic_rules.ts";

const ENTRIES = "ServiceEntry";

/** A service and what it was read from. */
interface Known {
  readonly entry: Resource;
  readonly record: Resource | undefined;
  readonly service: Service;
}

/** Makes one catalogue after another, of snapshots that follow each other. */
export class Catalogues {
  readonly #known = new Map<string, Known>();
  /** Whose a host is: all that have it, sorted; the first keeps it. */
  readonly #owners = new Map<string, string[]>();
  readonly #traffic = new TrafficRules();
  #snapshot: Snapshot | undefined;
  #catalogue: Catalogue | undefined;

  /** The catalogue of this snapshot; the same object for the same snapshot, or one that says the same. */
  of(snapshot: Snapshot): Catalogue {
    if (this.#snapshot === snapshot) return this.#catalogue!;
    const context = contextOf(snapshot.settings, this.#catalogue?.context);
    const sameContext = context === this.#catalogue?.context;
    const hosts = this.#traffic.take(snapshot.collections, context);
    const stale = sameContext ? this.#read(snapshot) : this.#readAll(snapshot);
    for (const host of hosts) for (const key of this.#owners.get(host) ?? []) stale.add(key);
    // Wildcard hosts and wildcard rules meet in ways that an index by host does not see.
    if (hosts.some((host) => host.includes("*"))) {
      for (const key of this.#known.keys()) stale.add(key);
    }
    this.#snapshot = snapshot;
    return this.#catalogue = this.#next(stale, context);
  }

  #next(stale: ReadonlySet<string>, context: ViewContext): Catalogue {
    const before = this.#catalogue;
    if (before !== undefined && stale.size === 0 && before.context === context) return before;
    const made: [string, ServedService][] = [];
    for (const key of [...this.#known.keys()].sort()) {
      const had = stale.has(key) ? undefined : before?.services.get(key);
      const served = had ?? this.#serve(key);
      if (served !== undefined) made.push([key, served]);
    }
    return { services: new Map(made), context };
  }

  /** Undefined where all its hosts are others'. */
  #serve(key: string): ServedService | undefined {
    const { service } = this.#known.get(key)!;
    const hosts = service.hosts.filter((host) => this.#owners.get(host)?.[0] === key);
    if (hosts.length === 0) return undefined;
    const own = hosts.length === service.hosts.length ? service : { ...service, hosts };
    return { key, service: own, traffic: this.#traffic.of(own) };
  }

  #readAll(snapshot: Snapshot): Set<string> {
    const stale = new Set(this.#known.keys());
    for (const key of stale) this.#forget(key, stale);
    for (const { name } of snapshot.collections.get(ENTRIES)!) this.#update(name, snapshot, stale);
    return stale;
  }

  /** Reads what differs from the last snapshot; gives the keys of which something changed. */
  #read(snapshot: Snapshot): Set<string> {
    const before = this.#snapshot;
    if (before === undefined) return this.#readAll(snapshot);
    const touched = new Set<string>();
    const compare = (now: Collection, then: Collection) => {
      const { changed, removed } = now.diff(then);
      for (const { name } of changed) touched.add(name);
      for (const name of removed) touched.add(name);
    };
    compare(snapshot.collections.get(ENTRIES)!, before.collections.get(ENTRIES)!);
    compare(snapshot.services, before.services);
    const origins = [snapshot.origins?.get(ENTRIES), before.origins?.get(ENTRIES)] as const;
    if (origins[0] !== undefined && origins[1] !== undefined) compare(origins[0], origins[1]);
    else for (const one of origins) for (const { name } of one ?? []) touched.add(name);
    const stale = new Set<string>();
    for (const key of touched) this.#update(key, snapshot, stale);
    return stale;
  }

  #update(key: string, snapshot: Snapshot, stale: Set<string>): void {
    const entry = snapshot.collections.get(ENTRIES)!.get(key);
    const foreign = snapshot.origins?.get(ENTRIES)?.get(key) !== undefined;
    const record = foreign ? undefined : snapshot.services.get(key);
    const had = this.#known.get(key);
    if (had !== undefined && had.entry === entry && had.record === record) return;
    this.#forget(key, stale);
    const service = entry && serviceOf(entry, record);
    if (service === undefined) return;
    this.#known.set(key, { entry: entry!, record, service });
    stale.add(key);
    for (const host of new Set(service.hosts)) {
      const owners = this.#owners.get(host) ?? [];
      for (const other of owners) stale.add(other);
      this.#owners.set(host, [...owners, key].sort());
    }
  }

  #forget(key: string, stale: Set<string>): void {
    const had = this.#known.get(key);
    if (had === undefined) return;
    this.#known.delete(key);
    stale.add(key);
    for (const host of new Set(had.service.hosts)) {
      const left = this.#owners.get(host)!.filter((owner) => owner !== key);
      if (left.length === 0) this.#owners.delete(host);
      else this.#owners.set(host, left);
      for (const other of left) stale.add(other);
    }
  }
}

const decoder = new TextDecoder();

/** Undefined where the bytes are no ServiceEntry that is understood here. */
function serviceOf(entry: Resource, record: Resource | undefined): Service | undefined {
  const decoded = decodeEntry(entry);
  if (decoded === undefined) return undefined;
  if (record === undefined) return serviceOfEntry(entry.name, decoded);
  // Our own store's and loader's, which check what they give.
  const { service } = JSON.parse(decoder.decode(record.bytes)) as ServiceRecord;
  const own = new Set(service.endpoints.map(({ address }) => address));
  const merged = decoded.entry.endpoints.filter(({ address }) => !own.has(address)).map(toEndpoint);
  return merged.length === 0
    ? service
    : { ...service, endpoints: [...service.endpoints, ...merged] };
}

/** The context of these settings; `before` where that says the same. */
function contextOf({ defaults, envoy }: Settings, before: ViewContext | undefined): ViewContext {
  const { namespace, domain } = defaults;
  const context = { namespace, domain, envoy };
  return canonicalJson(context) === canonicalJson(before) ? before! : context;
}
