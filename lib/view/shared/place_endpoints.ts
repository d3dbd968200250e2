/**
 * The endpoints of one port as xDS wants them: in groups by locality and priority, weighed, with those
 * that drain marked.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Endpoint, Service, ServicePort } from "../../model/service.ts";
import { formatHostPort } from "../../model/host_port.ts";
import type { Locality } from "../../wire/messages.ts";

/** Where an endpoint is reached. */
export type Place =
  | { readonly kind: "socket"; readonly address: string; readonly port: number }
  /** A Unix domain socket; `@` before its name: an abstract one. */
  | { readonly kind: "pipe"; readonly path: string };

/** One endpoint. */
export interface PlacedEndpoint {
  readonly place: Place;
  /** 1 or more. */
  readonly weight: number;
  /** It is to get nothing new. */
  readonly draining: boolean;
}

/** Endpoints of one locality and priority; at least one. */
export interface EndpointGroup {
  readonly locality: Locality;
  /** 0 is the preferred; without gaps. */
  readonly priority: number;
  /** Sum of the endpoints' weights; all groups together stay below 2^32. */
  readonly weight: number;
  readonly endpoints: readonly PlacedEndpoint[];
}

/** Endpoints, placed. */
export interface Placement {
  /** In the order of priorities, then localities. */
  readonly groups: readonly EndpointGroup[];
  /** Addresses that were given more than once, `host:port`; of each the first counts. */
  readonly repeated: readonly string[];
  /** Endpoints drain, but so many that they are used all the same: none, or fewer than `minHealthy` of the service, would be left. */
  readonly drainIgnored: boolean;
}

/** Sums of weights, at most: those of a locality and those of all localities are 32 bits wide. */
const MAX_WEIGHT = 2 ** 32 - 1;

/** The endpoints of this port, of all of the service's or of those given. */
export function placeEndpoints(
  service: Service,
  port: ServicePort,
  endpoints: readonly Endpoint[] = service.endpoints,
): Placement {
  const repeated: string[] = [];
  const seen = new Set<string>();
  const listed: { readonly endpoint: Endpoint; readonly place: Place }[] = [];
  for (const endpoint of endpoints) {
    const place = placeOf(endpoint, port);
    if (place === undefined) continue;
    const text = placeText(place);
    if (seen.has(text)) repeated.push(text);
    else listed.push({ endpoint, place });
    seen.add(text);
  }
  const draining = listed.filter(({ endpoint }) => endpoint.drain === true).length;
  const healthy = listed.length === 0 ? 1 : (listed.length - draining) / listed.length;
  // As for Istio: draining takes nobody's last endpoint away.
  const drainIgnored = draining > 0 && (healthy === 0 || healthy < (service.minHealthy ?? 0));
  const weigh = weigher(listed.map(({ endpoint }) => endpoint.weight ?? 1));
  const groups = new Groups(service.failover ?? []);
  for (const { endpoint, place } of listed) {
    groups.add(endpoint.locality, {
      place,
      weight: weigh(endpoint.weight ?? 1),
      draining: endpoint.drain === true && !drainIgnored,
    });
  }
  return { groups: groups.sorted(), repeated: [...new Set(repeated)], drainIgnored };
}

/** Undefined where the endpoint names ports, and not this one. */
function placeOf({ address, ports }: Endpoint, port: ServicePort): Place | undefined {
  if (address.startsWith("unix://")) return { kind: "pipe", path: address.slice(7) };
  if (Object.hasOwn(ports, port.name)) {
    return { kind: "socket", address, port: ports[port.name]! };
  }
  if (Object.keys(ports).length > 0) return undefined;
  return { kind: "socket", address, port: port.targetPort ?? port.number };
}

/** One text for all ways to write an address. */
function placeText(place: Place): string {
  if (place.kind === "pipe") return `unix://${place.path}`;
  const { address, port } = place;
  const host = ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address).toString() : address;
  return formatHostPort(host.toLowerCase(), port);
}

/** Scales weights down, if their sum would be too large. */
function weigher(weights: readonly number[]): (weight: number) => number {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum <= MAX_WEIGHT) return (weight) => weight;
  const factor = (MAX_WEIGHT - weights.length) / sum;
  return (weight) => Math.max(1, Math.floor(weight * factor));
}

/** Endpoints by the locality that they are in. */
class Groups {
  readonly #failover: readonly string[];
  readonly #byLocality = new Map<string, PlacedEndpoint[]>();

  constructor(failover: readonly string[]) {
    this.#failover = failover;
  }

  add(locality: string, endpoint: PlacedEndpoint): void {
    const text = localityText(localityOf(locality));
    const group = this.#byLocality.get(text);
    if (group === undefined) this.#byLocality.set(text, [endpoint]);
    else group.push(endpoint);
  }

  sorted(): EndpointGroup[] {
    const ranked = [...this.#byLocality]
      .map(([text, endpoints]) => ({ text, endpoints, rank: rankOf(text, this.#failover) }))
      .sort((a, b) => a.rank - b.rank || (a.text < b.text ? -1 : 1));
    const ranks = [...new Set(ranked.map(({ rank }) => rank))];
    return ranked.map(({ text, endpoints, rank }) => ({
      locality: localityOf(text),
      priority: ranks.indexOf(rank),
      weight: endpoints.reduce((sum, { weight }) => sum + weight, 0),
      endpoints,
    }));
  }
}

/** Index of the first entry that the locality is in; what is in none comes last. */
function rankOf(locality: string, failover: readonly string[]): number {
  const index = failover.findIndex((entry) => `${locality}/`.startsWith(`${entry}/`));
  return index < 0 ? failover.length : index;
}

/** `region/zone/subzone`, of which the later ones may be missing. */
function localityOf(text: string): Locality {
  const [region = "", zone = "", ...rest] = text.split("/");
  return { region, zone, subZone: rest.join("/") };
}

function localityText({ region, zone, subZone }: Locality): string {
  return [region, zone, subZone].join("/").replace(/\/+$/, "");
}
