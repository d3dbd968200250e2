import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decode, encode, MAX_FIELDS, WireError } from "../../lib/wire/codec.ts";
import { arbitraryMessage, messageTypes, nameOf, root } from "./arbitrary.ts";

const REQUEST = "istio.mcp.v1alpha1.RequestResources";
const DELTA = "envoy.service.discovery.v3.DeltaDiscoveryRequest";
const STRUCT = "google.protobuf.Struct";

/** Whether the bytes are such a message; anything but a value or a WireError fails the test. */
function accepted(name: string, bytes: Uint8Array): boolean {
  try {
    decode(name, bytes);
    return true;
  } catch (error) {
    assertInstanceOf(error, WireError);
    assertInstanceOf(error.cause, Error);
    assert(error.message.includes(name));
    return false;
  }
}

Deno.test("hostile bytes: random ones give a message or a WireError", () => {
  const type = fc.constantFrom(...messageTypes().map(nameOf));
  let good = 0;
  let bad = 0;
  fc.assert(
    fc.property(type, fc.uint8Array({ maxLength: 60 }), (name, bytes) => {
      if (accepted(name, bytes)) good++;
      else bad++;
    }),
    { numRuns: 3000 },
  );
  assert(good > 10 && bad > 1000, `both happen: ${good} good, ${bad} bad`);
});

Deno.test("hostile bytes: a message with bytes changed gives a message or a WireError", () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  const message = arbitraryMessage(root.lookupType(DELTA));
  let bad = 0;
  fc.assert(
    fc.property(message, changes, (value, list) => {
      const bytes = encode(DELTA, value);
      if (bytes.length === 0) return;
      for (const [place, byte] of list) bytes[place % bytes.length] = byte;
      if (!accepted(DELTA, bytes)) bad++;
    }),
    { numRuns: 1000 },
  );
  assert(bad > 100, `${bad} of them were no message`);
});

Deno.test("hostile bytes: a message cut anywhere within a field is refused", () => {
  const bytes = encode(REQUEST, {
    sinkNode: { id: "sink", annotations: { a: "b" } },
    initialResourceVersions: { "shop/billing": "0123456789abcdef" },
    errorDetail: { code: 13, message: "no", details: [{ typeUrl: "t", value: Uint8Array.of(1) }] },
  });
  const ends = new Set([0, ...topLevelEnds(bytes)]);
  for (let length = 0; length <= bytes.length; length++) {
    assertEquals(accepted(REQUEST, bytes.subarray(0, length)), ends.has(length), `${length}`);
  }
});

Deno.test("hostile bytes: nesting is followed to 100 and no further", () => {
  assert(accepted(STRUCT, nested(49)));
  assert(!accepted(STRUCT, nested(51)));
  assertThrows(() => decode(STRUCT, nested(5000)), WireError, "max depth exceeded");
  const groups = new Uint8Array(200_000).fill((15 << 3) | 3); // each opens an unknown group
  assertThrows(() => decode(STRUCT, groups), WireError, "max depth exceeded");
});

Deno.test("hostile bytes: unknown fields of every form are skipped", () => {
  const fields = [
    "f80701", // 127: varint
    "f907" + "0102030405060708", // 64 bits
    "fa07" + "03616263", // 3 bytes
    "fb07" + "0801" + "120178" + "fc07", // a group
    "fd07" + "01020304", // 32 bits
  ];
  const bytes = Uint8Array.fromHex("120163" + fields.join("") + "3001");
  assertEquals(decode<object>(REQUEST, bytes), {
    collection: "c",
    initialResourceVersions: {},
    responseNonce: "",
    incremental: true,
  });
});

Deno.test("hostile bytes: a known field in another form is skipped", () => {
  const bytes = Uint8Array.fromHex("1005" + "320101" + "2801"); // 2: 5, 6: "\x01", 5: 1
  assertEquals(decode<Record<string, unknown>>(REQUEST, bytes).collection, "");
  assert(!("errorDetail" in decode<object>(REQUEST, bytes)));
});

Deno.test("hostile bytes: what protobuf forbids is refused", () => {
  const refused = {
    "field number 0": "0000",
    "a varint of 11 bytes": "30" + "ff".repeat(10) + "01",
    "a length beyond the end": "12ff01",
    "a length of 4 GB": "12ffffffff0f61",
    "text that is not UTF-8": "1202ff61",
    "a surrogate as text": "1203eda080",
    "an overlong form as text": "1202c080",
    "a key that is not UTF-8": "1a050a01ff1200",
    "a group that never ends": "fb07",
    "a group that ends as another": "fb07" + "f407",
    "an end without a group": "fc07",
    "wire type 6": "06",
    "wire type 7": "07",
    "an entry beyond its map": "1a020a05",
  };
  for (const [what, hex] of Object.entries(refused)) {
    assert(!accepted(REQUEST, Uint8Array.fromHex(hex)), what);
  }
});

Deno.test("hostile bytes: two bytes cannot become an object each without bound", () => {
  const bytes = new Uint8Array(16_000_000);
  for (let i = 0; i < bytes.length; i += 2) bytes[i] = (8 << 3) | 2; // an empty ResourceLocator
  const error = assertThrows(() => decode(DELTA, bytes), WireError);
  assert(error.message.includes(`more than ${MAX_FIELDS} fields`), error.message);
});

Deno.test("hostile bytes: the bound counts what is nested and what is unknown, and can be set", () => {
  const value = { fields: { a: { listValue: { values: [{ stringValue: "x" }, {}] } } } };
  const bytes = encode(STRUCT, value); // the entry, its key and value, list, two values, a text
  decode(STRUCT, bytes, { fields: 7 });
  assertThrows(() => decode(STRUCT, bytes, { fields: 6 }), WireError, "more than 6 fields");
  const unknown = Uint8Array.fromHex("fa0700fa0700");
  decode(STRUCT, unknown, { fields: 2 });
  assertThrows(() => decode(STRUCT, unknown, { fields: 1 }), WireError, "more than 1 fields");
});

Deno.test("hostile bytes: 100,000 initial_resource_versions are read at once", () => {
  const versions: Record<string, string> = {};
  for (let i = 0; i < 100_000; i++) {
    versions[`namespace-${i % 50}/service-${i}`] = i.toString(16).padStart(16, "0");
  }
  const bytes = encode(DELTA, { initialResourceVersions: versions });
  const start = performance.now();
  const read = decode<{ initialResourceVersions: Record<string, string> }>(DELTA, bytes);
  const took = performance.now() - start;
  assertEquals(Object.keys(read.initialResourceVersions).length, 100_000);
  assertEquals(
    read.initialResourceVersions["namespace-49/service-99999"],
    versions["namespace-49/service-99999"],
  );
  assert(took < 2000, `${took} ms`); // 0.1 s on an idle machine
});

/** A Struct within a Struct, and so on: `depth` of them, two messages a level. */
function nested(depth: number): Uint8Array {
  let bytes = new Uint8Array(0);
  for (let i = 0; i < depth; i++) {
    bytes = field(1, concat(field(1, new Uint8Array(0)), field(2, field(5, bytes))));
  }
  return bytes;
}

function field(number: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return concat(Uint8Array.of((number << 3) | 2, ...length, rest), content);
}

function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Where each field of the message itself ends; all of them are shorter than 128 bytes. */
function topLevelEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let at = 0; at < bytes.length;) ends.push(at += 2 + bytes[at + 1]!);
  return ends;
}

Deno.test("hostile bytes: a tag of more than 32 bits is refused, one that is merely long is read", () => {
  const value = [4, ...new TextEncoder().encode("name")];
  const read = (...tag: number[]) =>
    decode<{ name: string }>("istio.mcp.v1alpha1.Metadata", Uint8Array.from([...tag, ...value]))
      .name;
  assertEquals(read(0x0a), "name");
  assertEquals(read(0x8a, 0x80, 0x80, 0x80, 0x00), "name");
  for (
    const tag of [
      [0x8a, 0x80, 0x80, 0x80, 0x10],
      [0x8a, 0x80, 0x80, 0x80, 0x80, 0x01],
      [0x8a, 0x80, 0x80, 0xf0, 0xff, 0x01],
    ]
  ) assertThrows(() => read(...tag), WireError);
});
