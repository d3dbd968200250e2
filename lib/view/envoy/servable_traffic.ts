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
  /** What Envoy refuses of matches, each as a text for a person. */
  readonly refused: readonly string[];
}

/**
 * The rules without what Envoy refuses of matches. What fits the rest of such a match gets an error, so
 * that no later route takes it. The same object where Envoy takes them all.
 */
export function servableTraffic(traffic: Traffic): ServableTraffic {
  const refused: string[] = [];
  const http = traffic.http.flatMap((route): HttpRoute[] => {
    const good: HttpMatch[] = [];
    const wider: HttpMatch[] = [];
    for (const match of route.matches) {
      const problem = problemOf(match);
      if (problem === undefined) good.push(match);
      else {
        wider.push(widened(match));
        refused.push(problem);
      }
    }
    if (wider.length === 0) return [route];
    const error = { matches: wider, to: [] };
    return good.length === 0 ? [error] : [{ ...route, matches: good }, error];
  });
  return { traffic: refused.length === 0 ? traffic : { ...traffic, http }, refused };
}

function problemOf({ path, method, headers }: HttpMatch): string | undefined {
  const texts = [path, method, ...Object.values(headers)];
  const pattern = texts.find((text) => text !== undefined && isNoPattern(text));
  if (pattern !== undefined) return `the expression ${JSON.stringify(textOf(pattern))}`;
  const name = Object.keys(headers).find((header) => !isHeaderName(header));
  return name === undefined ? undefined : `the header name ${JSON.stringify(name)}`;
}

/** Whatever fits the match fits this as well: for a bad expression any text will do, a bad name is left out. */
function widened({ path, method, headers, ...rest }: HttpMatch): HttpMatch {
  const wanted = Object.entries(headers).filter(([name]) => isHeaderName(name))
    .map(([name, text]) => [name, isNoPattern(text) ? PRESENT : text]);
  return {
    ...rest,
    ...(path === undefined || isNoPattern(path) ? {} : { path }),
    ...(method === undefined || isNoPattern(method) ? {} : { method }),
    headers: Object.fromEntries(wanted),
  };
}

const PRESENT: TextMatch = { kind: "present" };

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
