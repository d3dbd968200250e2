/**
 * A view as a Dubbo application (dubbo-xds 3.2.8) reads it: listeners for nothing but names of routes,
 * of routes the cluster alone, of endpoints address and port alone.
 */
import { assert } from "@std/assert";
import type { XdsView } from "../../../lib/view/view_maker.ts";
import {
  clusterLoadAssignmentCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
} from "../../../lib/wire/messages.ts";

/** Where the calls of a reference go, by its `providedBy`: `host:port` each, sorted. */
export function callsOf({ collections }: XdsView): Record<string, readonly string[]> {
  const endpoints = new Map(
    Array.from(collections.get("ClusterLoadAssignment")!, ({ name, bytes }) => {
      const { clusterName, endpoints } = clusterLoadAssignmentCodec.decode(bytes);
      assert(name === clusterName);
      return [name, endpoints.flatMap(({ lbEndpoints }) => lbEndpoints.map(addressOf))];
    }),
  );
  const calls: Record<string, readonly string[]> = {};
  const names = routeNames(collections);
  assert(names.size === 1, "of several, one that lacks a name makes it find nothing under it");
  for (const name of names) {
    const { virtualHosts } = routeConfigurationCodec.decode(
      collections.get("RouteConfiguration")!.get(name)!.bytes,
    );
    for (const { domains, routes } of virtualHosts) {
      const clusters = new Set(routes.map(({ route }) => route!.cluster ?? ""));
      const found = [...clusters].flatMap((cluster) => {
        assert(endpoints.has(cluster), `${name}: nothing is known of cluster ${cluster}`);
        return endpoints.get(cluster)!;
      });
      for (const domain of domains) {
        assert(calls[domain] === undefined, `${domain} is there twice`);
        calls[domain] = found.sort();
      }
    }
  }
  return calls;
}

/** Names of route configurations in filter chains; without any an application does not start. */
function routeNames(collections: XdsView["collections"]): Set<string> {
  const names = Array.from(collections.get("Listener")!, ({ bytes }) => {
    const [chain] = listenerCodec.decode(bytes).filterChains;
    const { typedConfig } = chain!.filters[0]!;
    assert(typedConfig!.typeUrl === httpConnectionManagerCodec.typeUrl);
    return httpConnectionManagerCodec.decode(typedConfig!.value).rds!.routeConfigName;
  });
  return new Set(names);
}

function addressOf(
  { endpoint }: {
    endpoint?: { address?: { socketAddress?: { address: string; portValue?: number } } };
  },
): string {
  const { address, portValue } = endpoint!.address!.socketAddress!;
  return `${address}:${portValue}`;
}
