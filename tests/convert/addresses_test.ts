import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import {
  isAddress,
  isAddressOrPrefix,
  isPrefix,
  toRange,
} from "../../lib/convert/rules/addresses.ts";
import { ADDRESSES } from "../interop/validation/pools.ts";

const octet = fc.nat(255);
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
const ipv6 = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
  .map((groups) => ipaddr.fromByteArray(groups.flatMap((g) => [g >> 8, g & 255])).toString());

Deno.test("addresses: every address that is one has a range of itself alone", () => {
  fc.assert(fc.property(fc.oneof(ipv4, ipv6), (address) => {
    assert(isAddress(address), address);
    const { first, last } = toRange(address)!;
    assertEquals(first, last);
  }));
});

Deno.test("addresses: a prefix holds exactly the addresses that ipaddr.js says", () => {
  const pair = fc.oneof(
    fc.tuple(ipv4, fc.nat(32), ipv4, fc.boolean()),
    fc.tuple(ipv6, fc.nat(128), ipv6, fc.boolean()),
  );
  fc.assert(fc.property(pair, ([base, bits, other, near]) => {
    const prefix = `${base}/${bits}`;
    assert(isPrefix(prefix), prefix);
    const range = toRange(prefix)!;
    const address = near ? flipBit(base, bits) : other;
    const [at] = [toRange(address)!.first];
    const holds = ipaddr.parse(address).match(ipaddr.parse(base), bits);
    assertEquals(range.first <= at && at <= range.last, holds, `${address} in ${prefix}`);
  }));
});

/** The address with the first bit after the prefix flipped, or the last bit of it. */
function flipBit(address: string, bits: number): string {
  const bytes = ipaddr.parse(address).toByteArray();
  const at = Math.min(bits, bytes.length * 8 - 1);
  bytes[at >> 3]! ^= 0x80 >> (at & 7);
  return ipaddr.fromByteArray(bytes).toString();
}

Deno.test("addresses: the families never meet", () => {
  const [four, six] = [toRange("0.0.0.0/0")!, toRange("::/0")!];
  assert(four.last < six.first || six.last < four.first);
});

Deno.test("addresses: whatever is an address has a range, zones and all", () => {
  const odd = [...ADDRESSES, "fe80::1%a%b", "::ffff:1.2.3.4%z", "1::1.2.3.4"];
  assert(odd.some(isAddressOrPrefix) && !odd.every(isAddressOrPrefix));
  for (const text of odd) {
    assertEquals(toRange(text) !== undefined, isAddressOrPrefix(text), text);
  }
});
