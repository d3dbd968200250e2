/**
 * The Listeners of a service for gRPC clients: one for each text by which a program may call it, since
 * the name of the Listener that a client asks for is the text after `xds:///`.
 *
 * @module
 */
import { formatHostPort } from "../../model/host_port.ts";
import type { Resource } from "../../model/resource.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import {
  httpConnectionManagerCodec,
  type HttpFilter,
  listenerCodec,
  routerCodec,
} from "../../wire/messages.ts";
import type { Part } from "../recipe.ts";
import { viewResource } from "../shared/view_resource.ts";
import { routesName } from "./routes.ts";

/** What a service wants a Listener's name for. */
export interface GrpcListener {
  /** Name of the RouteConfiguration. */
  readonly routes: string;
  /** Where services want one name: full hosts (0) before aliases (1). */
  readonly rank: number;
}

/** Every name of the service, without a port and with each of these. A host with a wildcard is none: clients ask for what they dial. */
export function listenerParts(
  service: Service,
  ports: readonly ServicePort[],
): Part<GrpcListener>[] {
  const usual = usualPort(ports);
  if (usual === undefined) return [];
  const parts = new Map<string, GrpcListener>();
  const add = (name: string, port: number, rank: number) => {
    if (!parts.has(name)) parts.set(name, { routes: routesName(service, port), rank });
  };
  const { hosts, aliases } = service;
  for (const [names, rank] of [[hosts, 0], [aliases, 1]] as const) {
    for (const name of names) {
      if (name.includes("*")) continue;
      add(name, usual.number, rank);
      for (const { number } of ports) add(formatHostPort(name, number), number, rank);
    }
  }
  return Array.from(parts, ([name, data]) => ({ type: "Listener", name, data }));
}

/** The Listener of this name. */
export function grpcListener(name: string, { routes }: GrpcListener): Resource {
  const manager = httpConnectionManagerCodec.pack({
    rds: { routeConfigName: routes, configSource: { ads: {}, resourceApiVersion: "V3" } },
    httpFilters: [router()],
  });
  return viewResource(listenerCodec, name, { name, apiListener: { apiListener: manager } });
}

/** The port that is meant where none is said: the first that is made for gRPC, else the first. */
function usualPort(ports: readonly ServicePort[]): ServicePort | undefined {
  return ports.find(({ protocol }) => protocol === "GRPC" || protocol === "HTTP2") ?? ports[0];
}

function router(): HttpFilter {
  return {
    name: "envoy.filters.http.router",
    typedConfig: routerCodec.pack({}),
    isOptional: false,
  };
}
