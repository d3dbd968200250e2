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
  if (method?.kind === "regex" && re2Pattern(method.value) === undefined) {
    return unable("method", method);
  }
  if (method !== undefined && !isPost(method)) return { kind: "never" };
  const wanted: [string, TextMatch][] = [];
  for (const [name, text] of Object.entries(headers)) {
    const what = unseen(name, text);
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

/** Headers of the connection or of gRPC itself: these libraries add them behind the routes, or show them to the routes in some only. */
const OF_TRANSPORT: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

/** Says what of the header not every client sees, if so. */
function unseen(name: string, text: TextMatch): string | undefined {
  if (name.startsWith(":")) return `header ${name}, which is not metadata`;
  if (name.endsWith("-bin")) return `header ${name}, which is binary`;
  const plain = name === "content-type" && text.kind === "exact" &&
    text.value === "application/grpc";
  if (plain || !(OF_TRANSPORT.has(name) || name.startsWith("grpc-"))) return undefined;
  return `header ${name}, which is not the program's own`;
}

function unable(place: string, text: TextMatch): Made {
  const value = text.kind === "present" ? "" : text.value;
  return {
    kind: "unable",
    what: `${place} like ${JSON.stringify(value)}, which is not RE2, or too large`,
  };
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
