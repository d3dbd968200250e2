/**
 * What gRPC programs without a proxy are served (`xds:///HOST:PORT`): for each text by which a service
 * may be called a Listener, for each of its ports a RouteConfiguration, for each port and subset a
 * Cluster with its endpoints.
 *
 * These clients ask by name for what they need and refuse an answer with anything in it that they
 * do not know how to do, so all that is made here is what C-core, grpc-go, grpc-java and grpc-js-xds
 * take alike.
 *
 * @module
 */
import type { Endpoint, Service, ServicePort } from "../../model/service.ts";
import type { Resource } from "../../model/resource.ts";
import { routeConfigurationCodec } from "../../wire/messages.ts";
import type { Contribution, Part, Recipe } from "../recipe.ts";
import type { Addresses, ServedService } from "../served_service.ts";
import { settleDomains } from "../shared/domains.ts";
import { isIpAddress, lookedUp } from "../shared/looked_up.ts";
import { clusterName, protocolClass } from "../shared/names.ts";
import {
  type EndpointGroup,
  type PlacedEndpoint,
  placeEndpoints,
} from "../shared/place_endpoints.ts";
import { destinations, endpointsWith, isHidden } from "../shared/served_parts.ts";
import { destinationsByHost, type Directed } from "../shared/targets.ts";
import { viewResource } from "../shared/view_resource.ts";
import { dnsCluster, edsCluster } from "./clusters.ts";
import { grpcEndpoints } from "./endpoints.ts";
import { Findings } from "./findings.ts";
import { type GrpcListener, grpcListener, listenerParts } from "./listeners.ts";
import { grpcRoutes, leadsNowhere, nowhere, routesName } from "./routes.ts";

/** How gRPC programs are served. */
export const grpcRecipe: Recipe<GrpcListener> = {
  contribute(served, _context, addresses) {
    return new GrpcService(served, addresses).contribution();
  },

  assemble(_type, name, parts, { namespace }) {
    const claims = parts.map(({ key, data }) => ({
      key,
      domains: [{ text: name, rank: data.rank }],
    }));
    const settled = settleDomains(claims, namespace, `target xds:///${name}`);
    const winner = parts[settled.granted.findIndex((names) => names.length > 0)]!;
    return { resource: grpcListener(name, winner.data), findings: settled.findings };
  },
};

/** One service, on the way to what it contributes. */
class GrpcService {
  readonly #served: ServedService;
  readonly #addresses: Addresses;
  readonly #clusters: Resource[] = [];
  readonly #endpoints: Resource[] = [];
  readonly #routes: Resource[] = [];
  readonly #parts: Part<GrpcListener>[] = [];
  readonly #lookUps = new Set<string>();
  readonly #findings: Findings;

  constructor(served: ServedService, addresses: Addresses) {
    this.#served = served;
    this.#addresses = addresses;
    this.#findings = new Findings(served);
  }

  contribution(): Contribution<GrpcListener> {
    const service = callable(this.#served.service);
    const hidden = isHidden(service);
    if (!hidden && service.hosts.length > 0) this.#serve(service);
    return {
      resources: {
        Cluster: this.#clusters,
        ClusterLoadAssignment: this.#endpoints,
        RouteConfiguration: this.#routes,
      },
      parts: this.#parts,
      lookUps: [...this.#lookUps],
      findings: hidden ? [] : this.#findings.all(),
    };
  }

  #serve(service: Service): void {
    const { traffic } = this.#served;
    const all = destinations(service);
    const others = destinationsByHost(traffic, all, (other) => destinations(callable(other)));
    for (const destination of all) {
      this.#parts.push(...listenerParts(destination, destination.ports));
      for (const port of destination.ports) {
        this.#port({ service: destination, traffic, others }, port);
      }
    }
  }

  #port(directed: Directed, port: ServicePort): void {
    const { service, traffic } = directed;
    const made = grpcRoutes(directed, port);
    this.#findings.unable(made.unable);
    this.#findings.missing(made.missing);
    const name = routesName(service, port.number);
    this.#routes.push(viewResource(routeConfigurationCodec, name, made.message));
    if (leadsNowhere(made, service, port.number)) {
      this.#edsCluster(nowhere(service, port.number), []);
    }
    this.#cluster(service, port, "", service.endpoints);
    for (const [subset, labels] of traffic.subsets) {
      this.#cluster(service, port, subset, endpointsWith(service.endpoints, labels));
    }
  }

  #cluster(
    service: Service,
    port: ServicePort,
    subset: string,
    members: readonly Endpoint[],
  ): void {
    const name = clusterName(service.hosts[0]!, port.number, subset);
    const sockets = members.filter(({ address }) => !address.startsWith("unix://"));
    if (sockets.length < members.length) this.#findings.unix();
    const { groups, repeated } = placeEndpoints(service, port, sockets);
    this.#findings.repeated(repeated);
    const [only, ...more] = groups.flatMap(({ endpoints }) => endpoints);
    if (only !== undefined && more.length === 0 && !only.draining && isName(only)) {
      this.#clusters.push(dnsCluster(name, only.place));
      return;
    }
    const placement = placeEndpoints(
      service,
      port,
      lookedUp(sockets, this.#addresses, this.#lookUps),
    );
    if (placement.drainIgnored) this.#findings.drainIgnored();
    this.#edsCluster(name, placement.groups);
  }

  #edsCluster(name: string, groups: readonly EndpointGroup[]): void {
    this.#clusters.push(edsCluster(name));
    this.#endpoints.push(grpcEndpoints(name, groups));
  }
}

/**
 * The service with the hosts that a program can dial and the ports that are served. What a proxy would pass on to wherever the
 * caller meant to go is, for want of a proxy, looked up by its name.
 */
function callable(service: Service): Service {
  const { resolution, endpoints, workloadSelector } = service;
  const hosts = service.hosts.filter((host) => !host.includes("*"));
  const ports = service.ports.filter((port) => protocolClass(port) !== "udp");
  const passedOn = resolution === "NONE" || resolution === "DYNAMIC_DNS";
  const lookedUp = passedOn && endpoints.length === 0 && workloadSelector === undefined;
  return { ...service, hosts, ports, ...(lookedUp ? { resolution: "DNS" } : {}) };
}

/** Whether it is yet to be looked up. */
function isName({ place }: PlacedEndpoint): boolean {
  return place.kind === "socket" && !isIpAddress(place.address);
}
