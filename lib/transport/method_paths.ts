/**
 * The methods that sources of configuration serve, by the paths that HTTP/2 knows them by.
 *
 * @module
 */
import type { XdsType } from "../model/xds_type.ts";
import type { AdsVariant } from "../protocol/ads_client.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";

/** The methods of ADS, by variant. */
export const ADS_PATHS: Readonly<Record<AdsVariant, string>> = {
  sotw: `${ADS}/StreamAggregatedResources`,
  delta: `${ADS}/DeltaAggregatedResources`,
};

/** The method that a source of MCP serves. */
export const RESOURCE_SOURCE_PATH = "/istio.mcp.v1alpha1.ResourceSource/EstablishResourceStream";

/** The methods of the service that serves one xDS type alone. */
export function xdsPaths(
  { service, method }: XdsType,
): Readonly<Record<"stream" | "delta" | "fetch", string>> {
  return {
    stream: `/${service}/Stream${method}`,
    delta: `/${service}/Delta${method}`,
    fetch: `/${service}/Fetch${method}`,
  };
}
