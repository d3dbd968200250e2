/**
 * Routes as Envoy has them: a route configuration for each port, with a virtual host for each service.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import {
  type Partially,
  previousHostsCodec,
  type RetryPolicy,
  type Route,
  routeConfigurationCodec,
  type VirtualHost,
} from "../../wire/messages.ts";
import type { Assembled, OwnedPart } from "../recipe.ts";
import type { ViewContext } from "../served_service.ts";
import { type Domain, domainsOf, settleDomains } from "../shared/domains.ts";
import { durationOf, type PortRoute, portRoutes } from "../shared/routes.ts";
import type { Directed } from "../shared/targets.ts";
import { viewResource } from "../shared/view_resource.ts";

/** A service's part of the route configuration of a port. */
export interface RoutePart {
  readonly kind: "routes";
  readonly port: number;
  readonly domains: readonly Domain[];
  /** Without the domains. */
  readonly virtualHost: Partially<VirtualHost>;
}

/** Name of the route configuration of a port. */
export function routesName(port: number): string {
  return String(port);
}

/** What the service adds to the route configuration of this port, and what of its targets is missing. */
export function routePart(
  directed: Directed,
  port: ServicePort,
  { envoy: { portOffset } }: ViewContext,
): { part: RoutePart; missing: readonly string[] } {
  const { routes, missing } = portRoutes(directed, port);
  const { service } = directed;
  const virtualHost = {
    name: virtualHostName(service, port),
    routes: routes.map(routeOf),
    retryPolicy: RETRIES,
  };
  const { number } = port;
  const domains = domainsOf(service, portOffset === 0 ? [number] : [number, number + portOffset]);
  return { part: { kind: "routes", port: number, domains, virtualHost }, missing };
}

function virtualHostName({ hosts }: Service, { number }: ServicePort): string {
  return `${hosts[0]}:${number}`;
}

/** A request that reached no endpoint, or that an endpoint said it did not take, is tried at another. */
const RETRIES: Partially<RetryPolicy> = {
  retryOn: "connect-failure,refused-stream,reset-before-request",
  numRetries: { value: 2 },
  retryHostPredicate: [{
    name: "envoy.retry_host_predicates.previous_hosts",
    typedConfig: previousHostsCodec.pack({}),
  }],
  hostSelectionRetryMaxAttempts: 5,
};

function routeOf({ match, shares, timeout = 0 }: PortRoute): Partially<Route> {
  const [only] = shares;
  if (only === undefined) return { match, directResponse: { status: 503 } };
  const to = shares.length === 1 ? { cluster: only.cluster } : {
    weightedClusters: {
      clusters: shares.map(({ cluster, weight }) => ({ name: cluster, weight: { value: weight } })),
    },
  };
  // Envoy's default would end every call after 15 s, streams as well.
  return { match, route: { ...to, timeout: durationOf(timeout) } };
}

/** The route configuration of a port. */
export function assembleRoutes(
  name: string,
  parts: readonly OwnedPart<RoutePart>[],
  { namespace }: ViewContext,
): Assembled {
  const claims = parts.map(({ key, data: { domains } }) => ({ key, domains }));
  const { granted, findings } = settleDomains(claims, namespace, `port ${name}`);
  const virtualHosts = parts.flatMap(({ data: { virtualHost } }, index) => {
    const domains = granted[index]!;
    return domains.length === 0 ? [] : [{ ...virtualHost, domains }];
  });
  if (virtualHosts.length === 0) return { findings };
  return {
    resource: viewResource(routeConfigurationCodec, name, { name, virtualHosts }),
    findings,
  };
}
