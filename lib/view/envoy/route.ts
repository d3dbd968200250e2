/**
 * Routes as Envoy has them: a route configuration for each port, with a virtual host for each service.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import {
  type Partially,
  previousHostsCodec,
  previousPrioritiesCodec,
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
import { forwardPort } from "./extensions.ts";
import { bytesResource } from "../shared/view_resource.ts";

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
    typedPerFilterConfig: service.resolution === "DYNAMIC_DNS"
      ? forwardPort(port.targetPort ?? port.number)
      : undefined,
  };
  const { number } = port;
  const domains = domainsOf(service, portOffset === 0 ? [number] : [number, number + portOffset]);
  return { part: { kind: "routes", port: number, domains, virtualHost }, missing };
}

function virtualHostName({ hosts }: Service, { number }: ServicePort): string {
  return `${hosts[0]}:${number}`;
}

/**
 * A request that reached no endpoint, or that an endpoint said it did not take, is tried at another: of
 * another locality of failover, where there is one. Endpoints of one that is gone are let in again now and
 * then, to see whether it is back, and all tries would go there.
 */
const RETRIES: Partially<RetryPolicy> = {
  retryOn: "connect-failure,refused-stream,reset-before-request",
  numRetries: { value: 2 },
  retryPriority: {
    name: "envoy.retry_priorities.previous_priorities",
    typedConfig: previousPrioritiesCodec.pack({ updateFrequency: 1 }),
  },
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

/** Puts route configurations together. Each virtual host is encoded once, however often its neighbours change. */
export class RouteAssembler {
  readonly #encoded = new WeakMap<RoutePart, Encoded>();

  /** The route configuration of a port. */
  assemble(
    name: string,
    parts: readonly OwnedPart<RoutePart>[],
    { namespace }: ViewContext,
  ): Assembled {
    const claims = parts.map(({ key, data: { domains } }) => ({ key, domains }));
    const { granted, findings } = settleDomains(claims, namespace, `port ${name}`);
    const hosts = parts.flatMap(({ data }, index) => {
      const domains = granted[index]!;
      return domains.length === 0 ? [] : [this.#encode(data, domains)];
    });
    if (hosts.length === 0) return { findings };
    // Messages that follow each other are one: their fields come together.
    const bytes = concat([routeConfigurationCodec.encode({ name }), ...hosts]);
    return { resource: bytesResource(name, bytes), findings };
  }

  /** A route configuration of this virtual host alone. */
  #encode(part: RoutePart, domains: readonly string[]): Uint8Array {
    const had = this.#encoded.get(part);
    if (had !== undefined && sameTexts(had.domains, domains)) return had.bytes;
    const bytes = routeConfigurationCodec.encode({
      virtualHosts: [{ ...part.virtualHost, domains }],
    });
    this.#encoded.set(part, { domains, bytes });
    return bytes;
  }
}

interface Encoded {
  readonly domains: readonly string[];
  readonly bytes: Uint8Array;
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
