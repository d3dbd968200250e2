/**
 * Resources as a bootstrap of Envoy holds them, so that `envoy --mode validate` looks at every one.
 *
 * @module
 */
import type { Json, JsonObject } from "../../../lib/wire/proto_json.ts";

/** Resources by CDS, EDS, LDS and RDS, of each type by name. */
export type Resources = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** The resources as they are: Envoy asks a control plane for endpoints and routes. */
export function asServed(resources: Resources): JsonObject {
  const { CDS: clusters = {}, LDS: listeners = {} } = resources;
  return {
    node: { id: "validated", cluster: "interop" },
    dynamic_resources: {
      ads_config: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "pinnace" } }],
      },
    },
    static_resources: {
      clusters: [CONTROL_PLANE, ...Object.values(clusters)],
      listeners: Object.values(listeners),
    },
  };
}

/** The resources with endpoints within clusters and routes within listeners, so that they are looked at as well, routes to clusters that are not there included. */
export function inline({ CDS = {}, EDS = {}, LDS = {}, RDS = {} }: Resources): JsonObject {
  const clusters = Object.values(CDS).map((cluster) => {
    if (cluster["type"] !== "EDS") return cluster;
    const { edsClusterConfig: _, ...rest } = cluster;
    return { ...rest, type: "STATIC", loadAssignment: EDS[String(cluster["name"])]! };
  });
  const listeners = Object.values(LDS).map((listener) => withRoutes(listener, RDS));
  return {
    node: { id: "validated", cluster: "interop" },
    static_resources: { clusters, listeners },
  };
}

/** Every `rds` replaced by the route configuration that it names. */
function withRoutes<T extends Json>(json: T, routes: Readonly<Record<string, JsonObject>>): T;
function withRoutes(json: Json, routes: Readonly<Record<string, JsonObject>>): Json {
  if (Array.isArray(json)) return json.map((item) => withRoutes(item, routes));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([key, value]) => {
      if (key !== "rds") return [key, withRoutes(value, routes)];
      return ["routeConfig", routes[String((value as JsonObject)["routeConfigName"])]!];
    }),
  );
}

const CONTROL_PLANE: JsonObject = {
  name: "pinnace",
  type: "STATIC",
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
  load_assignment: {
    cluster_name: "pinnace",
    endpoints: [{
      lb_endpoints: [{
        endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } },
      }],
    }],
  },
};

/** The resources with a cluster for every name that something leads to and that has none. */
export function withClusters(resources: Resources): Resources {
  const { CDS = {} } = resources;
  const missing = new Set<string>();
  for (const [, name] of JSON.stringify(resources).matchAll(/"(outbound\|\d+\|[^"]*)"/g)) {
    if (!Object.hasOwn(CDS, name!)) missing.add(name!);
  }
  const added = Array.from(missing, (name) => [name, { name, type: "STATIC" }]);
  return { ...resources, CDS: { ...CDS, ...Object.fromEntries(added) } };
}
