/**
 * One ServiceEntry out of several of the same hosts: the first, with the endpoints of the others.
 *
 * @module
 */
import type { Resource } from "../model/resource.ts";
import { encodeResource } from "../convert/encode_resource.ts";
import { enumerate, suggestLabelValue } from "../convert/rules/names.ts";
import { contentHash } from "../wire/hash.ts";
import { serviceEntryCodec, type ServiceEntryPort, type WorkloadEntry } from "../wire/messages.ts";
import { decodeEntry } from "../wire/decode_entry.ts";
import { type Offer, OWN_PART } from "./offer.ts";

/** Label of a merged entry's endpoints: where each came from. */
export const SOURCE_LABEL = "pinnace-source";

/** Value of {@link SOURCE_LABEL} for endpoints of our own configuration. */
const OWN_LABEL = "local";

const LABEL_LENGTH = 63;

/** What two entries must have in common. */
interface Traits {
  readonly resolution: string;
  readonly location: string;
  readonly ports: string;
  readonly hasSelector: boolean;
  readonly hasEndpoints: boolean;
}

/** Weak: what is known of a resource goes with it. */
const known = new WeakMap<Resource, Traits>();

/** Why the endpoints of two entries with equal hosts cannot stand in one; undefined where they can. Decodes an entry once. */
export function whyNotMerged(first: Resource, other: Resource): string | undefined {
  const [a, b] = [traitsOf(first), traitsOf(other)];
  if (a === undefined || b === undefined) return "one of the two cannot be read";
  if (a.resolution !== b.resolution) {
    return `their resolutions differ (${a.resolution} and ${b.resolution})`;
  }
  if (a.location !== b.location) return `their locations differ (${a.location} and ${b.location})`;
  if (a.ports !== b.ports) return `their ports differ (${a.ports} and ${b.ports})`;
  if (a.hasSelector || b.hasSelector) {
    return "a workloadSelector finds the endpoints of one of them";
  }
  return whyNotByResolution(a, b);
}

function whyNotByResolution(a: Traits, b: Traits): string | undefined {
  const { resolution } = a;
  if (resolution === "STATIC" || resolution === "NONE") return undefined;
  // Istio takes at most one endpoint there.
  if (resolution === "DNS_ROUND_ROBIN") return "DNS_ROUND_ROBIN allows one endpoint only";
  if (a.hasEndpoints && b.hasEndpoints) return undefined;
  return "one of them has no endpoints: its hosts are looked up";
}

function traitsOf(resource: Resource): Traits | undefined {
  let traits = known.get(resource);
  const entry = traits === undefined ? decodeEntry(resource)?.entry : undefined;
  if (entry !== undefined) {
    const { resolution, location, ports, workloadSelector, endpoints } = entry;
    traits = {
      resolution: `${resolution}`,
      location: `${location}`,
      ports: portsText(ports),
      hasSelector: workloadSelector !== undefined,
      hasEndpoints: endpoints.length > 0,
    };
    known.set(resource, traits);
  }
  return traits;
}

function portsText(ports: readonly ServiceEntryPort[]): string {
  const texts = ports.map(({ number, protocol, name }) =>
    `${number}/${protocol.toUpperCase()} ${name}`
  );
  return texts.length === 0 ? "none" : enumerate(texts.sort());
}

/**
 * The first entry with the endpoints of the others, in their order; of two endpoints with equal address
 * and ports the earlier stays. Each says by {@link SOURCE_LABEL} where it came from, unless it has such
 * a label. For entries of which {@link whyNotMerged} says nothing.
 */
export function mergeEndpoints(first: Offer, others: readonly Offer[]): Resource {
  const { name } = first.resource;
  const base = decodeEntry(first.resource);
  if (base === undefined) throw new TypeError(`${name} cannot be read, so not merged`);
  const endpoints = new Map<string, WorkloadEntry>();
  for (const { part, resource } of [first, ...others]) {
    const entry = decodeEntry(resource)?.entry;
    if (entry === undefined) throw new TypeError(`${resource.name} cannot be read, so not merged`);
    for (const endpoint of entry.endpoints) {
      const moved = withTargets(endpoint, entry.ports, base.entry.ports);
      const key = JSON.stringify([moved.address, Object.entries(moved.ports).sort()]);
      if (!endpoints.has(key)) endpoints.set(key, withSource(moved, part.name));
    }
  }
  const { labels, annotations, createTime } = base;
  const [namespace, bare] = name.split("/") as [string, string];
  const entry = { ...base.entry, endpoints: [...endpoints.values()] };
  const metadata = { namespace, name: bare, labels, annotations };
  return encodeResource(metadata, serviceEntryCodec.pack(entry), createTime);
}

/** Where the ports of the endpoint's own entry lead elsewhere than those of the first, it says so itself. */
function withTargets(
  endpoint: WorkloadEntry,
  own: readonly ServiceEntryPort[],
  first: readonly ServiceEntryPort[],
): WorkloadEntry {
  if (own === first || endpoint.address.startsWith("unix://")) return endpoint; // has no ports
  const target = ({ number, targetPort }: ServiceEntryPort) => targetPort || number;
  const others = new Map(first.map((port) => [port.name, target(port)]));
  const moved = own.filter((port) =>
    endpoint.ports[port.name] === undefined && others.get(port.name) !== target(port)
  );
  if (moved.length === 0) return endpoint;
  const ports = Object.fromEntries(moved.map((port) => [port.name, target(port)]));
  return { ...endpoint, ports: { ...ports, ...endpoint.ports } };
}

function withSource(endpoint: WorkloadEntry, source: string): WorkloadEntry {
  if (SOURCE_LABEL in endpoint.labels) return endpoint;
  return { ...endpoint, labels: { ...endpoint.labels, [SOURCE_LABEL]: sourceLabel(source) } };
}

/** A source's name as the value of a label; a name that does not fit ends in its hash. */
export function sourceLabel(source: string): string {
  if (source === OWN_PART) return OWN_LABEL;
  const value = suggestLabelValue(source);
  if (value !== undefined && source.length <= LABEL_LENGTH) return value;
  const hash = contentHash([source]).slice(0, 8);
  const start = value?.slice(0, LABEL_LENGTH - hash.length - 1);
  return start === undefined ? hash : `${start}-${hash}`;
}
