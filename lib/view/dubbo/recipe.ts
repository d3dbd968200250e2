/**
 * What Dubbo applications without a proxy are served (`xds://HOST:PORT` as their registry): one listener
 * that never changes, one RouteConfiguration with a virtual host for each service, and the endpoints of
 * each. No clusters: they do not ask for any.
 *
 * @module
 */
import type { Recipe } from "../recipe.ts";
import { DubboApplication } from "./application.ts";
import { DUBBO_ROUTES, dubboListener } from "./listener.ts";
import { type DubboHost, dubboRoutes } from "./routes.ts";

/** How Dubbo applications are served. */
export const dubboRecipe: Recipe<DubboHost | undefined> = {
  standing() {
    return {
      resources: { Listener: [dubboListener()] },
      // The routes are there without any service, too.
      parts: [{ type: "RouteConfiguration", name: DUBBO_ROUTES, data: undefined }],
    };
  },

  contribute(served, _context, addresses) {
    return new DubboApplication(served, addresses).contribution();
  },

  assemble(_type, name, parts, { namespace }) {
    const hosts = parts.flatMap(({ key, data }) => data === undefined ? [] : [{ key, data }]);
    return dubboRoutes(name, hosts, namespace);
  },
};
