/**
 * A VirtualService as routes: as much of it as clients that are served directly can be given. What
 * they cannot is named, and nothing is let through that the VirtualService would not.
 *
 * @module
 */
import type { VirtualService } from "../wire/messages.ts";
import type { HttpMatch, HttpRoute, TextMatch, Traffic, WeightedTarget } from "./served_service.ts";

/** What a VirtualService says, its subsets apart. */
export type VirtualRoutes = Omit<Traffic, "subsets">;

type WrittenRoute = VirtualService["http"][number];
type WrittenMatch = WrittenRoute["match"][number];
type Written = NonNullable<WrittenMatch["uri"]>;
type WrittenTarget = WrittenRoute["route"][number];

/** The routes of a VirtualService; `fullHost` completes a host's name. */
export function routesOf(
  { http, tcp, tls }: VirtualService,
  fullHost: (host: string) => string,
): VirtualRoutes {
  const unserved: string[] = [];
  const routes = http.flatMap((route, index) =>
    httpRoute(route, `http route ${index + 1}`, fullHost, unserved)
  );
  const streams = [...tcp, ...tls];
  // With one route that matches whatever comes, or the TLS route of our own making, there is no choice.
  const [first] = streams;
  if (streams.length > 1) {
    unserved.push("more than one route of TCP and TLS: only the first is served");
  }
  const targets = first === undefined ? [] : targetsOf(first.route, fullHost);
  return { http: routes, tcp: targets, unserved };
}

function httpRoute(
  route: WrittenRoute,
  what: string,
  fullHost: (host: string) => string,
  unserved: string[],
): HttpRoute[] {
  const { redirect, directResponse, delegate, rewrite, timeout } = route;
  if (redirect !== undefined || directResponse !== undefined || delegate !== undefined) {
    unserved.push(`${what} is no route to a service: what it matches is not served`);
    return [];
  }
  if (rewrite !== undefined) unserved.push(`${what}: its rewrite`);
  const to = targetsOf(route.route, fullHost);
  if (to.length === 0) return [];
  const matches: HttpMatch[] = [];
  for (const match of route.match) {
    const odd = unservedPart(match);
    if (odd === undefined) matches.push(matchOf(match));
    else unserved.push(`${what}: a match by ${odd}`);
  }
  // Without any match that can be told apart here, the route would take every request.
  if (matches.length === 0 && route.match.length > 0) return [];
  const ms = timeout === undefined
    ? undefined
    : Number(timeout.seconds) * 1000 + timeout.nanos / 1_000_000;
  return [{ matches, to, ...(ms === undefined || ms <= 0 ? {} : { timeout: ms }) }];
}

function targetsOf(
  written: readonly WrittenTarget[],
  fullHost: (host: string) => string,
): WeightedTarget[] {
  const targets = written.flatMap(({ destination, weight }) => {
    if (destination === undefined) return [];
    const { host, subset, port } = destination;
    return [{
      host: fullHost(host),
      ...(subset === "" ? {} : { subset }),
      ...(port === undefined || port.number === 0 ? {} : { port: port.number }),
      // Of one target alone the weight may be left out.
      weight: written.length === 1 ? 1 : weight,
    }];
  });
  return targets.filter(({ weight }) => weight > 0);
}

/** What of a match cannot be told apart by clients that are served directly. */
function unservedPart(match: WrittenMatch): string | undefined {
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
