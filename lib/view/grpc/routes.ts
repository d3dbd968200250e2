/**
 * The RouteConfiguration of a port, as gRPC clients take it.
 *
 * @module
 */
import { formatHostPort } from "../../model/host_port.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import {
  type Duration,
  type Partially,
  type Route,
  type RouteAction,
  type RouteConfiguration,
} from "../../wire/messages.ts";
import type { HttpRoute, Traffic, WeightedTarget } from "../served_service.ts";
import { clusterName, protocolClass } from "../shared/names.ts";
import { EVERY_CALL, grpcMatch } from "./matches.ts";

/** Routes of a port, and what could not be said in them. */
export interface GrpcRoutes {
  readonly message: Partially<RouteConfiguration>;
  /** Conditions that these clients cannot check, each as a text for a person. */
  readonly unable: readonly string[];
}

/** Sums of weights have 32 bits. */
const MAX_WEIGHT = 2 ** 32 - 1;

/** Name of the RouteConfiguration of a port: `HOST:PORT`, with the service's first host. */
export function routesName({ hosts }: Service, port: number): string {
  return formatHostPort(hosts[0]!, port);
}

/**
 * The routes of a port. They are reached only by the listeners of this very service, so the virtual host
 * takes whatever domain the client asks for: that is the text it dialled, unless its program gave
 * the channel another authority.
 */
export function grpcRoutes(service: Service, port: ServicePort, traffic: Traffic): GrpcRoutes {
  const name = routesName(service, port.number);
  const unable: string[] = [];
  const routes = protocolClass(port) === "http"
    ? httpRoutes(service, port, traffic, unable)
    : [everyCall(service, port, traffic.tcp)];
  return { message: { name, virtualHosts: [{ name, domains: ["*"], routes }] }, unable };
}

function httpRoutes(
  service: Service,
  port: ServicePort,
  { http }: Traffic,
  unable: string[],
): Partially<Route>[] {
  if (http.length === 0) return [everyCall(service, port, [])];
  return http.flatMap((route) => routesOf(service, port, route, unable));
}

function everyCall(
  service: Service,
  port: ServicePort,
  targets: readonly WeightedTarget[],
): Partially<Route> {
  const itself: WeightedTarget = { host: service.hosts[0]!, weight: 1 };
  const to = targets.length === 0 ? [itself] : targets;
  return { match: EVERY_CALL, route: destination(service, port, to) };
}

/** A route for each of its matches: any of them is enough. */
function routesOf(
  service: Service,
  port: ServicePort,
  { matches, to, timeout }: HttpRoute,
  unable: string[],
): Partially<Route>[] {
  const action: Partially<RouteAction> = {
    ...destination(service, port, to),
    ...(timeout === undefined
      ? {}
      : { maxStreamDuration: { maxStreamDuration: durationOf(timeout) } }),
  };
  if (matches.length === 0) return [{ match: EVERY_CALL, route: action }];
  return matches.flatMap((wanted): Partially<Route>[] => {
    if (wanted.port !== undefined && wanted.port !== port.number) return [];
    const made = grpcMatch(wanted);
    if (made.kind === "unable") unable.push(made.what);
    return made.kind === "match" ? [{ match: made.match, route: action }] : [];
  });
}

function destination(
  service: Service,
  port: ServicePort,
  to: readonly WeightedTarget[],
): Partially<RouteAction> {
  const weights = new Map<string, number>();
  for (const { host, port: other = port.number, subset, weight } of to) {
    // Its clusters have the name of its first host.
    const first = service.hosts.includes(host) ? service.hosts[0]! : host;
    const cluster = clusterName(first, other, subset);
    weights.set(cluster, (weights.get(cluster) ?? 0) + weight);
  }
  const [only, ...others] = weights.keys();
  if (others.length === 0) return { cluster: only! };
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  const factor = sum > MAX_WEIGHT ? (MAX_WEIGHT - weights.size) / sum : 1;
  const clusters = Array.from(weights, ([name, weight]) => ({
    name,
    weight: { value: Math.max(1, Math.floor(weight * factor)) },
  }));
  return { weightedClusters: { clusters } };
}

function durationOf(milliseconds: number): Duration {
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanos: Math.round((milliseconds - seconds * 1000) * 1_000_000) };
}
