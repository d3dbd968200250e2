/**
 * Whether what is sent to a host stays on this machine.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

/**
 * Whether `host` (IPv6 without brackets) is loopback: `localhost`, 127.0.0.0/8 or ::1. Any other name
 * counts as off loopback, whatever it resolves to now.
 */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host);
  return isAddress && ipaddr.process(host).range() === "loopback";
}
