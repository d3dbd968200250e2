/**
 * The extensions of Envoy that we use, by their names.
 *
 * @module
 */
import {
  type ConfigSource,
  type DnsCacheConfig,
  filterConfigCodec,
  filterStateSetterCodec,
  grpcWebCodec,
  type HttpConnectionManager,
  httpConnectionManagerCodec,
  type HttpFilter,
  httpForwardProxyCodec,
  httpInspectorCodec,
  type NamedExtension,
  originalDstCodec,
  type Partially,
  routerCodec,
  sniForwardProxyCodec,
  type TcpProxy,
  tcpProxyCodec,
  tlsInspectorCodec,
  type VirtualHost,
} from "../../wire/messages.ts";

/** Names that are looked up as they are asked for; the same wherever it is used, as Envoy demands. */
export const DNS_CACHE: Partially<DnsCacheConfig> = {
  name: "dynamic_dns",
  dnsLookupFamily: "V4_PREFERRED",
};

/** The stream that a resource came by. Envoy waits for what it names as long as it takes, with what it had. */
export const ADS: Partially<ConfigSource> = {
  ads: {},
  resourceApiVersion: "V3",
  initialFetchTimeout: { seconds: 0 },
};

/** The last HTTP filter: sends a request where its route says. */
export const ROUTER: NamedExtension = {
  name: "envoy.filters.http.router",
  typedConfig: routerCodec.pack({}),
};

/** HTTP filter that turns gRPC-Web into gRPC. */
export const GRPC_WEB: NamedExtension = {
  name: "envoy.filters.http.grpc_web",
  typedConfig: grpcWebCodec.pack({}),
};

/** HTTP filter that looks up the hosts of requests to clusters of {@link DNS_CACHE}. */
export const HTTP_FORWARD_PROXY: NamedExtension = {
  name: "envoy.filters.http.dynamic_forward_proxy",
  typedConfig: httpForwardProxyCodec.pack({ dnsCacheConfig: DNS_CACHE }),
};

const SET_FILTER_STATE = "envoy.filters.http.set_filter_state";

/** HTTP filter by which virtual hosts set a {@link forwardPort}. An Envoy without it goes without. */
export const FORWARD_PORT: Partially<HttpFilter> = {
  name: SET_FILTER_STATE,
  typedConfig: filterStateSetterCodec.pack({}),
  isOptional: true,
};

/**
 * What a virtual host says to {@link FORWARD_PORT}: the port of {@link HTTP_FORWARD_PROXY} for requests
 * that name none. An Envoy whose filter takes no settings of a virtual host goes without.
 */
export function forwardPort(
  port: number,
): NonNullable<Partially<VirtualHost>["typedPerFilterConfig"]> {
  const config = filterStateSetterCodec.pack({
    onRequestHeaders: [{
      objectKey: "envoy.upstream.dynamic_port",
      formatString: { textFormatSource: { inlineString: String(port) } },
    }],
  });
  return { [SET_FILTER_STATE]: filterConfigCodec.pack({ config, isOptional: true }) };
}

/** Listener filter that tells where a redirected connection was meant to go. */
export const ORIGINAL_DST: NamedExtension = {
  name: "envoy.filters.listener.original_dst",
  typedConfig: originalDstCodec.pack({}),
};

/** Listener filter that tells TLS, and for which name. */
export const TLS_INSPECTOR: NamedExtension = {
  name: "envoy.filters.listener.tls_inspector",
  typedConfig: tlsInspectorCodec.pack({}),
};

/** Listener filter that tells HTTP. */
export const HTTP_INSPECTOR: NamedExtension = {
  name: "envoy.filters.listener.http_inspector",
  typedConfig: httpInspectorCodec.pack({}),
};

/** What {@link HTTP_INSPECTOR} finds, and nothing else does. */
export const PLAIN_HTTP: readonly string[] = ["http/1.0", "http/1.1", "h2c"];

/** Network filter that speaks HTTP. */
export function httpConnections(message: Partially<HttpConnectionManager>): NamedExtension {
  return {
    name: "envoy.filters.network.http_connection_manager",
    typedConfig: httpConnectionManagerCodec.pack(message),
  };
}

/** Network filter that passes bytes on. */
export function tcpProxy(message: Partially<TcpProxy>): NamedExtension {
  return { name: "envoy.filters.network.tcp_proxy", typedConfig: tcpProxyCodec.pack(message) };
}

/** Network filter that looks up the name that a TLS client asks for. */
export function sniForwardProxy(port: number): NamedExtension {
  return {
    name: "envoy.filters.network.sni_dynamic_forward_proxy",
    typedConfig: sniForwardProxyCodec.pack({ dnsCacheConfig: DNS_CACHE, portValue: port }),
  };
}
