/**
 * Traffic rules without what Envoy refuses: one bad match would cost a port all its routes.
 *
 * @module
 */
import { envoyPattern } from "../shared/pattern.ts";
import type { HttpMatch, HttpRoute, TextMatch, Traffic } from "../served_service.ts";

/** Traffic rules that Envoy takes. */
export interface ServableTraffic {
  readonly traffic: Traffic;
  /** What Envoy refuses of matches, each as a text for a person. */
  readonly refused: readonly string[];
}

/**
 * The rules without what Envoy refuses of matches, with expressions as every Envoy reads them. What fits
 * the rest of such a match gets an error, so that no later route takes it.
 */
export function servableTraffic(traffic: Traffic): ServableTraffic {
  const refused: string[] = [];
  const http = traffic.http.flatMap((route): HttpRoute[] => {
    const good: HttpMatch[] = [];
    const wider: HttpMatch[] = [];
    for (const match of route.matches) {
      const problem = problemOf(match);
      if (problem === undefined) good.push(servable(match));
      else {
        wider.push(servable(match));
        refused.push(problem);
      }
    }
    if (wider.length === 0) return [{ ...route, matches: good }];
    const error = { matches: wider, to: [] };
    return good.length === 0 ? [error] : [{ ...route, matches: good }, error];
  });
  return { traffic: { ...traffic, http }, refused };
}

function problemOf({ path, method, headers }: HttpMatch): string | undefined {
  const texts = [path, method, ...Object.values(headers)];
  const pattern = texts.find((text) => text?.kind === "regex" && servableText(text) === undefined);
  if (pattern !== undefined) return `the expression ${JSON.stringify(textOf(pattern))}`;
  const name = Object.keys(headers).find((header) => !isHeaderName(header));
  return name === undefined ? undefined : `the header name ${JSON.stringify(name)}`;
}

/**
 * The match as Envoy takes it. Whatever fits it fits this as well: for a bad expression any text will do,
 * a bad name is left out.
 */
function servable({ path, method, headers, ...rest }: HttpMatch): HttpMatch {
  const wanted = Object.entries(headers).filter(([name]) => isHeaderName(name))
    .map(([name, text]) => [name, servableText(text) ?? PRESENT]);
  const [goodPath, goodMethod] = [path && servableText(path), method && servableText(method)];
  return {
    ...rest,
    ...(goodPath === undefined ? {} : { path: goodPath }),
    ...(goodMethod === undefined ? {} : { method: goodMethod }),
    headers: Object.fromEntries(wanted),
  };
}

const PRESENT: TextMatch = { kind: "present" };

function servableText(text: TextMatch): TextMatch | undefined {
  if (text.kind !== "regex") return text;
  const value = envoyPattern(text.value);
  return value === undefined ? undefined : { kind: "regex", value };
}

function textOf(text: TextMatch): string {
  return text.kind === "present" ? "" : text.value;
}

/** A token of HTTP, or one of the pseudo headers. */
function isHeaderName(name: string): boolean {
  return /^:?[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}
