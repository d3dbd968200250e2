/**
 * What a service says of its traffic → Istio's objects for it: a DestinationRule for each host, with
 * the subsets, and a VirtualService with the weights. Deterministic to the byte, as conversion is.
 *
 * @module
 */
import { ownNames } from "../model/own_names.ts";
import type { Endpoint, Service, ServicePort } from "../model/service.ts";
import type {
  DestinationRule,
  Partially,
  RouteDestination,
  VirtualService,
} from "../wire/messages.ts";
import { failoverPolicy } from "./failover.ts";
import { isHttp, isTcp, isTls } from "./rules/protocols.ts";

/** A DestinationRule and its name, without the namespace. */
export interface NamedRule {
  readonly name: string;
  readonly message: Partially<DestinationRule>;
}

/** A DestinationRule for each host; none where there is nothing to say. `endpoints`: those that the mesh is told of. */
export function toDestinationRules(
  service: Service,
  endpoints: readonly Endpoint[],
): readonly NamedRule[] {
  const { hosts, subsets = {} } = service;
  const trafficPolicy = failoverPolicy(endpoints, service);
  const names = Object.keys(subsets).sort();
  if (names.length === 0 && trafficPolicy === undefined) return [];
  return ownNames(service).DestinationRule.map((name, index) => ({
    name,
    message: {
      host: hosts[index]!,
      ...(trafficPolicy === undefined ? {} : { trafficPolicy }),
      subsets: names.map((subset) => ({ name: subset, labels: subsets[subset]! })),
      exportTo: exportToOf(service),
    },
  }));
}

/**
 * The VirtualService of a service with `split`; undefined without, and where no port can be split. All
 * of its hosts are sent to the first one's subsets: the hosts of a service have the same endpoints.
 */
export function toVirtualService(service: Service): Partially<VirtualService> | undefined {
  const { split, ports } = service;
  if (split === undefined) return undefined;
  const hosts = distinctHosts(service.hosts);
  const route = toDestinations(service.hosts[0]!, split);
  const { http, tls, tcp } = sortPorts(ports);
  if (http.length + tls.length + tcp.length === 0) return undefined;
  return {
    hosts,
    // Without a port a destination means the one that was called, so one route does for all.
    ...(http.length === 0 ? {} : { http: [{ route }] }),
    ...(tcp.length === 0
      ? {}
      : { tcp: [{ match: tcp.map(({ number }) => ({ port: number })), route }] }),
    ...(tls.length === 0
      ? {}
      : { tls: [{ match: tls.map(({ number }) => ({ port: number, sniHosts: hosts })), route }] }),
    exportTo: exportToOf(service),
  };
}

/** Ports by how Istio routes them. What is neither, UDP, it does not route at all. */
export function sortPorts(
  ports: readonly ServicePort[],
): Readonly<Record<"http" | "tls" | "tcp", readonly ServicePort[]>> {
  const isPlain = (protocol: string) => protocol === "" || (isTcp(protocol) && !isTls(protocol));
  return {
    http: ports.filter(({ protocol }) => isHttp(protocol)),
    tls: ports.filter(({ protocol }) => isTls(protocol)),
    tcp: ports.filter(({ protocol }) => isPlain(protocol)),
  };
}

/** What Istio up to 1.7 demands of the weights of a route. */
export const WHOLE = 100;

/** The weights above 0, by subset in the order of names; scaled to add up to 100 where that is exact. */
export function scaledWeights(
  split: Readonly<Record<string, number>>,
): readonly (readonly [subset: string, weight: number])[] {
  const shares = Object.keys(split).sort().map((name) => [name, split[name]!] as const)
    .filter(([, weight]) => weight > 0);
  const sum = shares.reduce((total, [, weight]) => total + weight, 0);
  const scaled = shares.map(([name, weight]) => [name, weight * WHOLE / sum] as const);
  return scaled.every(([, weight]) => Number.isInteger(weight)) ? scaled : shares;
}

function toDestinations(
  host: string,
  split: Readonly<Record<string, number>>,
): Partially<RouteDestination>[] {
  return scaledWeights(split).map(([subset, weight]) => ({
    destination: { host, subset },
    weight,
  }));
}

/** The hosts without those that a wildcard among them covers: Istio takes no host twice. */
function distinctHosts(hosts: readonly string[]): readonly string[] {
  return hosts.filter((host) =>
    !hosts.some((other) => other !== host && other.startsWith("*") && covers(other, host))
  );
}

function covers(wildcard: string, host: string): boolean {
  return host.toLowerCase().endsWith(wildcard.slice(1).toLowerCase());
}

/** As the service's own. Only a ServiceEntry may be for nobody; rules for one then matter to nobody else. */
function exportToOf({ exportTo }: Service): readonly string[] {
  return exportTo.map((entry) => entry === "~" ? "." : entry);
}
