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

/** Where a client looks for routes in a listener: in its filter chains, or where programs without a proxy do. */
export type ListenerPart = "filter chains" | "api_listener";

/** What a resource refers to; whatever is of no type that refers to another, or is no such message, to nothing. */
export function referencesOf({ typeUrl, value }: Any, part: ListenerPart): References {
  try {
    switch (typeUrl) {
      case clusterCodec.typeUrl:
        return ofCluster(value);
      case listenerCodec.typeUrl:
        return ofListener(listenerCodec.decode(value), part);
      case routeConfigurationCodec.typeUrl:
        return { Cluster: clustersOf(routeConfigurationCodec.decode(value)) };
      default:
        return {};
    }
  } catch {
    return {}; // printing it says what is wrong with it
  }
}

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

function ofListener(listener: Listener, part: ListenerPart): References {
  const { apiListener, filterChains, defaultFilterChain } = listener;
  const chains = [
    ...filterChains,
    ...(defaultFilterChain === undefined ? [] : [defaultFilterChain]),
  ];
  const configs = part === "api_listener"
    ? [apiListener?.apiListener]
    : chains.flatMap(({ filters }) => filters.map(({ typedConfig }) => typedConfig));
  const all = configs.map(ofFilter);
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
