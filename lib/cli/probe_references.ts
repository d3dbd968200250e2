/**
 * What xDS resources refer to: by these names the clients of each kind find their way from one type to
 * the next.
 *
 * @module
 */
import type { XdsTypeName } from "../model/xds_type.ts";
import {
  aggregateClusterCodec,
  clusterCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
  tcpProxyCodec,
} from "../wire/messages.ts";
import type { Any, HttpConnectionManager, Listener, RouteConfiguration } from "../wire/messages.ts";

/** Names of resources, by their type. */
export type References = { readonly [Type in XdsTypeName]?: readonly string[] };

/**
 * What a resource refers to. The listeners of programs without a proxy are read, and those of proxies;
 * whatever is of no type that refers to another, or is no such message, refers to nothing.
 */
export function referencesOf(any: Any): References {
  const read = READERS.get(any.typeUrl);
  if (read === undefined) return {};
  try {
    return read(any.value);
  } catch {
    return {}; // printing it says what is wrong with it
  }
}

const READERS: ReadonlyMap<string, (bytes: Uint8Array) => References> = new Map([
  [clusterCodec.typeUrl, ofCluster],
  [listenerCodec.typeUrl, (bytes: Uint8Array) => ofListener(listenerCodec.decode(bytes))],
  [
    routeConfigurationCodec.typeUrl,
    (bytes: Uint8Array) => ({ Cluster: clustersOf(routeConfigurationCodec.decode(bytes)) }),
  ],
]);

function ofCluster(bytes: Uint8Array): References {
  const { name, type, clusterType, edsClusterConfig } = clusterCodec.decode(bytes);
  if (type === "EDS") {
    const service = edsClusterConfig?.serviceName ?? "";
    return { ClusterLoadAssignment: [service === "" ? name : service] };
  }
  const config = clusterType?.typedConfig;
  if (config?.typeUrl !== aggregateClusterCodec.typeUrl) return {};
  return { Cluster: aggregateClusterCodec.decode(config.value).clusters };
}

function ofListener({ apiListener, filterChains, defaultFilterChain }: Listener): References {
  const chains = [
    ...filterChains,
    ...(defaultFilterChain === undefined ? [] : [defaultFilterChain]),
  ];
  const filters = chains.flatMap((chain) => chain.filters.map(({ typedConfig }) => typedConfig));
  const all = [apiListener?.apiListener, ...filters].map(ofFilter);
  return {
    RouteConfiguration: all.flatMap(({ RouteConfiguration = [] }) => RouteConfiguration),
    Cluster: all.flatMap(({ Cluster = [] }) => Cluster),
  };
}

function ofFilter(config: Any | undefined): References {
  if (config?.typeUrl === httpConnectionManagerCodec.typeUrl) {
    return ofManager(httpConnectionManagerCodec.decode(config.value));
  }
  if (config?.typeUrl !== tcpProxyCodec.typeUrl) return {};
  const { cluster, weightedClusters } = tcpProxyCodec.decode(config.value);
  const weighted = weightedClusters?.clusters.map(({ name }) => name) ?? [];
  return { Cluster: cluster === undefined ? weighted : [cluster] };
}

function ofManager({ rds, routeConfig }: HttpConnectionManager): References {
  if (rds !== undefined) return { RouteConfiguration: [rds.routeConfigName] };
  return routeConfig === undefined ? {} : { Cluster: clustersOf(routeConfig) };
}

function clustersOf({ virtualHosts }: RouteConfiguration): string[] {
  return virtualHosts.flatMap(({ routes }) =>
    routes.flatMap(({ route }) => {
      const { cluster, weightedClusters } = route ?? {};
      return weightedClusters?.clusters.map(({ name }) => name) ??
        (cluster === undefined ? [] : [cluster]);
    })
  );
}
