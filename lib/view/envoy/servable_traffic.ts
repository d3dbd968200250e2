/**
 * Traffic rules without what Envoy refuses: one bad match would cost a port all its routes.
 *
 * @module
 */
import { re2Pattern } from "../shared/pattern.ts";
import type { HttpMatch, HttpRoute, TextMatch, Traffic } from "../served_service.ts";

/** Traffic rules that Envoy takes. */
export interface ServableTraffic {
  readonly traffic: Traffic;
  /** Matches that were left out, each as a text for a person. */
  readonly refused: readonly string[];
}

/** The rules without matches that Envoy refuses, and without routes of which no match is left. The same object where it takes them all. */
export function servableTraffic(traffic: Traffic): ServableTraffic {
  const refused: string[] = [];
  const http: HttpRoute[] = [];
  for (const route of traffic.http) {
    const bad = new Map(route.matches.map((match) => [match, problemOf(match)]));
    const matches = route.matches.filter((match) => bad.get(match) === undefined);
    for (const problem of bad.values()) if (problem !== undefined) refused.push(problem);
    if (matches.length === route.matches.length) http.push(route);
    else if (matches.length > 0) http.push({ ...route, matches });
  }
  return { traffic: refused.length === 0 ? traffic : { ...traffic, http }, refused };
}

function problemOf({ path, method, headers }: HttpMatch): string | undefined {
  const texts = [path, method, ...Object.values(headers)];
  const pattern = texts.find((text) => text !== undefined && isNoPattern(text));
  if (pattern !== undefined) return `the expression ${JSON.stringify(textOf(pattern))}`;
  const name = Object.keys(headers).find((header) => !isHeaderName(header));
  return name === undefined ? undefined : `the header name ${JSON.stringify(name)}`;
}

function isNoPattern(text: TextMatch): boolean {
  return text.kind === "regex" && re2Pattern(text.value) === undefined;
}

function textOf(text: TextMatch): string {
  return text.kind === "present" ? "" : text.value;
}

/** A token of HTTP, or one of the pseudo headers. */
function isHeaderName(name: string): boolean {
  return /^:?[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}
