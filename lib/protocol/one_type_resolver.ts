/**
 * A resolver that knows one type alone: what a service beside ADS serves.
 *
 * @module
 */
import { XDS_TYPES, type XdsType, xdsTypeByUrl } from "../model/xds_type.ts";
import { quote } from "./quote.ts";
import type { Resolver } from "./resolve.ts";

/** Resolves this type as `inner` does; any other is refused with the service that serves it. */
export function oneTypeResolver(inner: Resolver, type: XdsType): Resolver {
  return {
    resolve(typeUrl) {
      if (typeUrl === type.typeUrl) {
        const found = inner.resolve(typeUrl);
        return found.kind === "served" ? { ...found, type: { ...found.type, alone: true } } : found;
      }
      const message = `type URL ${quote(typeUrl)} is not that of ${type.service}, which serves ` +
        `${type.typeUrl} alone; ${elsewhere(typeUrl)}`;
      return { kind: "unsupported", message };
    },
  };
}

function elsewhere(typeUrl: string): string {
  const right = xdsTypeByUrl(typeUrl);
  if (right !== undefined) return `ask ${right.service} for it, or AggregatedDiscoveryService`;
  const names = XDS_TYPES.map(({ shortName }) => shortName).join(", ");
  return `AggregatedDiscoveryService serves other types than those of ${names}`;
}
