/**
 * What becomes of connections to a listener: which of them are HTTP, which go by name, which by
 * address, and to which cluster.
 *
 * Envoy narrows its choice step by step and never goes back: first by address, the longest prefix
 * alone, then by name, then by protocol. So where TCP services have addresses, whatever else is at such
 * an address needs a chain of that address.
 *
 * @module
 */
import type {
  FilterChain,
  FilterChainMatch,
  HttpConnectionManager,
  NamedExtension,
  Partially,
} from "../../wire/messages.ts";
import type { ViewFinding } from "../recipe.ts";
import { settleDomains } from "../shared/domains.ts";
import type { ClusterShare } from "../shared/targets.ts";
import {
  ADS,
  FORWARD_PORT,
  GRPC_WEB,
  HTTP_FORWARD_PROXY,
  httpConnections,
  PLAIN_HTTP,
  ROUTER,
  sniForwardProxy,
  tcpProxy,
} from "./extensions.ts";
import type { HttpPart, ListenerPart, TcpPart, TlsPart } from "./listener_part.ts";
import { cidrRange, contains, type Prefix } from "./prefixes.ts";
import { routesName } from "./route.ts";

/** A part and the key of its service. */
export interface Owned<Part> {
  readonly key: string;
  readonly data: Part;
}

/** The filter chains of a listener. */
export interface Chains {
  readonly chains: readonly Partially<FilterChain>[];
  readonly findings: readonly ViewFinding[];
}

/** The filter chains of these parts, which come in the order of keys; at least one. */
export function filterChains(
  port: number,
  parts: readonly Owned<ListenerPart>[],
  namespace: string,
): Chains {
  const http = ofKind<HttpPart>(parts, "http");
  const tls = ofKind<TlsPart>(parts, "tls");
  const tcp = grantAddresses(port, ofKind<TcpPart>(parts, "tcp"));
  const names = grantNames(port, tls, namespace);
  const ranges = tcp.byAddress.flatMap(({ prefixes }) => prefixes);
  const connections = http.length === 0 ? [] : [httpFilter(port, http.map(({ data }) => data))];
  const chains = [
    ...tls.map((part, i) => tlsChain(part, names.granted[i]!, [])),
    ...httpChains(http, connections, ranges, tcp.catchAll !== undefined),
    ...tls.map((part, i) => {
      const inside = part.data.prefixes.filter((own) => ranges.some((r) => contains(r, own)));
      return inside.length === 0 ? undefined : tlsChain(part, names.granted[i]!, inside);
    }),
    ...tcp.byAddress.map(({ part, prefixes }) => tcpChain(part, prefixes)),
    ...(tcp.catchAll === undefined ? [] : [tcpChain(tcp.catchAll, [])]),
  ];
  return {
    chains: chains.filter((chain) => chain !== undefined),
    findings: [...names.findings, ...tcp.findings],
  };
}

function ofKind<Part extends ListenerPart>(
  parts: readonly Owned<ListenerPart>[],
  kind: Part["kind"],
): Owned<Part>[] {
  return parts.filter((part): part is Owned<Part> => part.data.kind === kind);
}

/** Which TCP service has which addresses of a port. */
interface Granted {
  readonly byAddress: readonly {
    readonly part: Owned<TcpPart>;
    readonly prefixes: readonly Prefix[];
  }[];
  /** Has whatever goes to no such address. */
  readonly catchAll?: Owned<TcpPart>;
  readonly findings: readonly ViewFinding[];
}

function grantAddresses(port: number, parts: readonly Owned<TcpPart>[]): Granted {
  const owners = new Map<string, string>();
  const findings: ViewFinding[] = [];
  const lose = (key: string, what: string, owner: string) => {
    findings.push({
      key,
      rule: "view/port-taken",
      message: `TCP connections to ${what} go to ${owner}; give one of the two services ` +
        "another port, or addresses of its own",
    });
  };
  const [catchAll, ...others] = parts.filter(({ data }) => data.prefixes.length === 0);
  for (const { key } of others) lose(key, `port ${port} without an address`, catchAll!.key);
  const byAddress = parts.map((part) => {
    const prefixes = part.data.prefixes.filter(({ text }) => {
      const owner = owners.get(text);
      if (owner === undefined) owners.set(text, part.key);
      else lose(part.key, `${text} on port ${port}`, owner);
      return owner === undefined;
    });
    return { part, prefixes };
  });
  return {
    byAddress: byAddress.filter(({ prefixes }) => prefixes.length > 0),
    ...(catchAll === undefined ? {} : { catchAll }),
    findings,
  };
}

/** Which TLS service has which names of a port. Hosts win over aliases. */
function grantNames(port: number, parts: readonly Owned<TlsPart>[], namespace: string) {
  const claims = parts.map(({ key, data: { hosts, aliases } }) => ({
    key,
    domains: [
      ...hosts.filter(isServerName).map((text) => ({ text, rank: 0 })),
      ...aliases.filter(isServerName).map((text) => ({ text, rank: 1 })),
    ],
  }));
  const { granted, findings } = settleDomains(claims, namespace, `port ${port} (TLS)`);
  const odd = parts.flatMap(({ key, data: { hosts } }) =>
    hosts.filter((host) => !isServerName(host)).map((host): ViewFinding => ({
      key,
      rule: "view/server-name",
      message: `TLS connections for ${host} on port ${port} are not served: ` +
        "a wildcard stands for whole labels, as in *.example.com",
    }))
  );
  return { granted, findings: [...findings, ...odd] };
}

/** Envoy refuses other wildcards than this in names of TLS. */
function isServerName(host: string): boolean {
  return !host.includes("*") || /^\*\.[^*]+$/.test(host);
}

function tlsChain(
  { data: { name, shares, forwardPort } }: Owned<TlsPart>,
  names: readonly string[],
  prefixes: readonly Prefix[],
): Partially<FilterChain> | undefined {
  if (names.length === 0) return undefined;
  const match = {
    serverNames: names.map((name) => name.toLowerCase()),
    transportProtocol: "tls",
  };
  const forward = forwardPort === undefined ? [] : [sniForwardProxy(forwardPort)];
  return chain(`tls ${name}`, prefixes, match, [...forward, proxyTo(name, shares)]);
}

/** HTTP wherever it goes, and by address where a TCP service has that, or a range that it is in. */
function httpChains(
  parts: readonly Owned<HttpPart>[],
  filters: readonly NamedExtension[],
  ranges: readonly Prefix[],
  besideTcp: boolean,
): Partially<FilterChain>[] {
  if (parts.length === 0) return [];
  const taken = new Set(ranges.map(({ text }) => text));
  const own = new Map(parts.flatMap(({ data }) => data.prefixes).map((p) => [p.text, p]));
  const shared = [...own.values()].filter(({ text }) => taken.has(text));
  const within = [...own.values()].filter((prefix) =>
    !taken.has(prefix.text) && ranges.some((range) => contains(range, prefix))
  );
  const plain = { applicationProtocols: PLAIN_HTTP };
  return [
    chain("http", [], besideTcp ? plain : {}, filters),
    ...(within.length === 0 ? [] : [chain("http by address", within, {}, filters)]),
    ...(shared.length === 0 ? [] : [chain("http beside tcp", shared, plain, filters)]),
  ];
}

function tcpChain(
  { data: { name, shares } }: Owned<TcpPart>,
  prefixes: readonly Prefix[],
): Partially<FilterChain> {
  return chain(`tcp ${name}`, prefixes, {}, [proxyTo(name, shares)]);
}

function chain(
  name: string,
  prefixes: readonly Prefix[],
  match: Partially<FilterChainMatch>,
  filters: readonly NamedExtension[],
): Partially<FilterChain> {
  const ranges = prefixes.length === 0 ? {} : { prefixRanges: prefixes.map(cidrRange) };
  return {
    name: prefixes.length === 0 ? name : `${name} at ${prefixes[0]!.text}`,
    filterChainMatch: { ...ranges, ...match },
    filters,
  };
}

function httpFilter(port: number, parts: readonly HttpPart[]): NamedExtension {
  const message: Partially<HttpConnectionManager> = {
    statPrefix: `outbound_${port}`,
    rds: { configSource: ADS, routeConfigName: routesName(port) },
    httpFilters: [
      ...(parts.some(({ grpcWeb }) => grpcWeb) ? [GRPC_WEB] : []),
      ...(parts.some(({ forwardProxy }) => forwardProxy) ? [FORWARD_PORT, HTTP_FORWARD_PROXY] : []),
      ROUTER,
    ],
    upgradeConfigs: [{ upgradeType: "websocket" }],
    // A stream may be silent for as long as its two ends like; Envoy's default is five minutes.
    streamIdleTimeout: { seconds: 0 },
    serverHeaderTransformation: "PASS_THROUGH",
  };
  return httpConnections(message);
}

function proxyTo(name: string, shares: readonly ClusterShare[]): NamedExtension {
  const [first, second] = shares;
  if (second === undefined) return tcpProxy({ statPrefix: name, cluster: first!.cluster });
  return tcpProxy({
    statPrefix: name,
    weightedClusters: {
      clusters: shares.map(({ cluster, weight }) => ({ name: cluster, weight })),
    },
  });
}
