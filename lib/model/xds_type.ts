/**
 * THE table of the xDS types that Envoys and proxyless clients are served: what each is called, in
 * which order changes of them go out, and which service serves it alone.
 *
 * @module
 */

/** Short name of an xDS type; a client view keeps its collections under it. */
export type XdsTypeName = "Cluster" | "ClusterLoadAssignment" | "Listener" | "RouteConfiguration";

/** One xDS type. */
export interface XdsType {
  readonly name: XdsTypeName;
  /** What clients ask for, and `type_url` of each resource. */
  readonly typeUrl: string;
  /** CDS, EDS, LDS or RDS, as people and logs call it. */
  readonly shortName: "CDS" | "EDS" | "LDS" | "RDS";
  /** Full name of the service that serves this type alone. */
  readonly service: string;
  /** The rest of its methods' names: `StreamClusters`, `DeltaClusters`, `FetchClusters`. */
  readonly method: string;
  /** Whether naming nothing asks for all, and a name that is left out of an answer is gone (protocols.md section 3). */
  readonly wildcard: boolean;
}

/** Every xDS type, in the order in which changes go out: CDS, EDS, LDS, RDS. */
export const XDS_TYPES: readonly XdsType[] = [
  {
    name: "Cluster",
    typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    shortName: "CDS",
    service: "envoy.service.cluster.v3.ClusterDiscoveryService",
    method: "Clusters",
    wildcard: true,
  },
  {
    name: "ClusterLoadAssignment",
    typeUrl: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    shortName: "EDS",
    service: "envoy.service.endpoint.v3.EndpointDiscoveryService",
    method: "Endpoints",
    wildcard: false,
  },
  {
    name: "Listener",
    typeUrl: "type.googleapis.com/envoy.config.listener.v3.Listener",
    shortName: "LDS",
    service: "envoy.service.listener.v3.ListenerDiscoveryService",
    method: "Listeners",
    wildcard: true,
  },
  {
    name: "RouteConfiguration",
    typeUrl: "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    shortName: "RDS",
    service: "envoy.service.route.v3.RouteDiscoveryService",
    method: "Routes",
    wildcard: false,
  },
];

const byTypeUrl = new Map(XDS_TYPES.map((type) => [type.typeUrl, type]));
const byName = new Map(XDS_TYPES.map((type) => [type.name, type]));

/** The xDS type of this type URL. */
export function xdsTypeByUrl(typeUrl: string): XdsType | undefined {
  return byTypeUrl.get(typeUrl);
}

/** The xDS type of this name. */
export function xdsType(name: XdsTypeName): XdsType {
  return byName.get(name)!;
}
