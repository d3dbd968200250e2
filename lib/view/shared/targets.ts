/**
 * Which clusters traffic to a service goes to.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import type { ViewFinding } from "../recipe.ts";
import type { Traffic, WeightedTarget } from "../served_service.ts";
import { clusterName, protocolClass } from "./names.ts";
import { isHidden } from "./served_parts.ts";

/** A share of the traffic. */
export interface ClusterShare {
  /** Name of the cluster. */
  readonly cluster: string;
  /** A whole number, 1 or more; all together stay below 2^32. */
  readonly weight: number;
}

/** Where traffic goes. */
export interface Shares {
  /** Each cluster once; empty: none of the targets exists. */
  readonly shares: readonly ClusterShare[];
  /** Subsets, ports and hosts that traffic should go to and that are not there, each as a text for a person. */
  readonly missing: readonly string[];
}

/** The service and how traffic to it is directed. */
export interface Directed {
  readonly service: Service;
  readonly traffic: Traffic;
  /** What else traffic may go to, by host; absent: nothing. */
  readonly others?: ReadonlyMap<string, Destination>;
}

/** A service that traffic is sent to, as the clients of one kind are served it. */
export interface Destination {
  /** Its clusters are called by the first of its hosts. `ports` are those that have clusters. */
  readonly service: Service;
  readonly subsets: Traffic["subsets"];
  /** Port that is meant where none is said; absent: the one that was called. */
  readonly usualPort?: number;
}

/**
 * Where traffic of a service may go, by host: `own` is what the service is served as, and `served` tells
 * the same of another service. Both leave out ports without clusters.
 */
export function destinationsByHost(
  traffic: Traffic,
  own: readonly Service[],
  served: (service: Service) => readonly Service[],
): ReadonlyMap<string, Destination> {
  const found = new Map<string, Destination>();
  for (const service of own) {
    for (const host of service.hosts) found.set(host, { service, subsets: traffic.subsets });
  }
  for (const [host, { service: other, subsets }] of traffic.elsewhere ?? []) {
    if (isHidden(other)) continue;
    const service = served(other).find(({ hosts }) => hosts.includes(host));
    if (service === undefined) continue;
    const [only, ...more] = other.ports;
    const usual = only === undefined || more.length > 0 ? {} : { usualPort: only.number };
    found.set(host, { service, subsets, ...usual });
  }
  return found;
}

const MAX_WEIGHT = 2 ** 32 - 1;

/** The cluster of all endpoints of a port of the service. */
export function wholeCluster(service: Service, port: ServicePort): string {
  return clusterName(service.hosts[0]!, port.number);
}

/** The clusters of these targets, of traffic that came for this port. */
export function clusterShares(
  directed: Directed,
  port: ServicePort,
  targets: readonly WeightedTarget[],
): Shares {
  const missing: string[] = [];
  const weights = new Map<string, number>();
  for (const target of targets) {
    const found = clusterOf(directed, port, target);
    if ("lack" in found) missing.push(found.lack);
    else weights.set(found.cluster, (weights.get(found.cluster) ?? 0) + target.weight);
  }
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  const factor = sum > MAX_WEIGHT ? (MAX_WEIGHT - weights.size) / sum : 1;
  const shares = Array.from(weights, ([cluster, weight]) => ({
    cluster,
    weight: Math.max(1, Math.floor(weight * factor)),
  }));
  return { shares, missing };
}

/** The name of a cluster, or what there would have to be for it. */
type Found =
  | { readonly cluster: string }
  | { readonly lack: string };

function clusterOf(
  { service, traffic, others }: Directed,
  called: ServicePort,
  { host, subset, port }: WeightedTarget,
): Found {
  const own = service.hosts.includes(host);
  const there: Destination | undefined = own
    ? { service, subsets: traffic.subsets }
    : others?.get(host);
  if (there === undefined || there.service.ports.length === 0) return { lack: `host ${host}` };
  const lacks = (what: string) => ({ lack: own ? `its ${what}` : `${what} of ${host}` });
  const number = port ?? there.usualPort ?? called.number;
  if (!there.service.ports.some((one) => one.number === number)) return lacks(`port ${number}`);
  if (subset !== undefined && !there.subsets.has(subset)) return lacks(`subset ${subset}`);
  return { cluster: clusterName(there.service.hosts[0]!, number, subset) };
}

/** Targets of connections to a port that is not HTTP, none where they are not to reach the service. Undefined: all goes to the service. */
export function streamTargets(
  traffic: Traffic,
  port: ServicePort,
): readonly WeightedTarget[] | undefined {
  const kind = protocolClass(port) === "tls" ? "tls" : "tcp";
  const route = traffic.streams.find((one) =>
    one.kind === kind && (one.port === undefined || one.port === port.number)
  );
  return route?.to;
}

/** A finding for what traffic should go to and cannot. */
export function missingTargets(key: string, missing: Iterable<string>): ViewFinding[] {
  const lacks = [...new Set(missing)];
  if (lacks.length === 0) return [];
  return [{
    key,
    rule: "view/missing-target",
    message: `traffic should go to ${lacks.join(", ")}, which ` +
      `${lacks.length === 1 ? "is" : "are"} not there; ` +
      "the other targets share it, and where there are none it is refused",
  }];
}
