/**
 * A VirtualService as routes: as much of it as clients that are served directly can be given. What
 * they cannot is named, and nothing is let through that the VirtualService would not.
 *
 * @module
 */
import type { VirtualService } from "../wire/messages.ts";
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
  const sni = new Set(object.hosts.map(fullHost));
  const http = object.http.flatMap((route, index) => reader.http(route, `http route ${index + 1}`));
  const streams = [
    ...object.tcp.flatMap(({ match, route }, index) => {
      const matches = match.map((one) => ({ port: one.port, odd: oddTcp(one) }));
      return reader.stream("tcp", matches, route, `tcp route ${index + 1}`);
    }),
    ...object.tls.flatMap(({ match, route }, index) => {
      const matches = match.map((one) => ({ port: one.port, odd: oddTls(one, sni, fullHost) }));
      return reader.stream("tls", matches, route, `tls route ${index + 1}`);
    }),
  ];
  return { http, streams, unserved: reader.unserved };
}

/** A match of connections: the port (0: any), and what of it cannot be told apart. */
interface StreamMatch {
  readonly port: number;
  readonly odd: string | undefined;
}

/** Reads routes, and remembers what of them is not served. */
class RouteReader {
  readonly unserved: string[] = [];
  readonly #fullHost: (host: string) => string;

  constructor(fullHost: (host: string) => string) {
    this.#fullHost = fullHost;
  }

  http(route: WrittenRoute, what: string): HttpRoute[] {
    const { redirect, directResponse, delegate, rewrite, timeout } = route;
    const elsewhere = redirect !== undefined || directResponse !== undefined ||
      delegate !== undefined;
    if (elsewhere) {
      this.unserved.push(`${what}, which leads to no service: what it matches gets an error`);
    }
    if (rewrite !== undefined) this.unserved.push(`the rewrite of ${what}`);
    const to = elsewhere ? [] : this.#targets(route.route);
    const matches: HttpMatch[] = [];
    for (const match of route.match) {
      const odd = oddHttp(match);
      if (odd === undefined) matches.push(matchOf(match));
      else this.unserved.push(`the match of ${what} by ${odd}`);
    }
    // Without any match that can be told apart here, the route would take every request.
    if (matches.length === 0 && route.match.length > 0) return [];
    const ms = timeout === undefined
      ? 0
      : Number(timeout.seconds) * 1000 + timeout.nanos / 1_000_000;
    return [{ matches, to, ...(ms <= 0 ? {} : { timeout: ms }) }];
  }

  stream(
    kind: StreamRoute["kind"],
    matches: readonly StreamMatch[],
    route: readonly WrittenTarget[],
    what: string,
  ): StreamRoute[] {
    const to = this.#targets(route);
    if (to.length === 0) return [];
    if (matches.length === 0) return [{ kind, to }];
    return matches.flatMap(({ port, odd }) => {
      if (odd === undefined) return [{ kind, to, ...(port === 0 ? {} : { port }) }];
      this.unserved.push(`the match of ${what} by ${odd}`);
      return [];
    });
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

/** What of a match cannot be told apart by clients that are served directly. */
function oddHttp(match: WrittenMatch): string | undefined {
  const { scheme, queryParams, ignoreUriCase, withoutHeaders, sourceLabels, sourceNamespace } =
    match;
  const { gateways } = match;
  if (scheme !== undefined) return "scheme";
  if (Object.keys(queryParams).length > 0) return "queryParams";
  if (ignoreUriCase) return "ignoreUriCase";
  if (Object.keys(withoutHeaders).length > 0) return "withoutHeaders";
  if (Object.keys(sourceLabels).length > 0) return "sourceLabels";
  if (sourceNamespace !== "") return "sourceNamespace";
  if (gateways.length > 0 && !gateways.includes("mesh")) return "gateways";
  return undefined;
}

function oddTcp(match: TcpMatch): string | undefined {
  const { destinationSubnets, sourceSubnet } = match;
  if (destinationSubnets.length > 0) return "destinationSubnets";
  if (sourceSubnet !== "") return "sourceSubnet";
  return oddSource(match);
}

/** `sni`: the hosts of the VirtualService. By those a listener tells its services apart anyway. */
function oddTls(
  match: TlsMatch,
  sni: ReadonlySet<string>,
  fullHost: (host: string) => string,
): string | undefined {
  const names = new Set(match.sniHosts.map(fullHost));
  if (!names.isSupersetOf(sni)) return "sniHosts that are not all of its hosts";
  if (match.destinationSubnets.length > 0) return "destinationSubnets";
  return oddSource(match);
}

function oddSource(
  { sourceLabels, sourceNamespace, gateways }: TcpMatch | TlsMatch,
): string | undefined {
  if (Object.keys(sourceLabels).length > 0) return "sourceLabels";
  if (sourceNamespace !== "") return "sourceNamespace";
  return gateways.length > 0 && !gateways.includes("mesh") ? "gateways" : undefined;
}

function matchOf({ uri, method, authority, headers, port }: WrittenMatch): HttpMatch {
  const wanted: [string, TextMatch][] = Object.entries(headers).map(([name, text]) => [
    name.toLowerCase(),
    textOf(text),
  ]);
  if (authority !== undefined) wanted.push([":authority", textOf(authority)]);
  return {
    ...(uri === undefined ? {} : { path: textOf(uri) }),
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
