import { assert, assertEquals } from "@std/assert";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { certificateNames, namesHost } from "../../lib/transport/identity.ts";
import { Authority } from "./certificates.ts";

const authority = await Authority.create("Test Authority");
globalThis.addEventListener("unload", () => void authority[Symbol.asyncDispose]());

/** The certificate's own bytes. */
async function issued(names?: string): Promise<Uint8Array> {
  const { cert } = await authority.issue(names === undefined ? {} : { names });
  return new X509Certificate(cert).raw;
}

const NOBODY = { uris: [], dnsNames: [], addresses: [] };

Deno.test("identity: every kind of name that matters is read, in order", async () => {
  const many = Array.from({ length: 40 }, (_, i) => `DNS:host-${i}.example`); // lengths of two bytes
  const names = ["URI:spiffe://a/b", "email:x@example", "IP:10.0.0.1", "IP:2001:db8::1", ...many];
  assertEquals(certificateNames(await issued(names.join(","))), {
    uris: ["spiffe://a/b"],
    dnsNames: many.map((name) => name.slice(4)),
    addresses: ["10.0.0.1", "2001:db8:0:0:0:0:0:1"],
  });
  assertEquals(certificateNames(await issued()), NOBODY);
});

Deno.test("identity: whatever the bytes, reading them ends, and names are plain", async () => {
  const real = await issued("URI:spiffe://example.org/ns/a/sa/b, DNS:a.example, IP:10.0.0.1");
  const damage = fc.array(fc.tuple(fc.nat(real.length - 1), fc.nat(255)), { maxLength: 4 });
  fc.assert(
    fc.property(damage, fc.nat(real.length), (changes, length) => {
      const bytes = Uint8Array.from(real);
      for (const [at, byte] of changes) bytes[at] = byte;
      const { uris, dnsNames } = certificateNames(bytes.subarray(0, length));
      for (const name of uris) assert(/^[A-Za-z][\w+.-]*:[\x21-\x7e]+$/.test(name));
      for (const name of dnsNames) assert(/^(\*\.)?[\w.-]+$/.test(name));
    }),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    certificateNames(bytes);
  }));
});

Deno.test("identity: no name passes for one of another type", async () => {
  const kept = [
    "*.a.example",
    "a_b.example",
    "LOCALHOST",
    "1.example",
    `${"x".repeat(63)}.example`,
  ];
  const refused = [
    "spiffe://example.org/edge/fra",
    "xds://upstream.example:15010",
    "(recovered)",
    "10.0.0.1",
    "::1",
    "10.1",
    "0x7f.0x1",
    "a..example",
    "a.example.",
    ".a.example",
    "-a.example",
    "*",
    "a.*.example",
    "a.example/b",
    `${"x".repeat(64)}.example`,
    `${"x.".repeat(126)}xx`,
  ];
  const names = [...kept, ...refused].map((name) => `DNS:${name}`);
  const uris = ["URI:a.example", "URI:10.0.0.1", "URI:spiffe:", "URI:spiffe://a/b"];
  assertEquals(certificateNames(await issued([...names, ...uris].join(","))), {
    uris: ["spiffe://a/b"],
    dnsNames: kept.map((name) => name.toLowerCase()),
    addresses: [],
  });
});

Deno.test("identity: a host is named in full, by a wildcard for its first label, or by address", () => {
  const names = {
    uris: ["https://uri.example"],
    dnsNames: ["a.example", "*.b.example", "*.c"],
    addresses: ["10.0.0.1", "2001:db8:0:0:0:0:0:1"],
  };
  for (
    const host of ["a.example", "A.Example", "a.example.", "x.b.example", "10.0.0.1", "2001:DB8::1"]
  ) assert(namesHost(names, host), host);
  for (
    const host of [
      "b.example",
      "x.y.b.example",
      ".b.example",
      "x.c",
      "uri.example",
      "*.b.example.evil",
      "10.0.0.2",
      "",
    ]
  ) assert(!namesHost(names, host), host);
});
