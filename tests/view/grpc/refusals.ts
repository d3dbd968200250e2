/**
 * Why a gRPC client would refuse resources or leave part of them out: the rules of C-core, grpc-go,
 * grpc-java and grpc-js-xds together, the strictest of each.
 */
import { isIPv4, isIPv6 } from "node:net";
import {
  type Cluster,
  type ClusterLoadAssignment,
  type HttpConnectionManager,
  type LocalityLbEndpoints,
  type Route,
  routerCodec,
} from "../../../lib/wire/messages.ts";
import type { GrpcView } from "./world.ts";

const MAX = 2 ** 32 - 1;

/** One text for each thing that is wrong. */
export function refusals(view: GrpcView): string[] {
  return [
    ...each("listener", view.listeners, listenerFaults),
    ...each("routes", view.routes, ({ virtualHosts }) => [
      ...(virtualHosts.length === 0 ? ["no virtual host"] : []),
      ...virtualHosts.flatMap(({ domains }) => domains.flatMap(domainFaults)),
      ...virtualHosts.flatMap(({ routes }) => routes.flatMap((r) => routeFaults(r, view))),
    ]),
    ...each("cluster", view.clusters, (cluster) => clusterFaults(cluster, view)),
    ...each("endpoints", view.endpoints, endpointFaults),
    ...each(
      "listener",
      view.listeners,
      ({ rds }) =>
        rds !== undefined && !Object.hasOwn(view.routes, rds.routeConfigName)
          ? [`no routes ${rds.routeConfigName}`]
          : [],
    ),
  ];
}

function each<T>(
  what: string,
  all: Readonly<Record<string, T>>,
  faults: (one: T) => readonly string[],
): string[] {
  return Object.entries(all).flatMap(([name, one]) =>
    faults(one).map((fault) => `${what} ${name}: ${fault}`)
  );
}

function listenerFaults({ rds, routeConfig, httpFilters }: HttpConnectionManager): string[] {
  const faults: string[] = [];
  if (rds === undefined && routeConfig === undefined) faults.push("no route specifier");
  if (rds !== undefined && rds.configSource?.ads === undefined) faults.push("rds not by ADS");
  if (rds !== undefined && rds.routeConfigName === "") faults.push("rds without a name");
  const routers = httpFilters.map(({ typedConfig }) =>
    typedConfig?.typeUrl === routerCodec.typeUrl
  );
  if (routers.at(-1) !== true) faults.push("the last filter is no router");
  if (routers.indexOf(true) !== routers.length - 1) faults.push("a router is not the last filter");
  const names = httpFilters.map(({ name }) => name);
  if (new Set(names).size < names.length) faults.push("two filters of one name");
  return faults;
}

function domainFaults(domain: string): string[] {
  const stars = [...domain].filter((letter) => letter === "*").length;
  const inside = domain.slice(1, -1).includes("*");
  return stars > 1 || inside || domain === "" ? [`domain ${JSON.stringify(domain)}`] : [];
}

function routeFaults({ match, route }: Route, { clusters }: GrpcView): string[] {
  if (match === undefined) return ["no match"];
  if (route === undefined) return ["no route action"];
  const faults: string[] = [];
  const paths = [match.prefix, match.path, match.safeRegex?.regex].filter((p) => p !== undefined);
  if (paths.length !== 1) faults.push(`${paths.length} path specifiers`);
  for (const { name, stringMatch, presentMatch } of match.headers) {
    const texts = [stringMatch?.exact, stringMatch?.prefix, stringMatch?.safeRegex?.regex];
    const given = texts.filter((text) => text !== undefined);
    if (presentMatch === undefined && given.length !== 1) faults.push(`header ${name}`);
    if (stringMatch?.prefix === "") faults.push(`header ${name}: an empty prefix`);
    if (name.startsWith(":") || name.endsWith("-bin")) faults.push(`header ${name} is not seen`);
    if (/^(user-agent|te|host|grpc-.*)$/.test(name)) {
      faults.push(`header ${name} is not seen by all`);
    }
    if (name === "content-type" && stringMatch?.exact !== "application/grpc") {
      faults.push("content-type is not seen alike");
    }
  }
  const { cluster, weightedClusters } = route;
  const weights = weightedClusters?.clusters ?? [];
  const names = cluster === undefined ? weights.map(({ name }) => name) : [cluster];
  if (names.length === 0) faults.push("no cluster");
  if (new Set(names).size < names.length) faults.push("a cluster has two weights");
  // Clients would wait for it.
  for (const name of names) if (!Object.hasOwn(clusters, name)) faults.push(`no cluster ${name}`);
  if (weightedClusters !== undefined) {
    faults.push(...weightFaults(weights.map((w) => w.weight?.value)));
  }
  return faults;
}

function weightFaults(weights: readonly (number | undefined)[]): string[] {
  const faults = weights.filter((weight) => !isWeight(weight)).map((w) => `weight ${w}`);
  const sum = weights.reduce<number>((total, weight) => total + (weight ?? 0), 0);
  return sum > MAX || sum === 0 ? [...faults, `sum of weights ${sum}`] : faults;
}

function isWeight(weight: number | undefined): boolean {
  return weight !== undefined && Number.isInteger(weight) && weight >= 1 && weight <= MAX;
}

function clusterFaults(cluster: Cluster, view: GrpcView): string[] {
  const { name, type, edsClusterConfig, loadAssignment, lbPolicy, transportSocket } = cluster;
  const faults: string[] = [];
  if (lbPolicy !== "ROUND_ROBIN") faults.push(`lbPolicy ${lbPolicy}`);
  if (transportSocket !== undefined) faults.push("a transport socket");
  if (type === "EDS") {
    if (edsClusterConfig?.edsConfig?.ads === undefined) faults.push("endpoints not by ADS");
    const asked = edsClusterConfig?.serviceName || name;
    if (!Object.hasOwn(view.endpoints, asked)) faults.push(`no endpoints ${asked}`);
  } else if (type === "LOGICAL_DNS") {
    const endpoints = loadAssignment?.endpoints.map(({ lbEndpoints }) => lbEndpoints) ?? [];
    const address = endpoints[0]?.[0]?.endpoint?.address?.socketAddress;
    if (endpoints.length !== 1 || endpoints[0]!.length !== 1) faults.push("not one name");
    if (!address?.address || !address.portValue) faults.push("no address or port");
  } else faults.push(`type ${type}`);
  return faults;
}

function endpointFaults({ endpoints }: ClusterLoadAssignment): string[] {
  const faults: string[] = [];
  const addresses = endpoints.flatMap(({ lbEndpoints }) => lbEndpoints).map(({ endpoint }) => {
    const { address = "", portValue = 0 } = endpoint?.address?.socketAddress ?? {};
    if (!isIPv4(address) && !isIPv6(address)) faults.push(`${address} is no IP address`);
    if (portValue < 1 || portValue > 65535) faults.push(`port ${portValue}`);
    return `${address} ${portValue}`;
  });
  if (new Set(addresses).size < addresses.length) faults.push("an address twice");
  const byPriority = Map.groupBy(endpoints, ({ priority }) => priority);
  for (let priority = 0; priority < byPriority.size; priority++) {
    if (!byPriority.has(priority)) faults.push(`no priority ${priority}`);
  }
  for (const localities of byPriority.values()) faults.push(...localityFaults(localities));
  return faults;
}

/** Of localities of one priority. */
function localityFaults(localities: readonly LocalityLbEndpoints[]): string[] {
  const faults = weightFaults(localities.map((one) => one.loadBalancingWeight?.value));
  const names = localities.map(({ locality }) => JSON.stringify(locality));
  if (names.includes(undefined as unknown as string)) faults.push("a locality is unset");
  if (new Set(names).size < names.length) faults.push("a locality twice");
  for (const { lbEndpoints } of localities) {
    if (lbEndpoints.length === 0) faults.push("a locality without endpoints");
    faults.push(...weightFaults(lbEndpoints.map((one) => one.loadBalancingWeight?.value)));
  }
  return faults;
}
