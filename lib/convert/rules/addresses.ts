/**
 * IP addresses and prefixes. Whether one is valid is what Go's `net/netip` says, to the letter (no
 * leading zeros, zones on IPv6 only), because Istio asks that; ranges come from ipaddr.js.
 *
 * @module
 */
import ipaddr from "ipaddr.js";

const OCTET = "(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
const GROUP = /^[0-9a-fA-F]{1,4}$/;
const BITS = /^(?:0|[1-9][0-9]{0,2})$/;

/** Groups of 16 bits in an IPv6 address. */
const GROUPS = 8;

/** Whether this is an IP address; an IPv6 one may have a zone (`fe80::1%eth0`). */
export function isAddress(text: string): boolean {
  return IPV4.test(text) || isIpv6(text, true);
}

/** Whether this is an IPv4 address. */
export function isIpv4(text: string): boolean {
  return IPV4.test(text);
}

/** Whether this is a prefix such as `10.0.0.0/8`; bits below the length may be set, a zone may not. */
export function isPrefix(text: string): boolean {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  if (!BITS.test(bits)) return false;
  if (IPV4.test(address)) return Number(bits) <= 32;
  return isIpv6(address, false) && Number(bits) <= 128;
}

/** Whether this is an address of a service: an IP address, or, with exactly one slash, a prefix. */
export function isAddressOrPrefix(text: string): boolean {
  const slash = text.indexOf("/");
  const single = slash >= 0 && text.indexOf("/", slash + 1) < 0;
  return single ? isPrefix(text) : isAddress(text);
}

/** A range of addresses of one family. The bounds are hex of equal length, so they compare as text. */
export interface AddressRange {
  readonly first: string;
  readonly last: string;
}

/** The addresses that an address or a prefix stands for; undefined where it is neither. */
export function toRange(text: string): AddressRange | undefined {
  if (!isAddressOrPrefix(text)) return undefined;
  const [address, bits] = split(text);
  const bytes = ipaddr.parse(address).toByteArray();
  const free = bytes.length * 8 - (bits ?? bytes.length * 8);
  return { first: hex(bytes, free, 0x00), last: hex(bytes, free, 0xff) };
}

function split(text: string): [address: string, bits: number | undefined] {
  const address = text.replace(/%.*$/s, "");
  const slash = address.indexOf("/");
  return slash < 0
    ? [address, undefined]
    : [address.slice(0, slash), Number(address.slice(slash + 1))];
}

/** The bytes in hex, with the lowest `free` bits all set to those of `fill`; a letter tells the families apart. */
function hex(bytes: readonly number[], free: number, fill: number): string {
  const digits = bytes.map((byte, index) => {
    const below = Math.min(8, Math.max(0, free - (bytes.length - 1 - index) * 8));
    const mask = (1 << below) - 1;
    return ((byte & ~mask) | (fill & mask)).toString(16).padStart(2, "0");
  });
  return (bytes.length === 4 ? "4:" : "6:") + digits.join("");
}

function isIpv6(text: string, zoneAllowed: boolean): boolean {
  const percent = text.indexOf("%");
  if (percent >= 0 && (!zoneAllowed || percent === text.length - 1)) return false;
  const address = percent < 0 ? text : text.slice(0, percent);
  if (!address.includes(":")) return false;
  const halves = address.split("::");
  if (halves.length > 2) return false;
  const counts = halves.map((half, index) =>
    half === "" && halves.length === 2 ? 0 : countGroups(half, index === halves.length - 1)
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  return halves.length === 2 ? total < GROUPS : total === GROUPS;
}

/** How many groups stand between colons, an IPv4 address at the end being two; NaN where one is none. */
function countGroups(text: string, last: boolean): number {
  const groups = text.split(":");
  const tail = groups.at(-1)!;
  const embedded = last && tail.includes(".") && IPV4.test(tail);
  const plain = embedded ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => GROUP.test(group))) return NaN;
  return groups.length + (embedded ? 1 : 0);
}
