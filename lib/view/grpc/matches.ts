/**
 * Which calls a route takes, as gRPC clients can tell: by the path, which is `/SERVICE/METHOD`, and by
 * metadata.
 *
 * @module
 */
import type { HeaderMatcher, Partially, RouteMatch } from "../../wire/messages.ts";
import type { HttpMatch, TextMatch } from "../served_service.ts";
import { re2Pattern } from "./pattern.ts";

/** What became of a match. */
export type GrpcMatch =
  | { readonly kind: "match"; readonly match: Partially<RouteMatch> }
  /** No gRPC call is like that: the route may be left out. */
  | { readonly kind: "never" }
  /** These clients cannot tell; says what. */
  | { readonly kind: "unable"; readonly what: string };

/** Takes every call. */
export const EVERY_CALL: Partially<RouteMatch> = { prefix: "" };

/** The match in gRPC's terms, its port apart. */
export function grpcMatch({ path, method, headers }: HttpMatch): GrpcMatch {
  if (method !== undefined && !isPost(method)) return { kind: "never" };
  const matchers: Partially<HeaderMatcher>[] = [];
  for (const [name, text] of Object.entries(headers)) {
    const what = unseen(name);
    if (what !== undefined) return { kind: "unable", what };
    const matcher = textMatcher(text);
    if (matcher === undefined) return unable(`the pattern of header ${name}`, text);
    matchers.push({ name, ...matcher });
  }
  const specifier = pathSpecifier(path);
  if (specifier === undefined) return unable("the pattern of the path", path!);
  return { kind: "match", match: { ...specifier, headers: matchers } };
}

/** Every gRPC call is a POST. */
function isPost(method: TextMatch): boolean {
  switch (method.kind) {
    case "present":
      return true;
    case "exact":
      return method.value === "POST";
    case "prefix":
      return "POST".startsWith(method.value);
    case "regex": {
      const pattern = re2Pattern(method.value);
      return pattern !== undefined && new RegExp(`^(?:${pattern})$`).test("POST");
    }
  }
}

/** Says what of the header clients do not see, if so. */
function unseen(name: string): string | undefined {
  if (name.startsWith(":")) return `the header ${name}, which is not metadata`;
  if (name.endsWith("-bin")) return `the header ${name}, which is binary`;
  return undefined;
}

function unable(place: string, text: TextMatch): GrpcMatch {
  const value = text.kind === "present" ? "" : text.value;
  return { kind: "unable", what: `${place}, ${JSON.stringify(value)}: it is not of RE2's syntax` };
}

function textMatcher(text: TextMatch): Omit<Partially<HeaderMatcher>, "name"> | undefined {
  switch (text.kind) {
    case "present":
      return { presentMatch: true };
    case "exact":
      return { stringMatch: { exact: text.value } };
    case "prefix":
      // An empty one is refused; every header has it.
      return text.value === "" ? { presentMatch: true } : { stringMatch: { prefix: text.value } };
    case "regex": {
      const regex = re2Pattern(text.value);
      return regex === undefined ? undefined : { stringMatch: { safeRegex: { regex } } };
    }
  }
}

function pathSpecifier(path: TextMatch | undefined): Partially<RouteMatch> | undefined {
  switch (path?.kind) {
    case undefined:
    case "present":
      return EVERY_CALL;
    case "exact":
      return { path: path.value };
    case "prefix":
      return { prefix: path.value };
    case "regex": {
      const regex = re2Pattern(path.value);
      return regex === undefined ? undefined : { safeRegex: { regex } };
    }
  }
}
