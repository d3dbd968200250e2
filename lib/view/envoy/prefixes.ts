/**
 * Ranges of IP addresses, in one form whichever way they were written.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { CidrRange } from "../../wire/messages.ts";

/** A range. */
export interface Prefix {
  /** `10.0.0.0/8`: the same for the same range. */
  readonly text: string;
  readonly address: string;
  readonly bits: number;
}

/** The ranges of these addresses, each once; what is no address is left out. */
export function prefixesOf(addresses: readonly string[]): readonly Prefix[] {
  const prefixes = new Map<string, Prefix>();
  for (const address of addresses) {
    const prefix = prefixOf(address);
    if (prefix !== undefined) prefixes.set(prefix.text, prefix);
  }
  return [...prefixes.values()];
}

function prefixOf(text: string): Prefix | undefined {
  const slash = text.indexOf("/");
  const host = slash < 0 ? text : text.slice(0, slash);
  if (!ipaddr.isValid(host) || host.includes("%")) return undefined;
  const parsed = ipaddr.parse(host);
  const all = parsed.kind() === "ipv4" ? 32 : 128;
  const bits = slash < 0 ? all : Number(text.slice(slash + 1));
  if (!Number.isInteger(bits) || bits < 0 || bits > all) return undefined;
  const network = parsed.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${bits}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits}`);
  const address = network.toString();
  return { text: `${address}/${bits}`, address, bits };
}

/** Whether all of `inner` is in `outer`. */
export function contains(outer: Prefix, inner: Prefix): boolean {
  const [network, address] = [ipaddr.parse(outer.address), ipaddr.parse(inner.address)];
  return network.kind() === address.kind() && inner.bits >= outer.bits &&
    address.match(network, outer.bits);
}

/** The range as Envoy has it. */
export function cidrRange({ address, bits }: Prefix): CidrRange {
  return { addressPrefix: address, prefixLen: { value: bits } };
}
