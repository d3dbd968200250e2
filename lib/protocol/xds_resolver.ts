/**
 * What each kind of client is served under which type URL: Istio's kinds to everyone, the xDS types of
 * a client view to Envoys, gRPC and Dubbo, by the rules that each of them goes by (protocols.md
 * sections 3 to 6).
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL, MESH_CONFIG_TYPE_URL } from "../model/kind.ts";
import type { Resource } from "../model/resource.ts";
import type { ClientKind } from "../model/settings.ts";
import {
  XDS_TYPES,
  type XdsType,
  xdsType,
  xdsTypeByUrl,
  type XdsTypeName,
} from "../model/xds_type.ts";
import { Collection } from "../snapshot/collection.ts";
import { quote } from "./quote.ts";
import { type Resolution, type Resolver, type ServedType, typeUrlResolver } from "./resolve.ts";

/** Kinds of clients that a view is made for. */
type ViewKind = Exclude<ClientKind, "istio">;

/** How a Dubbo client gets answers that it can live with (protocols.md section 6). */
export interface DubboAnswers {
  /** The resource for a name that is asked for and does not exist, else the client starts over for ever. */
  empty(type: XdsTypeName, name: string): Resource;
  /**
   * A route configuration as it is answered at the `opening`th time that it is asked for anew, 2 or
   * more, streams before counted in: it must differ from the one before or the client hangs.
   */
  variant(routes: Resource, opening: number): Resource;
}

/** Makes the resolver of one stream; `kind` is asked whenever a type is asked for the first time. */
export type XdsResolvers = (kind: () => ClientKind) => Resolver;

/** Makes resolvers of type URLs, one for each stream, that share everything made from nothing. */
export function xdsResolvers(dubbo: DubboAnswers): XdsResolvers {
  const byKind = tables(dubbo);
  const istio = typeUrlResolver();
  let streams = 0;
  return (kind) => {
    const earlier = OPENINGS * streams++;
    return {
      resolve(typeUrl) {
        const resolution = resolve(typeUrl, kind(), istio, byKind);
        if (resolution.kind !== "served" || resolution.type.variant === undefined) {
          return resolution;
        }
        return { kind: "served", type: { ...resolution.type, earlier } };
      },
    };
  };
}

/**
 * How often a type may be asked for anew on one stream before the next stream is answered as this one
 * was: a client may break off between two answers that must differ, and come back for the second.
 */
const OPENINGS = 3;

/** What each kind of client is served, by type URL. */
type Tables = Readonly<Record<ViewKind, ReadonlyMap<string, ServedType>>>;

function tables(dubbo: DubboAnswers): Tables {
  const all = XDS_TYPES.map((type) => [type, Collection.empty(type.typeUrl)] as const);
  const table = (kind: ViewKind) =>
    new Map(
      all.map(([type, nothing]) => [type.typeUrl, served(type, kind, nothing, dubbo)] as const),
    );
  return { envoy: table("envoy"), grpc: table("grpc"), dubbo: table("dubbo") };
}

function resolve(
  typeUrl: string,
  kind: ClientKind,
  istio: Resolver,
  tables: Tables,
): Resolution {
  if (kind === "istio") {
    return xdsTypeByUrl(typeUrl) === undefined
      ? istio.resolve(typeUrl)
      : { kind: "unsupported", message: notForIstio(typeUrl) };
  }
  const type = tables[kind].get(typeUrl);
  if (type !== undefined) return { kind: "served", type };
  const resolution = istio.resolve(typeUrl);
  if (resolution.kind === "served") return resolution;
  return { kind: "unsupported", message: unsupported(typeUrl, kind) };
}

function served(
  { name, wildcard, typeUrl }: XdsType,
  kind: ViewKind,
  nothing: Collection,
  dubbo: DubboAnswers,
): ServedType {
  return {
    xds: name,
    // Missing in a view that is made for another kind of client: then nothing is known of it.
    collection: (snapshot) => snapshot.collections.get(name),
    nothing,
    wildcard: wildcard && kind !== "grpc", // a gRPC client names what it wants (cases P8)
    complete: wildcard,
    priority: XDS_TYPES.findIndex((type) => type.typeUrl === typeUrl),
    ...(name === "Cluster" ? { renews: xdsType("ClusterLoadAssignment").typeUrl } : {}),
    ...(kind === "dubbo" && !wildcard
      ? { fallback: (wanted: string) => dubbo.empty(name, wanted) }
      : {}),
    ...(kind === "dubbo" && name === "RouteConfiguration"
      ? { variant: (routes: Resource, opening: number) => dubbo.variant(routes, opening) }
      : {}),
  };
}

function notForIstio(typeUrl: string): string {
  return `type URL ${quote(typeUrl)} is not served on this stream, which counts as an istiod's: ` +
    "its node says GENERATOR=api, a rule of `peers` says `as: istio`, or a type of Istio's was " +
    "asked for first. An istiod gets Istio's own types; whoever wants clusters, endpoints, " +
    "listeners and routes needs a rule of `peers` with `as: envoy`, `as: grpc` or `as: dubbo`, " +
    "and no GENERATOR=api in its node";
}

function unsupported(typeUrl: string, kind: ViewKind): string {
  const xds = XDS_TYPES.map((type) => `${type.typeUrl} (${type.shortName})`).join(", ");
  const what = `this client counts as ${kind}: served are ${xds}, and to whoever asks for them ` +
    `Istio's types, each in a ${MCP_RESOURCE_TYPE_URL}, ${MESH_CONFIG_TYPE_URL} always empty`;
  if (typeUrl === "") return `a request must say its type_url; ${what}`;
  return `type URL ${quote(typeUrl)} is not served here; ${what}`;
}
