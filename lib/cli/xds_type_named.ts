/**
 * xDS types as people name them.
 *
 * @module
 */
import { XDS_TYPES, type XdsType, xdsTypeByUrl } from "../model/xds_type.ts";

/** An xDS type by `EDS` (or `eds`), `ClusterLoadAssignment`, or its type URL with or without what every one begins with. */
export function xdsTypeNamed(name: string): XdsType | undefined {
  const short = name.toUpperCase();
  return XDS_TYPES.find((type) => type.shortName === short || type.name === name) ??
    xdsTypeByUrl(name) ?? xdsTypeByUrl(`type.googleapis.com/${name}`);
}
