/**
 * The one Listener of Dubbo applications, and the RouteConfiguration that it names.
 *
 * They take nothing from listeners but the names of route configurations, and a listener that comes,
 * goes or changes while they run stops them from taking anything more (their reading thread waits for
 * an answer that only it could read). One listener that never changes rules that out; it is there
 * without any service, too, since without one they do not start.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import { httpConnectionManagerCodec, listenerCodec, routerCodec } from "../../wire/messages.ts";
import { viewResource } from "../shared/view_resource.ts";

/** Name of the listener and of the route configuration with every service. */
export const DUBBO_ROUTES = "dubbo";

/** The listener. Nobody binds to it. */
export function dubboListener(): Resource {
  const manager = httpConnectionManagerCodec.pack({
    statPrefix: DUBBO_ROUTES,
    rds: { routeConfigName: DUBBO_ROUTES, configSource: { ads: {}, resourceApiVersion: "V3" } },
    httpFilters: [{ name: "envoy.filters.http.router", typedConfig: routerCodec.pack({}) }],
  });
  return viewResource(listenerCodec, DUBBO_ROUTES, {
    name: DUBBO_ROUTES,
    address: { socketAddress: { address: "127.0.0.1", portValue: 0 } },
    bindToPort: { value: false },
    filterChains: [{
      filters: [{
        name: "envoy.filters.network.http_connection_manager",
        typedConfig: manager,
      }],
    }],
  });
}
