/**
 * How Envoys are served: an outbound listener for each port, routes for its HTTP, clusters with their
 * endpoints for each service and subset.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import type { Service, ServicePort } from "../../model/service.ts";
import type { XdsTypeName } from "../../model/xds_type.ts";
import type { Assembled, Contribution, OwnedPart, Part, Recipe, ViewFinding } from "../recipe.ts";
import type { ServedService, Traffic, ViewContext } from "../served_service.ts";
import { protocolClass } from "../shared/names.ts";
import { destinations, isHidden, isLookedUp, unservedFindings } from "../shared/served_parts.ts";
import { destinationsByHost, type Directed, missingTargets } from "../shared/targets.ts";
import { clustersOf } from "./cluster.ts";
import { assembleListener } from "./listener.ts";
import { boundPort, listenerName, type ListenerPart, listenerPart } from "./listener_part.ts";
import { servableTraffic } from "./servable_traffic.ts";
import { RouteAssembler, type RoutePart, routePart, routesName } from "./route.ts";

/** What a service adds to resources that it shares with others. */
export type EnvoyPart = ListenerPart | RoutePart;

class EnvoyRecipe implements Recipe<EnvoyPart> {
  readonly #routes = new RouteAssembler();

  contribute(served: ServedService, context: ViewContext): Contribution<EnvoyPart> {
    const gathered = new Gathered(served, context);
    if (!isHidden(served.service)) gathered.add();
    return gathered.contribution();
  }

  assemble(
    type: XdsTypeName,
    name: string,
    parts: readonly OwnedPart<EnvoyPart>[],
    context: ViewContext,
  ): Assembled {
    if (type === "RouteConfiguration") {
      const routes = parts.flatMap(({ key, data }) =>
        data.kind === "routes" ? [{ key, data }] : []
      );
      return this.#routes.assemble(name, routes, context);
    }
    const listening = parts.flatMap(({ key, data }) =>
      data.kind === "routes" ? [] : [{ key, data }]
    );
    return assembleListener(name, listening, context);
  }
}

/** The recipe of Envoys' views. */
export const envoyRecipe: Recipe<EnvoyPart> = new EnvoyRecipe();

/** What one service adds, port by port. */
class Gathered {
  readonly #served: ServedService;
  readonly #context: ViewContext;
  readonly #traffic: Traffic;
  readonly #clusters: Resource[] = [];
  readonly #assignments: Resource[] = [];
  readonly #parts: Part<EnvoyPart>[] = [];
  readonly #missing: string[] = [];
  /** By rule and message: what holds for several ports is said once. */
  readonly #findings = new Map<string, ViewFinding>();

  constructor(served: ServedService, context: ViewContext) {
    this.#served = served;
    this.#context = context;
    const { traffic, refused } = servableTraffic(served.traffic);
    this.#traffic = traffic;
    for (const what of refused) {
      this.#find(
        "view/match",
        `Envoy refuses ${what} in a route's match: what fits the rest of the match gets an error`,
      );
    }
  }

  /** Adds each destination of the service with the ports of it that can be served. */
  add(): void {
    const all = destinations(this.#served.service)
      .map((service) => ({ ...service, ports: this.#servablePorts(service) }));
    const others = destinationsByHost(
      this.#traffic,
      all,
      (other) =>
        destinations(other).map((service) => ({
          ...service,
          ports: service.ports.filter((port) => !unservable(service, port, this.#context)),
        })),
    );
    for (const service of all) {
      const directed = { service, traffic: this.#traffic, others };
      for (const port of service.ports) this.#addPort(directed, port);
    }
  }

  #servablePorts(service: Service): readonly ServicePort[] {
    return service.ports.filter((port) => {
      const problem = unservable(service, port, this.#context);
      if (problem !== undefined) this.#find(problem.rule, problem.message);
      return problem === undefined;
    });
  }

  #addPort(directed: Directed, port: ServicePort): void {
    const { clusters, assignments, oddities } = clustersOf(directed, port, this.#context);
    this.#clusters.push(...clusters);
    this.#assignments.push(...assignments);
    for (const { rule, message } of oddities) this.#find(rule, message);
    const listening = listenerPart(directed, port);
    this.#missing.push(...listening.missing);
    this.#add("Listener", listenerName(port.number), listening.part);
    if (protocolClass(port) !== "http") return;
    if (directed.service.resolution === "DYNAMIC_DNS") this.#findNamedPort(port);
    const routing = routePart(directed, port, this.#context);
    this.#missing.push(...routing.missing);
    this.#add("RouteConfiguration", routesName(port.number), routing.part);
  }

  /** Clients of HTTP name the port in `Host` unless it is 80, and what is named is where Envoy goes. */
  #findNamedPort({ number, targetPort = number }: ServicePort): void {
    if (number === 80 || targetPort === number) return;
    this.#find(
      "view/dynamic-dns-port",
      `requests that name its port ${number} in Host go to that port and not to targetPort ` +
        `${targetPort}, for with resolution DYNAMIC_DNS what a request names wins`,
    );
  }

  contribution(): Contribution<EnvoyPart> {
    return {
      resources: { Cluster: this.#clusters, ClusterLoadAssignment: this.#assignments },
      parts: this.#parts,
      lookUps: [],
      findings: [
        ...this.#findings.values(),
        ...missingTargets(this.#served.key, this.#missing),
        ...unservedFindings(this.#served),
      ],
    };
  }

  #add(type: Part<EnvoyPart>["type"], name: string, data: EnvoyPart | undefined): void {
    if (data !== undefined) this.#parts.push({ type, name, data });
  }

  #find(rule: string, message: string): void {
    this.#findings.set(`${rule} ${message}`, { key: this.#served.key, rule, message });
  }
}

/** Why a port cannot be served; undefined: it can. */
function unservable(
  service: Service,
  port: ServicePort,
  context: ViewContext,
): { rule: string; message: string } | undefined {
  const kind = protocolClass(port);
  if (kind === "udp") {
    return {
      rule: "view/udp",
      message: `its UDP port ${port.number} is not served: clients of xDS are served TCP`,
    };
  }
  const bound = boundPort(port.number, context);
  if (bound > 65535) {
    return {
      rule: "view/port-offset",
      message: `its port ${port.number} is not served: with envoy.portOffset ` +
        `${context.envoy.portOffset} the listener would be on port ${bound}`,
    };
  }
  if (kind === "tcp" && service.resolution === "DYNAMIC_DNS") {
    return {
      rule: "view/dynamic-dns-tcp",
      message: `its TCP port ${port.number} is not served: with resolution DYNAMIC_DNS a ` +
        "connection must say the name that it is for, as HTTP and TLS do",
    };
  }
  if (isLookedUp(service) && service.endpoints.some(({ address }) => address.includes("*"))) {
    return {
      rule: "view/wildcard-dns",
      message: `${service.hosts[0]} cannot be looked up: give the service endpoints, ` +
        "or resolution NONE or DYNAMIC_DNS",
    };
  }
  return undefined;
}
