/**
 * Which clusters traffic to a service goes to.
 *
 * @module
 */
import type { Service, ServicePort } from "../../model/service.ts";
import type { ViewFinding } from "../recipe.ts";
import type { Traffic, WeightedTarget } from "../served_service.ts";
import { clusterName, protocolClass } from "./names.ts";

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
  /** Own subsets and ports that traffic should go to and that are not there, each as a text for a person. */
  readonly missing: readonly string[];
}

/** The service and how traffic to it is directed. */
export interface Directed {
  readonly service: Service;
  readonly traffic: Traffic;
  /** Where the service is one of several destinations: the hosts of all, and whether each has clusters. */
  readonly siblings?: ReadonlyMap<string, boolean>;
}

const MAX_WEIGHT = 2 ** 32 - 1;

/** The cluster of all endpoints of a port of the service. */
export function wholeCluster(service: Service, port: ServicePort): string {
  return clusterName(service.hosts[0]!, port.number);
}

/**
 * The clusters of these targets, of traffic that came for this port. Whether a target of another
 * service exists cannot be told here; clients answer what would go to one that does not with an error.
 */
export function clusterShares(
  directed: Directed,
  port: ServicePort,
  targets: readonly WeightedTarget[],
): Shares {
  const missing: string[] = [];
  const weights = new Map<string, number>();
  for (const target of targets) {
    const { cluster, lack } = clusterOf(directed, port, target);
    if (lack === undefined) weights.set(cluster, (weights.get(cluster) ?? 0) + target.weight);
    else missing.push(lack);
  }
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  const factor = sum > MAX_WEIGHT ? (MAX_WEIGHT - weights.size) / sum : 1;
  const shares = Array.from(weights, ([cluster, weight]) => ({
    cluster,
    weight: Math.max(1, Math.floor(weight * factor)),
  }));
  return { shares, missing };
}

function clusterOf(
  { service, traffic, siblings }: Directed,
  port: ServicePort,
  { host, subset, port: number = port.number }: WeightedTarget,
): { cluster: string; lack?: string } {
  const own = service.hosts.includes(host);
  const cluster = clusterName(own ? service.hosts[0]! : host, number, subset);
  const sibling = siblings?.get(host);
  if (!own && sibling === undefined) return { cluster };
  if (sibling === false) return { cluster, lack: `host ${host}` };
  if (!service.ports.some((one) => one.number === number)) {
    return { cluster, lack: `port ${number}` };
  }
  if (subset !== undefined && !traffic.subsets.has(subset)) {
    return { cluster, lack: `subset ${subset}` };
  }
  return { cluster };
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
    message: `traffic should go to its ${lacks.join(", ")}, which it does not have; ` +
      "the other targets share it, and where there are none it is refused",
  }];
}
