/**
 * The services of a snapshot as clients are to see them, made from the catalogue before: what did not
 * change stays the same object.
 *
 * A service of our own is as our record has it, its hosts in lower case, with the endpoints that merging gave its ServiceEntry;
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
import { Aims, foreignHosts } from "./aims.ts";
import { runThrough } from "./run_through.ts";
import type {
  Catalogue,
  Elsewhere,
  ServedService,
  Traffic,
  ViewContext,
} from "./served_service.ts";
import { serviceOfEntry, toEndpoint } from "./service_of_entry.ts";
import { TrafficRules } from "./traffic_rules.ts";
import { Workloads } from "./workloads.ts";

const ENTRIES = "ServiceEntry";

/** Services between two yields. */
const STRIDE = 20;

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
  readonly #workloads = new Workloads();
  readonly #aims = new Aims();
  /** Keys of services that select their endpoints by label. */
  readonly #selecting = new Set<string>();
  /** Keys of which something changed since the last catalogue. */
  readonly #stale = new Set<string>();
  #snapshot: Snapshot | undefined;
  #catalogue: Catalogue | undefined;

  /**
   * The catalogue of this snapshot; the same object for the same snapshot, or one that says the same.
   * Yields every few services; whoever stops in between loses nothing.
   */
  *making(snapshot: Snapshot): Generator<void, Catalogue> {
    if (this.#snapshot === snapshot) return this.#catalogue!;
    const context = contextOf(snapshot.settings, this.#catalogue?.context);
    const hosts = this.#traffic.take(snapshot.collections, context);
    for (const host of hosts) for (const key of this.#owners.get(host) ?? []) this.#stale.add(key);
    const namespaces = this.#workloads.take(snapshot.collections.get("WorkloadEntry"));
    for (const key of namespaces.size === 0 ? [] : this.#selecting) {
      if (namespaces.has(this.#known.get(key)!.service.namespace)) this.#stale.add(key);
    }
    // Wildcard hosts and wildcard rules meet in ways that an index by host does not see.
    if (hosts.some((host) => host.includes("*"))) this.#staleAll();
    let read = 0;
    // What was stopped may have read something that is as it was before by now.
    for (const key of touchedBy(snapshot, this.#snapshot).union(this.#stale)) {
      this.#update(key, snapshot);
      if (++read % STRIDE === 0) yield;
    }
    this.#spread();
    const catalogue = this.#next(context);
    this.#stale.clear();
    this.#snapshot = snapshot;
    return this.#catalogue = catalogue;
  }

  /** The catalogue of this snapshot, made without a pause. */
  of(snapshot: Snapshot): Catalogue {
    return runThrough(this.making(snapshot));
  }

  #next(context: ViewContext): Catalogue {
    const before = this.#catalogue;
    const stale = this.#stale;
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
    const granted = this.#granted(key);
    if (granted.hosts.length === 0) return undefined;
    const { namespace, workloadSelector } = granted;
    const selected = workloadSelector && this.#workloads.select(namespace, workloadSelector);
    const service = selected === undefined
      ? granted
      : { ...granted, endpoints: [...granted.endpoints, ...selected] };
    return { key, service, traffic: this.#aim(key, service) };
  }

  /** The service with those of its hosts that it keeps. */
  #granted(key: string): Service {
    const { service } = this.#known.get(key)!;
    const hosts = service.hosts.filter((host) => this.#owners.get(host)?.[0] === key);
    return hosts.length === service.hosts.length ? service : { ...service, hosts };
  }

  #aim(key: string, service: Service): Traffic {
    const traffic = this.#traffic.of(service);
    const foreign = foreignHosts(traffic, service.hosts);
    this.#aims.set(key, foreign);
    if (foreign.length === 0) return traffic;
    const elsewhere = foreign.flatMap((host): [string, Elsewhere][] => {
      const owner = this.#owners.get(host)?.[0];
      if (owner === undefined) return [];
      const other = this.#granted(owner);
      return [[host, { service: other, subsets: this.#traffic.of(other).subsets }]];
    });
    return { ...traffic, elsewhere: new Map(elsewhere) };
  }

  /** Who sends traffic to what changed has changed as well. */
  #spread(): void {
    for (const key of [...this.#stale]) {
      for (const host of this.#known.get(key)?.service.hosts ?? []) this.#staleAt(host);
    }
  }

  #staleAt(host: string): void {
    for (const key of this.#aims.at(host)) this.#stale.add(key);
  }

  #staleAll(): void {
    for (const key of this.#known.keys()) this.#stale.add(key);
  }

  #update(key: string, snapshot: Snapshot): void {
    const entry = snapshot.collections.get(ENTRIES)!.get(key);
    const foreign = snapshot.origins?.get(ENTRIES)?.get(key) !== undefined;
    const record = foreign ? undefined : snapshot.services.get(key);
    const had = this.#known.get(key);
    if (had !== undefined && had.entry === entry && had.record === record) return;
    this.#forget(key);
    const service = entry && serviceOf(entry, record);
    if (service === undefined) return;
    this.#known.set(key, { entry: entry!, record, service });
    if (service.workloadSelector !== undefined) this.#selecting.add(key);
    this.#stale.add(key);
    for (const host of new Set(service.hosts)) {
      const owners = this.#owners.get(host) ?? [];
      for (const other of owners) this.#stale.add(other);
      this.#owners.set(host, [...owners, key].sort());
    }
  }

  #forget(key: string): void {
    const had = this.#known.get(key);
    if (had === undefined) return;
    this.#known.delete(key);
    this.#selecting.delete(key);
    this.#aims.set(key, []);
    this.#stale.add(key);
    for (const host of new Set(had.service.hosts)) {
      const left = this.#owners.get(host)!.filter((owner) => owner !== key);
      if (left.length === 0) this.#owners.delete(host);
      else this.#owners.set(host, left);
      for (const other of left) this.#stale.add(other);
      this.#staleAt(host);
    }
  }
}

/** Names of services of which something may differ between two snapshots. */
function touchedBy(snapshot: Snapshot, before: Snapshot | undefined): Set<string> {
  const touched = new Set<string>();
  const add = (now: Collection | undefined, then: Collection | undefined) => {
    if (now === undefined || then === undefined) {
      for (const one of [now, then]) for (const { name } of one ?? []) touched.add(name);
      return;
    }
    const { changed, removed } = now.diff(then);
    for (const { name } of changed) touched.add(name);
    for (const name of removed) touched.add(name);
  };
  add(snapshot.collections.get(ENTRIES), before?.collections.get(ENTRIES));
  add(snapshot.services, before?.services);
  add(snapshot.origins?.get(ENTRIES), before?.origins?.get(ENTRIES));
  return touched;
}

const decoder = new TextDecoder();

/** Undefined where the bytes are no ServiceEntry that is understood here. */
function serviceOf(entry: Resource, record: Resource | undefined): Service | undefined {
  const decoded = decodeEntry(entry);
  if (decoded === undefined) return undefined;
  if (record === undefined) return serviceOfEntry(entry.name, decoded);
  // Our own store's and loader's, which check what they give.
  const service = inLowerCase(
    (JSON.parse(decoder.decode(record.bytes)) as ServiceRecord).service,
  );
  const own = new Set(service.endpoints.map(({ address }) => address));
  const merged = decoded.entry.endpoints.filter(({ address }) => !own.has(address)).map(toEndpoint);
  return merged.length === 0
    ? service
    : { ...service, endpoints: [...service.endpoints, ...merged] };
}

/**
 * The service with its hosts in lower case, as rules name them. As it was written a host stays a name of
 * the service, for gRPC programs ask for the very text that they dial; not where further hosts are
 * looked up themselves, since aliases lead where the first one does.
 */
function inLowerCase(service: Service): Service {
  const { hosts, aliases, endpoints, workloadSelector } = service;
  const small = hosts.map((host) => host.toLowerCase());
  if (small.every((host, i) => host === hosts[i])) return service;
  const alike = endpoints.length > 0 || workloadSelector !== undefined;
  const written = hosts.filter((host, i) => host !== small[i] && (i === 0 || alike));
  return {
    ...service,
    hosts: [...new Set(small)],
    aliases: [...new Set([...aliases, ...written])],
  };
}

/** The context of these settings; `before` where that says the same. */
function contextOf({ defaults, envoy }: Settings, before: ViewContext | undefined): ViewContext {
  const { namespace, domain } = defaults;
  const context = { namespace, domain, envoy };
  return canonicalJson(context) === canonicalJson(before) ? before! : context;
}
