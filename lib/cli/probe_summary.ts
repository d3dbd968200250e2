/**
 * xDS resources in a few words: what a person looks for first.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import {
  aggregateClusterCodec,
  clusterCodec,
  clusterLoadAssignmentCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
  tcpProxyCodec,
} from "../wire/messages.ts";
import type {
  Address,
  Any,
  Cluster,
  ClusterLoadAssignment,
  FilterChain,
  FilterChainMatch,
  HttpConnectionManager,
  Listener,
  NamedExtension,
  Route,
  RouteConfiguration,
  VirtualHost,
} from "../wire/messages.ts";

/** Of a list so many are named; of more, how many there are. */
const NAMED = 3;

/** Virtual hosts, routes and filter chains that get a line. */
const LINES = 20;

/** A resource in a few words; the texts are as the server chose them. */
export interface Summary {
  /** Beside its name. */
  readonly text: string;
  /** Below it. */
  readonly lines: readonly string[];
}

/** What a resource says, in short; of a type that is not known here its type and size. */
export function summarise(any: Any): Summary {
  const write = WRITERS.get(any.typeUrl);
  if (write === undefined) return alone(unknown(any));
  try {
    return write(any.value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return alone(`${unknown(any)}: ${why}`);
  }
}

const WRITERS: ReadonlyMap<string, (bytes: Uint8Array) => Summary> = new Map([
  [clusterCodec.typeUrl, (bytes: Uint8Array) => alone(ofCluster(clusterCodec.decode(bytes)))],
  [
    clusterLoadAssignmentCodec.typeUrl,
    (bytes: Uint8Array) => alone(ofAssignment(clusterLoadAssignmentCodec.decode(bytes))),
  ],
  [listenerCodec.typeUrl, (bytes: Uint8Array) => ofListener(listenerCodec.decode(bytes))],
  [
    routeConfigurationCodec.typeUrl,
    (bytes: Uint8Array) => ofRoutes(routeConfigurationCodec.decode(bytes)),
  ],
]);

function alone(text: string): Summary {
  return { text, lines: [] };
}

function unknown({ typeUrl, value }: Any): string {
  return `${typeUrl === "" ? "no type" : typeUrl}, ${count(value.length, "byte")}`;
}

function ofCluster(cluster: Cluster): string {
  const { type, clusterType, edsClusterConfig, loadAssignment, transportSocket, lbPolicy } =
    cluster;
  const parts = [type === undefined ? clusterType?.name ?? "STATIC" : String(type)];
  const service = edsClusterConfig?.serviceName ?? "";
  if (service !== "" && service !== cluster.name) parts.push(`endpoints by EDS ${service}`);
  const children = childrenOf(clusterType?.typedConfig);
  if (children !== undefined) parts.push(`of ${children}`);
  if (loadAssignment !== undefined) parts.push(named(addressesOf(loadAssignment)));
  if (lbPolicy !== "ROUND_ROBIN") parts.push(String(lbPolicy));
  if (transportSocket !== undefined) parts.push("TLS");
  return parts.join(", ");
}

function childrenOf(config: Any | undefined): string | undefined {
  if (config?.typeUrl !== aggregateClusterCodec.typeUrl) return undefined;
  return named(aggregateClusterCodec.decode(config.value).clusters);
}

function ofAssignment(assignment: ClusterLoadAssignment): string {
  const { endpoints: localities } = assignment;
  const all = localities.flatMap(({ lbEndpoints }) => lbEndpoints);
  if (all.length === 0) return "no endpoints";
  const parts = [`${count(all.length, "endpoint")}: ${named(addressesOf(assignment))}`];
  if (localities.length > 1) parts.push(`${localities.length} localities`);
  const priorities = new Set(localities.map(({ priority }) => priority));
  if (priorities.size > 1) parts.push(`${priorities.size} priorities`);
  for (const status of new Set(all.map(({ healthStatus }) => healthStatus))) {
    if (status === "UNKNOWN" || status === "HEALTHY") continue;
    const of = all.filter(({ healthStatus }) => healthStatus === status).length;
    parts.push(`${of} ${String(status).toLowerCase()}`);
  }
  return parts.join(", ");
}

function addressesOf({ endpoints }: ClusterLoadAssignment): string[] {
  return endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map(({ endpoint }) => addressText(endpoint?.address))
  );
}

function addressText(address: Address | undefined): string {
  const { socketAddress, pipe, envoyInternalAddress } = address ?? {};
  if (socketAddress !== undefined) {
    const { address: host, portValue, namedPort } = socketAddress;
    return namedPort === undefined ? formatHostPort(host, portValue ?? 0) : `${host}:${namedPort}`;
  }
  if (pipe !== undefined) return `unix://${pipe.path}`;
  if (envoyInternalAddress !== undefined) return "an Envoy's internal address";
  return "no address";
}

function ofRoutes({ virtualHosts }: RouteConfiguration): Summary {
  const lines = virtualHosts.flatMap(linesOf);
  return { text: count(virtualHosts.length, "virtual host"), lines: bounded(lines) };
}

function linesOf({ domains, routes }: VirtualHost): string[] {
  const whose = named(domains);
  if (routes.length === 0) return [`${whose} → no routes`];
  return routes.map((route) => `${whose}${matchText(route)} → ${targetText(route)}`);
}

function matchText({ match }: Route): string {
  if (match === undefined) return "";
  const { path, prefix, safeRegex, headers } = match;
  const texts = [
    ...(path === undefined ? [] : [path]),
    ...(prefix === undefined || prefix === "" || prefix === "/" ? [] : [`${prefix}*`]),
    ...(safeRegex === undefined ? [] : [`~${safeRegex.regex}`]),
    ...(headers.length === 0 ? [] : [`with ${named(headers.map(({ name }) => name))}`]),
  ];
  return texts.map((text) => ` ${text}`).join("");
}

function targetText({ route, nonForwardingAction }: Route): string {
  if (route === undefined) {
    return nonForwardingAction === undefined ? "no cluster" : "the program itself";
  }
  const { cluster, weightedClusters } = route;
  if (weightedClusters !== undefined) {
    return weighted(
      weightedClusters.clusters.map(({ name, weight }) => [name, weight?.value ?? 0]),
    );
  }
  return cluster ?? "no cluster";
}

function weighted(clusters: readonly (readonly [name: string, weight: number])[]): string {
  return named(clusters.map(([name, weight]) => `${name} (${weight})`));
}

function ofListener(listener: Listener): Summary {
  const { address, apiListener, filterChains, defaultFilterChain } = listener;
  if (apiListener !== undefined) {
    return alone(`API listener, ${filterText(apiListener.apiListener)}`);
  }
  const chains = [
    ...filterChains,
    ...(defaultFilterChain === undefined ? [] : [defaultFilterChain]),
  ];
  const text = `${addressText(address)}, ${count(chains.length, "filter chain")}`;
  return { text, lines: bounded(chains.map(chainText)) };
}

function chainText({ filterChainMatch, filters }: FilterChain): string {
  const last = filters.at(-1);
  const does = last === undefined ? "no filters" : filterText(last.typedConfig, last);
  return `${connectionText(filterChainMatch)} → ${does}`;
}

function connectionText(match: FilterChainMatch | undefined): string {
  if (match === undefined) return "all else";
  const { serverNames, prefixRanges, transportProtocol, applicationProtocols, destinationPort } =
    match;
  const ranges = prefixRanges.map(({ addressPrefix, prefixLen }) =>
    `${addressPrefix}/${prefixLen?.value ?? 0}`
  );
  const texts = [
    ...(serverNames.length === 0 ? [] : [`SNI ${named(serverNames)}`]),
    ...(ranges.length === 0 ? [] : [`to ${named(ranges)}`]),
    ...(destinationPort === undefined ? [] : [`to port ${destinationPort.value}`]),
    ...(transportProtocol === "" ? [] : [transportProtocol]),
    ...(applicationProtocols.length === 0 ? [] : [named(applicationProtocols)]),
  ];
  return texts.length === 0 ? "all else" : texts.join(", ");
}

/** What a network filter does with a connection. */
function filterText(config: Any | undefined, filter?: NamedExtension): string {
  if (config?.typeUrl === httpConnectionManagerCodec.typeUrl) {
    return managerText(httpConnectionManagerCodec.decode(config.value));
  }
  if (config?.typeUrl === tcpProxyCodec.typeUrl) {
    const { cluster, weightedClusters } = tcpProxyCodec.decode(config.value);
    if (weightedClusters === undefined) return cluster ?? "no cluster";
    return weighted(weightedClusters.clusters.map(({ name, weight }) => [name, weight]));
  }
  return filter?.name || (config === undefined ? "no filter" : unknown(config));
}

function managerText({ rds, routeConfig }: HttpConnectionManager): string {
  if (rds !== undefined) return `HTTP, routes ${rds.routeConfigName}`;
  if (routeConfig === undefined) return "HTTP, no routes";
  return `HTTP, ${count(routeConfig.virtualHosts.length, "virtual host")} of its own`;
}

/** The first few, and how many more there are. */
function named(texts: readonly string[]): string {
  const more = texts.length - NAMED;
  return [...texts.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function bounded(lines: readonly string[]): readonly string[] {
  const more = lines.length - LINES;
  return more <= 0 ? lines : [...lines.slice(0, LINES), `… ${more} more`];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
