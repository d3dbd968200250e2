/**
 * Resources for names that do not exist. A Dubbo application that is not answered every name it asked
 * for starts over every 3 s and for ever; an empty resource heals it.
 *
 * @module
 */
import type { Resource } from "../../model/resource.ts";
import type { XdsTypeName } from "../../model/xds_type.ts";
import { clusterLoadAssignmentCodec, routeConfigurationCodec } from "../../wire/messages.ts";
import { viewResource } from "../shared/view_resource.ts";

/**
 * A ClusterLoadAssignment without endpoints, or a RouteConfiguration without virtual hosts; equal for
 * equal names. Throws for clusters and listeners: of those a missing one says that it is gone.
 */
export function emptyResource(type: XdsTypeName, name: string): Resource {
  switch (type) {
    case "ClusterLoadAssignment":
      return viewResource(clusterLoadAssignmentCodec, name, { clusterName: name });
    case "RouteConfiguration":
      return viewResource(routeConfigurationCodec, name, { name });
    default:
      throw new Error(`a ${type} that does not exist is not answered with an empty one`);
  }
}
