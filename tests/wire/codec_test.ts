import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decode, encode, WireError } from "../../lib/wire/codec.ts";
import { arbitraryMessage, messageTypes, nameOf } from "./arbitrary.ts";

const REQUEST = "istio.mcp.v1alpha1.RequestResources";
const DELTA = "envoy.service.discovery.v3.DeltaDiscoveryRequest";
const ENTRY = "istio.networking.v1alpha3.ServiceEntry";

type Fields = Record<string, unknown>;

Deno.test("codec: every type of message comes back as it went in", () => {
  const types = messageTypes();
  assert(types.length > 40, "the descriptor holds all packages");
  for (const type of types) {
    const name = nameOf(type);
    const holds = (value: object) => assertEquals(decode<object>(name, encode(name, value)), value);
    fc.assert(fc.property(arbitraryMessage(type), holds), { numRuns: 20 });
  }
});

Deno.test("codec: the bytes are protobuf's", () => {
  const bytes = encode(REQUEST, {
    incremental: true,
    errorDetail: { code: 13, message: "é" },
    collection: "c",
    sinkNode: { id: "x" },
    initialResourceVersions: { b: "1", a: "" },
  });
  assertEquals(
    bytes.toHex(),
    "0a030a0178" + // 1: { 1: "x" }
      "120163" + // 2: "c"
      "1a050a01611200" + // 3: { 1: "a", 2: "" }
      "1a060a0162120131" + // 3: { 1: "b", 2: "1" }
      "2a06080d1202c3a9" + // 5: { 1: 13, 2: "é" }
      "3001", // 6: true
  );
});

Deno.test("codec: what is not on the wire is zero, empty, or left out", () => {
  assertEquals(decode<object>(REQUEST, new Uint8Array(0)), {
    collection: "",
    initialResourceVersions: {},
    responseNonce: "",
    incremental: false,
  });
  const entry = decode<Fields>(ENTRY, new Uint8Array(0));
  assertEquals([entry.location, entry.resolution], ["MESH_EXTERNAL", "NONE"]);
  assertEquals(entry.hosts, []);
});

Deno.test("codec: an error_detail with code 0 and no text is there", () => {
  const bytes = encode(REQUEST, { errorDetail: {} });
  assertEquals(bytes.toHex(), "2a00");
  assertEquals(decode<Fields>(REQUEST, bytes).errorDetail, { code: 0, message: "", details: [] });
  assert(!("errorDetail" in decode<Fields>(REQUEST, encode(REQUEST, { incremental: true }))));
});

Deno.test("codec: an empty member of a oneof is there, and the last one sent counts", () => {
  const node = "envoy.config.core.v3.Node";
  assertEquals(decode<Fields>(node, encode(node, { userAgentVersion: "" })).userAgentVersion, "");
  assert(!("userAgentVersion" in decode<Fields>(node, encode(node, {}))));
  const both = Uint8Array.fromHex("3a0131" + "4200"); // 7: "1", 8: {}
  const read = decode<Fields>(node, both);
  assertEquals([read.userAgentVersion, read.userAgentBuildVersion], [undefined, {}]);
});

Deno.test("codec: a scalar sent twice is the later one, a message sent twice is both together", () => {
  const bytes = Uint8Array.fromHex("120161" + "120162" + "2a020805" + "2a03120178");
  const read = decode<Fields>(REQUEST, bytes);
  assertEquals(read.collection, "b");
  assertEquals(read.errorDetail, { code: 5, message: "x", details: [] });
});

Deno.test("codec: the order in which a map was filled does not show", () => {
  const names = fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 20 });
  const twice = names.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))
  );
  fc.assert(fc.property(twice, ([one, other]) => {
    const map = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, `${key}'s`]));
    const [a, b] = [one, other].map((keys) =>
      encode(REQUEST, { initialResourceVersions: map(keys) })
    );
    assertEquals(a!.toHex(), b!.toHex());
  }));
});

Deno.test("codec: keys of a map that objects know themselves are keys like others", () => {
  const map = Object.create(null);
  for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) map[key] = "1";
  const read = decode<Fields>(DELTA, encode(DELTA, { initialResourceVersions: map }))
    .initialResourceVersions as Record<string, string>;
  assertEquals(Object.keys(read).sort(), Object.keys(map).sort());
  assertEquals(read["__proto__"], "1");
  assertStrictEquals(Object.getPrototypeOf(read), null);
  assertStrictEquals(({} as Fields)["1"], undefined);

  const none = decode<Fields>(DELTA, new Uint8Array(0)).initialResourceVersions as Fields;
  assertStrictEquals(none["constructor"], undefined);
});

Deno.test("codec: no key of a nested map reaches Object.prototype", () => {
  const struct = {
    fields: { ["__proto__"]: { structValue: { fields: { polluted: { boolValue: true } } } } },
  };
  const bytes = encode(DELTA, { node: { metadata: struct } });
  decode(DELTA, bytes);
  assertStrictEquals(({} as Fields).polluted, undefined);
  assertStrictEquals(({} as Fields).fields, undefined);
});

Deno.test("codec: 64-bit integers are numbers where exact, bigints beyond", () => {
  const roundTrip = (type: string, value: number | bigint) =>
    decode<{ value: unknown }>(type, encode(type, { value })).value;
  const signed = "google.protobuf.Int64Value";
  const unsigned = "google.protobuf.UInt64Value";
  assertStrictEquals(roundTrip(signed, -1), -1);
  assertStrictEquals(roundTrip(signed, 2 ** 53 - 1), 2 ** 53 - 1);
  assertStrictEquals(roundTrip(signed, 5n), 5);
  assertStrictEquals(roundTrip(signed, 2n ** 53n), 2n ** 53n);
  assertStrictEquals(roundTrip(signed, -(2n ** 63n)), -(2n ** 63n));
  assertStrictEquals(roundTrip(unsigned, 2n ** 64n - 1n), 2n ** 64n - 1n);
  assertThrows(() => encode(signed, { value: 2n ** 63n }), WireError, "value");
  assertThrows(() => encode(unsigned, { value: -1 }), WireError, "value");
  assertThrows(() => encode(signed, { value: 2 ** 53 }), WireError, "bigint");
});

Deno.test("codec: an enum value of a later release stays a number and goes out again", () => {
  const bytes = Uint8Array.fromHex("2863"); // 5: 99
  const read = decode<Fields>(ENTRY, bytes);
  assertStrictEquals(read.resolution, 99);
  assertEquals(encode(ENTRY, read).toHex(), "2863");
});

Deno.test("codec: what encode returns owns its bytes and what it was given stays as it was", () => {
  const value = Object.freeze({ hosts: Object.freeze(["a"]), ports: Object.freeze([]) });
  const bytes = encode(ENTRY, value);
  assertEquals([bytes.byteOffset, bytes.buffer.byteLength], [0, bytes.length]);
  assertStrictEquals(Object.getPrototypeOf(bytes), Uint8Array.prototype);
});

Deno.test("codec: bytes fields of a Node buffer are plain views of it", () => {
  const any = "google.protobuf.Any";
  const bytes = Buffer.from(encode(any, { typeUrl: "t", value: Uint8Array.of(1, 2) }));
  const { value } = decode<{ value: Uint8Array }>(any, bytes);
  assertStrictEquals(Object.getPrototypeOf(value), Uint8Array.prototype);
  assertEquals(value, Uint8Array.of(1, 2));
});

Deno.test("codec: a value that does not fit is refused with its place and what would be right", () => {
  const refused: [object, string][] = [
    [{ ports: [{ number: 80 }, { number: -1 }] }, ".ports[1].number: expected an integer from 0"],
    [
      { ports: [{ number: "80" }] },
      '.ports[0].number: expected an integer from 0 to 4294967295, got "80"',
    ],
    [{ endpoints: [{ ports: { http: 1.5 } }] }, '.endpoints[0].ports["http"]: expected an integer'],
    [
      { endpoints: [{ labels: { a: null } }] },
      '.endpoints[0].labels["a"]: expected a string, got null',
    ],
    [{ endpoints: [{ labels: [] }] }, ".endpoints[0].labels: expected a map, got a list"],
    [{ endpoints: {} }, ".endpoints: expected a list"],
    [{ resolution: "dns" }, ".resolution: expected one of NONE, STATIC, DNS"],
    [{ hosts: ["\ud800"] }, ".hosts[0]: expected well-formed Unicode"],
    [{ workloadSelector: { labels: { "\udc00": "" } } }, "expected keys of well-formed Unicode"],
    [{ workloadSelector: null }, ".workloadSelector: expected an object, got null"],
    [{ host: [] }, 'no field is named "host"'],
    [{ workload_selector: {} }, 'no field is named "workload_selector"'],
  ];
  for (const [value, message] of refused) {
    const error = assertThrows(() => encode(ENTRY, value), WireError, message);
    assert(error.message.startsWith(`cannot encode ${ENTRY}`), error.message);
  }
  assertThrows(
    () => encode("google.protobuf.Value", { boolValue: true, stringValue: "" }),
    WireError,
    "only one of boolValue and stringValue",
  );
  assertThrows(() => encode("google.protobuf.BoolValue", { value: 1 }), WireError, "true or false");
  assertThrows(() => encode("google.protobuf.BytesValue", { value: "" }), WireError, "Uint8Array");
  assertThrows(() => encode("google.protobuf.DoubleValue", { value: "1" }), WireError, "a number");
});

Deno.test("codec: undefined is the same as left out", () => {
  assertEquals(encode(ENTRY, { hosts: undefined, workloadSelector: undefined }).length, 0);
});

Deno.test("codec: a value within itself is refused, not followed for ever", () => {
  const value: Fields = {};
  value.structValue = { fields: { a: value } };
  assertThrows(() => encode("google.protobuf.Value", value), WireError);
});

Deno.test("codec: an unknown type is named", () => {
  for (
    const name of ["istio.mcp.v1alpha1.Nothing", "istio.mcp", "RequestResources", "", "__proto__"]
  ) {
    assertThrows(() => encode(name, {}), WireError, `no message type is named ${name}`);
    assertThrows(
      () => decode(name, new Uint8Array(0)),
      WireError,
      `no message type is named ${name}`,
    );
  }
  const notMessages = [`${ENTRY}.Resolution`, "istio.mcp.v1alpha1.ResourceSource"];
  for (const name of notMessages) assertThrows(() => encode(name, {}), WireError, name);
});
