/**
 * Endpoints of clients that take addresses alone: names among them are looked up here.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Endpoint } from "../../model/service.ts";
import type { Addresses } from "../served_service.ts";

/** Whether clients take the text as an IP address: one without a zone. */
export function isIpAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) ||
    (ipaddr.IPv6.isValid(text) && !text.includes("%"));
}

/** The endpoints, each name among them as the addresses that it has now; names are added to `lookUps`. */
export function lookedUp(
  endpoints: readonly Endpoint[],
  addresses: Addresses,
  lookUps: Set<string>,
): Endpoint[] {
  return endpoints.flatMap((endpoint) => {
    const { address } = endpoint;
    if (isIpAddress(address)) return [endpoint];
    lookUps.add(address);
    const found = addresses.get(address) ?? [];
    return found.filter(isIpAddress).map((ip) => ({ ...endpoint, address: ip }));
  });
}
