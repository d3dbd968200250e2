/**
 * A VirtualService as routes: as much of it as clients that are served directly can be given. What
 * they cannot is named, and nothing is let through that the VirtualService would not: what a match
 * that cannot be told apart may be of gets an error, and no later route takes it.
 *
 * @module
 */
import type { Duration, VirtualService } from "../wire/messages.ts";
import type {
  HttpMatch,
  HttpRoute,
  StreamRoute,
  TextMatch,
  Traffic,
  WeightedTarget,
} from "./served_service.ts";

/** What a VirtualService says, its subsets apart. */
export type VirtualRoutes = Omit<Traffic, "subsets">;

type WrittenRoute = VirtualService["http"][number];
type WrittenMatch = WrittenRoute["match"][number];
type Written = NonNullable<WrittenMatch["uri"]>;
type WrittenTarget = WrittenRoute["route"][number];
type TcpMatch = VirtualService["tcp"][number]["match"][number];
type TlsMatch = VirtualService["tls"][number]["match"][number];

/** The routes of a VirtualService; `fullHost` completes a host's name. */
export function routesOf(
  object: VirtualService,
  fullHost: (host: string) => string,
): VirtualRoutes {
  const reader = new RouteReader(fullHost);
  const hosts = object.hosts.map(fullHost);
  const http = object.http.flatMap((route, index) => reader.http(route, `http route ${index + 1}`));
  const streams = [
    ...object.tcp.flatMap(({ match, route }, index) => {
      const matches = match.filter(isOfMesh).map((one) => ({ port: one.port, odd: oddTcp(one) }));
      return match.length > 0 && matches.length === 0
        ? []
        : reader.stream("tcp", matches, route, `tcp route ${index + 1}`);
    }),
    ...object.tls.flatMap(({ match, route }, index) => {
      const matches = match.filter((one) => isOfMesh(one) && isOf(one, hosts, fullHost))
        .map((one) => ({ port: one.port, odd: oddTls(one, hosts, fullHost) }));
      return match.length > 0 && matches.length === 0
        ? []
        : reader.stream("tls", matches, route, `tls route ${index + 1}`);
    }),
  ];
  return { http, streams, unserved: reader.unserved };
}

/** A match of connections: the port (0: any), and what of it cannot be told apart. */
interface StreamMatch {
  readonly port: number;
  readonly odd: string | undefined;
}

/** Longest timeout of a route, 24 hours, in milliseconds. Clients refuse what does not fit into their clocks. */
const MAX_TIMEOUT = 24 * 60 * 60 * 1000;

/** Reads routes, and remembers what of them is not served. */
class RouteReader {
  readonly unserved: string[] = [];
  readonly #fullHost: (host: string) => string;

  constructor(fullHost: (host: string) => string) {
    this.#fullHost = fullHost;
  }

  http(route: WrittenRoute, what: string): HttpRoute[] {
    const written = route.match.filter(isOfMesh);
    if (written.length === 0 && route.match.length > 0) return [];
    const { redirect, directResponse, delegate } = route;
    const elsewhere = redirect !== undefined || directResponse !== undefined ||
      delegate !== undefined;
    if (elsewhere) {
      this.unserved.push(`${what}, which leads to no service: what it matches gets an error`);
    }
    const undone = undoneOf(route);
    if (undone.length > 0) this.unserved.push(`the ${undone.join(", ")} of ${what}`);
    const to = elsewhere ? [] : this.#targets(route.route);
    const matches: HttpMatch[] = [];
    const wider: HttpMatch[] = [];
    for (const match of written) {
      const odd = oddHttp(match);
      if (odd.length === 0) matches.push(matchOf(match));
      else {
        wider.push(matchOf(match));
        this.unserved.push(
          `the match of ${what} by ${
            odd.join(", ")
          }: what fits the rest of the match gets an error`,
        );
      }
    }
    const timeout = this.#timeout(route.timeout, what);
    return [
      ...(matches.length === 0 && wider.length > 0
        ? []
        : [{ matches, to, ...(timeout === undefined ? {} : { timeout }) }]),
      ...(wider.length === 0 ? [] : [{ matches: wider, to: [] }]),
    ];
  }

  stream(
    kind: StreamRoute["kind"],
    matches: readonly StreamMatch[],
    route: readonly WrittenTarget[],
    what: string,
  ): StreamRoute[] {
    const to = this.#targets(route);
    if (matches.length === 0) return [{ kind, to }];
    const made = (targets: StreamRoute["to"], port: number) => ({
      kind,
      to: targets,
      ...(port === 0 ? {} : { port }),
    });
    const odd = matches.filter((one) => one.odd !== undefined);
    for (const { odd: by } of odd) {
      this.unserved.push(
        `the match of ${what} by ${by}: connections to its port, or to any if it has none, fail ` +
          "where no route before it takes them",
      );
    }
    return [
      ...matches.filter((one) => one.odd === undefined).map(({ port }) => made(to, port)),
      ...odd.map(({ port }) => made([], port)),
    ];
  }

  /** Milliseconds, 1 or more; undefined: none. */
  #timeout(written: Duration | undefined, what: string): number | undefined {
    if (written === undefined) return undefined;
    const ms = Number(written.seconds) * 1000 + written.nanos / 1_000_000;
    if (!(ms > 0)) return undefined;
    if (ms > MAX_TIMEOUT) {
      this.unserved.push(`a timeout of more than 24 hours: that of ${what} is 24 hours to them`);
    }
    // To Envoy less than a millisecond would be none.
    return Math.min(Math.max(ms, 1), MAX_TIMEOUT);
  }

  #targets(written: readonly WrittenTarget[]): WeightedTarget[] {
    const targets = written.flatMap(({ destination, weight }) => {
      if (destination === undefined) return [];
      const { host, subset, port } = destination;
      return [{
        host: this.#fullHost(host),
        ...(subset === "" ? {} : { subset }),
        ...(port === undefined || port.number === 0 ? {} : { port: port.number }),
        // Of one target alone the weight may be left out.
        weight: written.length === 1 ? 1 : weight,
      }];
    });
    return targets.filter(({ weight }) => weight > 0);
  }
}

/** What a route does to requests on their way, none of which these clients do. */
function undoneOf(route: WrittenRoute): string[] {
  const { rewrite, retries, fault, mirror, mirrors, corsPolicy, headers } = route;
  const given = { rewrite, retries, fault, mirror, corsPolicy, headers };
  const names = Object.entries(given).filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  // The share that is mirrored says nothing without either of them.
  if (mirrors.length > 0) names.push("mirrors");
  if (route.route.some((to) => to.headers !== undefined)) names.push("headers of destinations");
  return names;
}

/** What of a match cannot be told apart by clients that are served directly. */
function oddHttp(match: WrittenMatch): string[] {
  const { scheme, queryParams, withoutHeaders, sourceLabels, sourceNamespace } = match;
  const odd = {
    scheme: scheme !== undefined,
    queryParams: Object.keys(queryParams).length > 0,
    ignoreUriCase: anyCase(match),
    withoutHeaders: Object.keys(withoutHeaders).length > 0,
    sourceLabels: Object.keys(sourceLabels).length > 0,
    sourceNamespace: sourceNamespace !== "",
  };
  return Object.entries(odd).filter(([, is]) => is).map(([name]) => name);
}

/** Whether letters of the path may be of either case. Of expressions that is never so. */
function anyCase({ ignoreUriCase, uri }: WrittenMatch): boolean {
  return ignoreUriCase && (uri?.exact !== undefined || uri?.prefix !== undefined);
}

function oddTcp(match: TcpMatch): string | undefined {
  const { destinationSubnets, sourceSubnet } = match;
  if (destinationSubnets.length > 0) return "destinationSubnets";
  if (sourceSubnet !== "") return "sourceSubnet";
  return oddSource(match);
}

/** `hosts`: those of the VirtualService. By those a listener tells its services apart anyway. */
function oddTls(
  match: TlsMatch,
  hosts: readonly string[],
  fullHost: (host: string) => string,
): string | undefined {
  const names = match.sniHosts.map(fullHost);
  if (!hosts.every((host) => names.some((name) => covers(name, host)))) {
    return "sniHosts that are not all of its hosts";
  }
  if (match.destinationSubnets.length > 0) return "destinationSubnets";
  return oddSource(match);
}

/** Whether the server names that it is for may be among these hosts; without any it is not known. */
function isOf(
  { sniHosts }: TlsMatch,
  hosts: readonly string[],
  fullHost: (host: string) => string,
): boolean {
  const names = sniHosts.map(fullHost);
  return names.length === 0 ||
    hosts.some((host) => names.some((name) => covers(name, host) || covers(host, name)));
}

function covers(wildcard: string, host: string): boolean {
  return wildcard === host || (wildcard.startsWith("*") && host.endsWith(wildcard.slice(1)));
}

function oddSource({ sourceLabels, sourceNamespace }: TcpMatch | TlsMatch): string | undefined {
  if (Object.keys(sourceLabels).length > 0) return "sourceLabels";
  return sourceNamespace === "" ? undefined : "sourceNamespace";
}

/** A match for gateways alone is never that of these clients. */
function isOfMesh({ gateways }: { readonly gateways: readonly string[] }): boolean {
  return gateways.length === 0 || gateways.includes("mesh");
}

/** As much of the match as can be told apart: what fits it fits this as well. */
function matchOf(match: WrittenMatch): HttpMatch {
  const { uri, method, authority, headers, port } = match;
  const wanted: [string, TextMatch][] = Object.entries(headers).map(([name, text]) => [
    name.toLowerCase(),
    textOf(text),
  ]);
  if (authority !== undefined) wanted.push([":authority", textOf(authority)]);
  return {
    ...(uri === undefined || anyCase(match) ? {} : { path: textOf(uri) }),
    ...(method === undefined ? {} : { method: textOf(method) }),
    headers: Object.fromEntries(wanted),
    ...(port === 0 ? {} : { port }),
  };
}

/** Without any text it asks that there is one. */
function textOf({ exact, prefix, regex }: Written): TextMatch {
  if (exact !== undefined) return { kind: "exact", value: exact };
  if (prefix !== undefined) return { kind: "prefix", value: prefix };
  if (regex !== undefined) return { kind: "regex", value: regex };
  return { kind: "present" };
}
