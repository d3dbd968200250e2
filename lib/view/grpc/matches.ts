/**
 * Which calls a route takes, as gRPC clients can tell: by the path, which is `/SERVICE/METHOD`, and by
 * metadata.
 *
 * @module
 */
import type { HttpMatch, HttpRoute, TextMatch } from "../served_service.ts";
import { fitsPattern, re2Pattern } from "../shared/pattern.ts";

/** Routes in gRPC's terms. */
export interface GrpcHttpRoutes {
  readonly http: readonly HttpRoute[];
  /** What these clients cannot tell calls apart by, each as a text for a person. */
  readonly unable: readonly string[];
}

/** What became of a match. */
type Made =
  | { readonly kind: "match"; readonly match: HttpMatch }
  /** No gRPC call is like that. */
  | { readonly kind: "never" }
  | { readonly kind: "unable"; readonly what: string };

/** The routes without what no gRPC call fits, and without what these clients cannot tell: no call goes where it should not. */
export function grpcHttpRoutes(http: readonly HttpRoute[]): GrpcHttpRoutes {
  const unable: string[] = [];
  const routes = http.flatMap((route): HttpRoute[] => {
    if (route.matches.length === 0) return [route];
    const matches = route.matches.flatMap((wanted): HttpMatch[] => {
      const made = grpcMatch(wanted);
      if (made.kind === "unable") unable.push(made.what);
      return made.kind === "match" ? [made.match] : [];
    });
    return matches.length === 0 ? [] : [{ ...route, matches }];
  });
  return { http: routes, unable };
}

function grpcMatch({ path, method, headers, port }: HttpMatch): Made {
  if (method !== undefined && !isPost(method)) return { kind: "never" };
  const wanted: [string, TextMatch][] = [];
  for (const [name, text] of Object.entries(headers)) {
    const what = unseen(name);
    if (what !== undefined) return { kind: "unable", what };
    const taken = textFor(text);
    if (taken === undefined) return unable(`header ${name}`, text);
    wanted.push([name, taken]);
  }
  const taken = path && textFor(path);
  if (path !== undefined && taken === undefined) return unable("path", path);
  return {
    kind: "match",
    match: {
      ...(taken === undefined ? {} : { path: taken }),
      headers: Object.fromEntries(wanted),
      ...(port === undefined ? {} : { port }),
    },
  };
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
      return pattern !== undefined && fitsPattern("POST", pattern);
    }
  }
}

/** Says what of the header clients do not see, if so. */
function unseen(name: string): string | undefined {
  if (name.startsWith(":")) return `header ${name}, which is not metadata`;
  if (name.endsWith("-bin")) return `header ${name}, which is binary`;
  return undefined;
}

function unable(place: string, text: TextMatch): Made {
  const value = text.kind === "present" ? "" : text.value;
  return { kind: "unable", what: `${place} like ${JSON.stringify(value)}, which is not RE2` };
}

/** The text as every client takes it; undefined where none does. */
function textFor(text: TextMatch): TextMatch | undefined {
  switch (text.kind) {
    case "present":
    case "exact":
      return text;
    case "prefix":
      // An empty one is refused; whatever is there begins with it.
      return text.value === "" ? { kind: "present" } : text;
    case "regex": {
      const value = re2Pattern(text.value);
      return value === undefined ? undefined : { kind: "regex", value };
    }
  }
}
