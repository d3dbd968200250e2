/**
 * The RouteConfiguration of a port, as gRPC clients take it.
 *
 * @module
 */
import { formatHostPort } from "../../model/host_port.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import type { Partially, Route, RouteAction, RouteConfiguration } from "../../wire/messages.ts";
import { clusterName, protocolClass } from "../shared/names.ts";
import { durationOf, type PortRoute, type PortRoutes, portRoutes } from "../shared/routes.ts";
import { clusterShares, type Directed, streamTargets } from "../shared/targets.ts";
import { grpcHttpRoutes } from "./matches.ts";

/** Routes of a port, and what could not be said in them. */
export interface GrpcRoutes {
  readonly message: Partially<RouteConfiguration>;
  /** Subsets, ports and hosts that traffic should go to and that are not there. */
  readonly missing: readonly string[];
  /** What these clients cannot tell calls apart by, each as a text for a person. */
  readonly unable: readonly string[];
}

/** Name of the RouteConfiguration of a port: `HOST:PORT`, with the service's first host. */
export function routesName({ hosts }: Service, port: number): string {
  return formatHostPort(hosts[0]!, port);
}

/**
 * Name of a cluster without endpoints, for calls that must fail: a route to a cluster that is not there
 * would keep clients from taking any of the routes, for 15 s.
 */
export function nowhere({ hosts }: Service, port: number): string {
  return clusterName(hosts[0]!, port, "(none)");
}

/**
 * The routes of a port. They are reached only by the listeners of this very service, so the virtual host
 * takes whatever domain the client asks for: that is the text it dialled, unless its program gave
 * the channel another authority.
 */
export function grpcRoutes(directed: Directed, port: ServicePort): GrpcRoutes {
  const name = routesName(directed.service, port.number);
  const made = protocolClass(port) === "http"
    ? httpRoutes(directed, port)
    : { ...tcpRoutes(directed, port), unable: [] };
  const routes = made.routes.map((route) => routeOf(directed.service, port, route));
  return {
    message: { name, virtualHosts: [{ name, domains: ["*"], routes }] },
    missing: made.missing,
    unable: made.unable,
  };
}

function httpRoutes(
  directed: Directed,
  port: ServicePort,
): PortRoutes & { readonly unable: readonly string[] } {
  const { traffic } = directed;
  const { http, unable } = grpcHttpRoutes(traffic.http);
  // Where the rules let nothing through that could be a gRPC call, nothing may go through. (Without
  // any route grpc-java would say that its own policy is broken.)
  const wasOfPort = traffic.http.some((route) => isOfPort(route, port));
  if (wasOfPort && !http.some((route) => isOfPort(route, port))) {
    return { routes: [{ match: { prefix: "/" }, shares: [] }], missing: [], unable };
  }
  return { ...portRoutes({ ...directed, traffic: { ...traffic, http } }, port), unable };
}

function isOfPort(
  { matches }: Directed["traffic"]["http"][number],
  { number }: ServicePort,
): boolean {
  return matches.length === 0 ||
    matches.some(({ port }) => port === undefined || port === number);
}

/** To what is not HTTP by its protocol calls go as connections would. */
function tcpRoutes(directed: Directed, port: ServicePort): PortRoutes {
  const { traffic } = directed;
  const targets = streamTargets(traffic, port);
  if (targets === undefined) {
    return portRoutes({ ...directed, traffic: { ...traffic, http: [] } }, port);
  }
  const { shares, missing } = clusterShares(directed, port, targets);
  return { routes: [{ match: { prefix: "/" }, shares }], missing };
}

function routeOf(
  service: Service,
  port: ServicePort,
  { match, shares, timeout }: PortRoute,
): Partially<Route> {
  const [first, ...others] = shares;
  const to: Partially<RouteAction> = others.length === 0
    ? { cluster: first?.cluster ?? nowhere(service, port.number) }
    : {
      weightedClusters: {
        clusters: shares.map(({ cluster, weight }) => ({
          name: cluster,
          weight: { value: weight },
        })),
      },
    };
  // gRPC clients do not read RouteAction.timeout.
  const bound = timeout === undefined
    ? {}
    : { maxStreamDuration: { maxStreamDuration: durationOf(timeout) } };
  return { match, route: { ...to, ...bound } };
}

/** Whether some of the routes lead nowhere. */
export function leadsNowhere({ message }: GrpcRoutes, service: Service, port: number): boolean {
  const name = nowhere(service, port);
  return (message.virtualHosts ?? []).some(({ routes = [] }) =>
    routes.some(({ route }) => route?.cluster === name)
  );
}
