/**
 * Bootstraps of Envoy: nothing but who it is and where its control plane is.
 *
 * @module
 */
/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Who an Envoy says it is. */
export interface EnvoyNode {
  /** Default `sidecar-1`. */
  readonly id?: string;
  /** Default `interop`. */
  readonly cluster?: string;
  readonly metadata?: JsonObject;
  /** `region/zone/subzone`. */
  readonly locality?: string;
  /** Whether it says who it is in the first request of a stream only; default: in every one, as Envoy's own. */
  readonly nodeOnce?: boolean;
}

/** The bootstrap of an Envoy that asks the control plane at `ads` (`host:port`) for everything. */
export function bootstrapFor(
  options: EnvoyNode & { readonly ads: string; readonly delta: boolean },
): JsonObject {
  return {
    node: nodeOf(options),
    dynamic_resources: {
      ads_config: {
        api_type: options.delta ? "DELTA_GRPC" : "GRPC",
        transport_api_version: "V3",
        set_node_on_first_message_only: options.nodeOnce ?? false,
        grpc_services: [{ envoy_grpc: { cluster_name: "pinnace" } }],
      },
      cds_config: { ads: {}, resource_api_version: "V3" },
      lds_config: { ads: {}, resource_api_version: "V3" },
    },
    static_resources: { clusters: [controlPlane(options.ads)] },
  };
}

/** A node as `node` of a bootstrap. */
export function nodeOf({ id, cluster, metadata, locality }: EnvoyNode): JsonObject {
  const [region = "", zone = "", sub_zone = ""] = (locality ?? "").split("/");
  return {
    id: id ?? "sidecar-1",
    cluster: cluster ?? "interop",
    ...(metadata === undefined ? {} : { metadata }),
    ...(locality === undefined ? {} : { locality: { region, zone, sub_zone } }),
  };
}

function controlPlane(address: string): JsonObject {
  const { hostname, port } = new URL(`http://${address}`);
  const socket_address = { address: hostname, port_value: Number(port) };
  return {
    name: "pinnace",
    type: "STATIC",
    connect_timeout: "1s",
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: "pinnace",
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address } } }] }],
    },
  };
}
