/**
 * Routes of HTTP traffic as xDS has them.
 *
 * @module
 */
import type { ServicePort } from "../../model/service.ts";
import type {
  Duration,
  HeaderMatcher,
  Partially,
  RouteMatch,
  StringMatcher,
} from "../../wire/messages.ts";
import type { HttpMatch, TextMatch } from "../served_service.ts";
import { type ClusterShare, clusterShares, type Directed, wholeCluster } from "./targets.ts";

/** One route of one port, before it is written for a kind of client. */
export interface PortRoute {
  readonly match: Partially<RouteMatch>;
  /** Empty: none of the targets exists, so that what matches must get an error. */
  readonly shares: readonly ClusterShare[];
  /** Milliseconds; absent: none. */
  readonly timeout?: number;
}

/** The routes of one port. */
export interface PortRoutes {
  /** At least one; the first that matches counts. */
  readonly routes: readonly PortRoute[];
  /** Subsets, ports and hosts that traffic should go to and that are not there. */
  readonly missing: readonly string[];
}

/** The routes of requests that came for this port. Where no route is of this port, all goes to the service. */
export function portRoutes(directed: Directed, port: ServicePort): PortRoutes {
  const routes: PortRoute[] = [];
  const missing: string[] = [];
  for (const { matches, to, timeout } of directed.traffic.http) {
    const here = matches.filter((match) => match.port === undefined || match.port === port.number);
    if (here.length === 0 && matches.length > 0) continue;
    const found = clusterShares(directed, port, to);
    missing.push(...found.missing);
    const rest = { shares: found.shares, ...(timeout === undefined ? {} : { timeout }) };
    if (matches.length === 0) routes.push({ match: ANY, ...rest });
    else for (const match of here) routes.push({ match: routeMatch(match), ...rest });
  }
  if (routes.length > 0) return { routes, missing };
  const shares = [{ cluster: wholeCluster(directed.service, port), weight: 1 }];
  return { routes: [{ match: ANY, shares }], missing };
}

const ANY: Partially<RouteMatch> = { prefix: "/" };

/** What a request must be like. A method is matched as the header `:method`. */
export function routeMatch({ path, method, headers }: HttpMatch): Partially<RouteMatch> {
  const wanted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  if (method !== undefined) wanted.push([":method", method]);
  return {
    ...pathMatch(path),
    ...(wanted.length === 0
      ? {}
      : { headers: wanted.map(([name, text]) => headerMatch(name, text)) }),
  };
}

function pathMatch(path: TextMatch | undefined): Partially<RouteMatch> {
  switch (path?.kind) {
    case "exact":
      return { path: path.value };
    case "prefix":
      return { prefix: path.value };
    case "regex":
      return path.value === "" ? { path: "" } : { safeRegex: { regex: path.value } };
    default:
      return ANY;
  }
}

function headerMatch(name: string, text: TextMatch): Partially<HeaderMatcher> {
  const stringMatch = stringMatchOf(text);
  return stringMatch === undefined ? { name, presentMatch: true } : { name, stringMatch };
}

/** Undefined where any text will do. Prefixes and expressions that are empty are refused by some clients. */
function stringMatchOf(text: TextMatch): Partially<StringMatcher> | undefined {
  switch (text.kind) {
    case "exact":
      return { exact: text.value };
    case "prefix":
      return text.value === "" ? undefined : { prefix: text.value };
    case "regex":
      return text.value === "" ? { exact: "" } : { safeRegex: { regex: text.value } };
    case "present":
      return undefined;
  }
}

/** Milliseconds as a Duration. */
export function durationOf(ms: number): Duration {
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.floor((ms - seconds * 1000) * 1_000_000) };
}
