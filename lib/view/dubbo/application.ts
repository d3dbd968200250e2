/**
 * What one service is to Dubbo applications: an application that provides something at each of its
 * endpoints.
 *
 * @module
 */
import type { Endpoint, Service, ServicePort } from "../../model/service.ts";
import type { Resource } from "../../model/resource.ts";
import type { Contribution, Part, ViewFinding } from "../recipe.ts";
import type { Addresses, ServedService } from "../served_service.ts";
import { domainsOf } from "../shared/domains.ts";
import { lookedUp } from "../shared/looked_up.ts";
import { clusterName, protocolClass } from "../shared/names.ts";
import { type EndpointGroup, placeEndpoints } from "../shared/place_endpoints.ts";
import { destinations, endpointsWith, isHidden, unservedFindings } from "../shared/served_parts.ts";
import { destinationsByHost, type Directed, missingTargets } from "../shared/targets.ts";
import { dubboDestination } from "./destination.ts";
import { dubboEndpoints, inService } from "./endpoints.ts";
import { Findings, isMadeForRpc } from "./findings.ts";
import { DUBBO_ROUTES } from "./listener.ts";
import { isMetadataPort, metadataFindings } from "./metadata.ts";
import type { DubboHost } from "./routes.ts";

/** One service, on the way to what it contributes. */
export class DubboApplication {
  readonly #served: ServedService;
  readonly #addresses: Addresses;
  readonly #endpoints: Resource[] = [];
  readonly #parts: Part<DubboHost>[] = [];
  readonly #lookUps = new Set<string>();
  readonly #findings: Findings;
  readonly #missing = new Set<string>();

  constructor(served: ServedService, addresses: Addresses) {
    this.#served = served;
    this.#addresses = addresses;
    this.#findings = new Findings(served.key);
  }

  /** What the service adds to the view. */
  contribution(): Contribution<DubboHost> {
    const { service } = this.#served;
    const hidden = isHidden(service);
    if (!hidden && service.hosts.length > 0) this.#serve(reachable(service));
    return {
      resources: { ClusterLoadAssignment: this.#endpoints },
      parts: this.#parts,
      lookUps: [...this.#lookUps],
      findings: hidden ? [] : this.#all(),
    };
  }

  #all(): ViewFinding[] {
    return [
      ...unservedFindings(this.#served),
      ...missingTargets(this.#served.key, this.#missing),
      ...this.#findings.all(),
    ];
  }

  #serve(service: Service): void {
    const ports = servedPorts(service);
    const port = providedPort(ports);
    this.#findings.ofService(service, port);
    if (port === undefined || service.hosts.length === 0) return;
    const { traffic } = this.#served;
    const all = destinations({ ...service, ports });
    const others = destinationsByHost(traffic, all, servedAs);
    for (const destination of all) {
      this.#provide({ service: destination, traffic, others }, port);
      for (const other of ports) this.#reachedByName(destination, other, port);
    }
  }

  /** The virtual host of the service and the endpoints behind it. */
  #provide(directed: Directed, port: ServicePort): void {
    const { service } = directed;
    const host = service.hosts[0]!;
    const destination = dubboDestination(directed, port);
    for (const lack of destination.missing) this.#missing.add(lack);
    for (const [rule, message] of destination.unfollowed) this.#findings.add(rule, message);
    const domains = domainsOf(service, []).filter(({ text }) => !text.includes("*"));
    const data = { name: host, domains, cluster: destination.cluster };
    this.#parts.push({ type: "RouteConfiguration", name: DUBBO_ROUTES, data });
    const groups = this.#cluster(service, port, "", destination.endpoints);
    this.#findings.ofEndpoints(groups);
    for (const [rule, message] of metadataFindings(service, groups)) {
      this.#findings.add(rule, message);
    }
  }

  /** Endpoints that only routes of other services lead to. */
  #reachedByName(service: Service, port: ServicePort, provided: ServicePort): void {
    if (port !== provided) this.#cluster(service, port, "", service.endpoints);
    for (const [subset, labels] of this.#served.traffic.subsets) {
      this.#cluster(service, port, subset, endpointsWith(service.endpoints, labels));
    }
  }

  /** Adds the endpoints of a cluster; gives them. */
  #cluster(
    service: Service,
    port: ServicePort,
    subset: string,
    members: readonly Endpoint[],
  ): readonly EndpointGroup[] {
    const sockets = members.filter(({ address }) => !address.startsWith("unix://"));
    if (sockets.length < members.length) this.#findings.unix();
    const placement = placeEndpoints(
      service,
      port,
      lookedUp(sockets, this.#addresses, this.#lookUps),
    );
    this.#findings.ofPlacement(placement);
    const groups = inService(placement.groups);
    const name = clusterName(service.hosts[0]!, port.number, subset);
    this.#endpoints.push(dubboEndpoints(name, groups));
    return groups;
  }
}

/**
 * The service with the hosts that there are. What a proxy would pass on to wherever the caller meant
 * to go is, for want of a proxy, looked up by its name.
 */
function reachable(service: Service): Service {
  const { resolution, endpoints, workloadSelector } = service;
  const passedOn = resolution === "NONE" || resolution === "DYNAMIC_DNS";
  if (!passedOn || endpoints.length > 0 || workloadSelector !== undefined) return service;
  return {
    ...service,
    resolution: "DNS",
    hosts: service.hosts.filter((host) => !host.includes("*")),
  };
}

function servedPorts({ ports }: Service): readonly ServicePort[] {
  return ports.filter((port) => protocolClass(port) !== "udp");
}

/** What another service is served as; nothing, where it has no port that could be provided. */
function servedAs(other: Service): readonly Service[] {
  const service = reachable(other);
  const ports = servedPorts(service);
  return providedPort(ports) === undefined ? [] : destinations({ ...service, ports });
}

/**
 * The port that is provided, since each would count as an instance of its own: the first that is made
 * for RPC, else the first with HTTP, else, as Dubbo's older protocol is, the first of TCP.
 */
function providedPort(ports: readonly ServicePort[]): ServicePort | undefined {
  const provided = ports.filter((port) => !isMetadataPort(port));
  return provided.find(isMadeForRpc) ??
    provided.find((port) => protocolClass(port) === "http") ??
    provided.find((port) => protocolClass(port) === "tcp");
}
