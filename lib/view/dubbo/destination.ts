/**
 * Where the calls of Dubbo applications to a service go.
 *
 * They take from a route nothing but its cluster, and once they took endpoints of one they take news of
 * it for ever, even after the route has come to name another. So a service always has the same cluster,
 * and what changes with its traffic is which endpoints are in it.
 *
 * @module
 */
import type { Endpoint, ServicePort } from "../../model/service.ts";
import type { HttpMatch, Traffic, WeightedTarget } from "../served_service.ts";
import { clusterName, protocolClass } from "../shared/names.ts";
import { endpointsWith } from "../shared/served_parts.ts";
import {
  type ClusterShare,
  clusterShares,
  type Directed,
  streamTargets,
  wholeCluster,
} from "../shared/targets.ts";

/** Where calls go. */
export interface DubboDestination {
  readonly cluster: string;
  /** What is in the service's own cluster of the port. */
  readonly endpoints: readonly Endpoint[];
  /** Subsets, ports and hosts that traffic should go to and that are not there. */
  readonly missing: readonly string[];
  /** What these clients do not follow: rule and message. */
  readonly unfollowed: readonly (readonly [rule: string, message: string])[];
}

/** The destination of calls to this port. */
export function dubboDestination(directed: Directed, port: ServicePort): DubboDestination {
  const { service, traffic } = directed;
  const route = plainRoute(traffic, port);
  const to = route.to ?? [{ host: service.hosts[0]!, weight: 1 }];
  const { shares, missing } = clusterShares(directed, port, to);
  const unfollowed = [...ofRoute(route)];
  const { own, other } = divided(directed, port, shares);
  const weight = own.reduce((sum, share) => sum + share.weight, 0);
  if (other !== undefined && other.weight > weight) {
    if (shares.length > 1) unfollowed.push(splitBetweenServices(shares, other));
    return { cluster: other.cluster, endpoints: service.endpoints, missing, unfollowed };
  }
  if (other !== undefined) unfollowed.push(splitBetweenServices(shares, undefined));
  else if (own.length > 1) unfollowed.push(splitBetweenSubsets(own));
  const endpoints = endpointsOf(directed, own);
  return { cluster: wholeCluster(service, port), endpoints, missing, unfollowed };
}

/** A route, as far as these clients follow it. */
interface PlainRoute {
  /** Absent: no route is of every call. */
  readonly to?: readonly WeightedTarget[];
  /** Routes before it that are of some calls only. */
  readonly conditional: number;
  readonly timed: boolean;
}

/** The first route of this port that every call takes. */
function plainRoute(traffic: Traffic, port: ServicePort): PlainRoute {
  if (protocolClass(port) !== "http") {
    const to = streamTargets(traffic, port);
    return { ...(to === undefined ? {} : { to }), conditional: 0, timed: false };
  }
  let conditional = 0;
  for (const { matches, to, timeout } of traffic.http) {
    const here = matches.filter((match) => match.port === undefined || match.port === port.number);
    if (here.length === 0 && matches.length > 0) continue;
    if (matches.length === 0 || here.some(takesEvery)) {
      return { to, conditional, timed: timeout !== undefined };
    }
    conditional++;
  }
  return { conditional, timed: false };
}

function takesEvery({ path, method, headers }: HttpMatch): boolean {
  return path === undefined && method === undefined && Object.keys(headers).length === 0;
}

/** A share of the service itself, with the subset that it is of. */
interface OwnShare extends ClusterShare {
  /** Absent: all endpoints. */
  readonly subset?: string;
}

/** Shares of the service itself at this port, and the largest of others. */
function divided(
  { service, traffic }: Directed,
  port: ServicePort,
  shares: readonly ClusterShare[],
): { readonly own: readonly OwnShare[]; readonly other: ClusterShare | undefined } {
  const whole = wholeCluster(service, port);
  const subsets = new Map(
    Array.from(
      traffic.subsets.keys(),
      (subset) => [clusterName(service.hosts[0]!, port.number, subset), subset],
    ),
  );
  const own: OwnShare[] = [];
  let other: ClusterShare | undefined;
  for (const share of shares) {
    const subset = subsets.get(share.cluster);
    if (share.cluster === whole) own.push(share);
    else if (subset !== undefined) own.push({ ...share, subset });
    else if (other === undefined || share.weight > other.weight) other = share;
  }
  return { own, other };
}

/** The endpoints that get any share, in their order. */
function endpointsOf(
  { service, traffic }: Directed,
  own: readonly OwnShare[],
): readonly Endpoint[] {
  const { endpoints } = service;
  if (own.some(({ subset }) => subset === undefined)) return endpoints;
  const wanted = new Set(
    own.flatMap(({ subset }) => endpointsWith(endpoints, traffic.subsets.get(subset!)!)),
  );
  return endpoints.filter((endpoint) => wanted.has(endpoint));
}

function* ofRoute({ to, conditional, timed }: PlainRoute): Iterable<[string, string]> {
  if (conditional > 0) {
    const rest = to === undefined
      ? "as there is no route for every call, all go to all endpoints"
      : "all calls go where the route for every call leads";
    yield [
      "view/dubbo-match",
      `routes that are for some calls only (${conditional}) are left out, for the application ` +
      `would have to tell its calls apart by path, method or header: ${rest}`,
    ];
  }
  if (timed) {
    yield [
      "view/dubbo-timeout",
      "the timeout of the route is not followed; set `timeout` at the application's references",
    ];
  }
}

function splitBetweenSubsets(own: readonly OwnShare[]): [string, string] {
  const names = own.map(({ subset }) =>
    subset === undefined ? "all endpoints" : `subset ${subset}`
  );
  const weights = own.map(({ weight }) => weight).join(" to ");
  return [
    "view/dubbo-split",
    `traffic is not split ${weights} between ${names.join(" and ")}: each endpoint of these gets ` +
    "as many calls as any other; let the number of endpoints be the share, or let the " +
    "application call through an Envoy beside it",
  ];
}

function splitBetweenServices(
  shares: readonly ClusterShare[],
  chosen: ClusterShare | undefined,
): [string, string] {
  const where = chosen === undefined
    ? "its own endpoints, which have"
    : `${chosen.cluster}, which has`;
  const weights = shares.map(({ cluster, weight }) => `${weight} to ${cluster}`).join(", ");
  return [
    "view/dubbo-split",
    `traffic is not split (${weights}): all calls go to ${where} the largest share; let the ` +
    "application call through an Envoy beside it",
  ];
}
