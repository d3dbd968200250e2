import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Resource } from "../../lib/model/resource.ts";
import {
  composeDelta,
  composeIncrementalMeshConfig,
  composeMcp,
  composeMeshConfig,
  composeSotw,
  encodeResources,
  type Envelope,
  flatten,
  type Message,
} from "../../lib/wire/compose.ts";
import {
  deltaDiscoveryResponseCodec,
  discoveryResponseCodec,
  incrementalMeshConfigResponseCodec,
  mcpResourceCodec,
  meshConfigResponseCodec,
  resourcesCodec,
} from "../../lib/wire/messages.ts";

const ANY = mcpResourceCodec.typeUrl;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "x".repeat(127), "x".repeat(128), "é".repeat(9000), "🚢/日本"),
);
const resource: fc.Arbitrary<Resource> = fc.record({ name: text, version: text }).map((parts) => ({
  ...parts,
  bytes: mcpResourceCodec.encode({
    metadata: { name: parts.name, version: parts.version },
    body: { typeUrl: "t", value: new Uint8Array(parts.name.length) },
  }),
}));
/** Resources cut into runs, as a collection holds them. */
const runs = fc.array(fc.array(resource, { maxLength: 3 }), { maxLength: 3 });
const envelope: fc.Arbitrary<Envelope> = fc.record({
  type: text,
  version: text,
  nonce: text,
  removed: fc.array(text, { maxLength: 3 }),
  incremental: fc.boolean(),
  controlPlane: text,
}, { requiredKeys: ["type", "version", "nonce"] });

/** Checks a message's length as well. */
function bytesOf(message: Message): Uint8Array {
  const bytes = flatten(message);
  assertEquals(message.pieces.reduce((sum, piece) => sum + piece.length, 0), message.length);
  assertEquals(bytes.length, message.length);
  return bytes;
}

function controlPlane(e: Envelope) {
  return e.controlPlane === undefined ? {} : { controlPlane: { identifier: e.controlPlane } };
}

Deno.test("compose: a state of the world reads as if it had been encoded whole", () => {
  fc.assert(fc.property(envelope, runs, (e, list) => {
    const pieces = list.map((run) => encodeResources("sotw", ANY, run));
    const whole = discoveryResponseCodec.encode({
      versionInfo: e.version,
      resources: list.flat().map((r) => ({ typeUrl: ANY, value: r.bytes })),
      typeUrl: e.type,
      nonce: e.nonce,
      ...controlPlane(e),
    });
    assertEquals(
      discoveryResponseCodec.decode(bytesOf(composeSotw(e, pieces))),
      discoveryResponseCodec.decode(whole),
    );
  }));
});

Deno.test("compose: a delta reads as if it had been encoded whole", () => {
  fc.assert(fc.property(envelope, runs, (e, list) => {
    const pieces = list.map((run) => encodeResources("delta", ANY, run));
    const whole = deltaDiscoveryResponseCodec.encode({
      systemVersionInfo: e.version,
      resources: list.flat().map(({ name, version, bytes }) => ({
        name,
        version,
        resource: { typeUrl: ANY, value: bytes },
      })),
      typeUrl: e.type,
      nonce: e.nonce,
      removedResources: e.removed,
      ...controlPlane(e),
    });
    assertEquals(
      deltaDiscoveryResponseCodec.decode(bytesOf(composeDelta(e, pieces))),
      deltaDiscoveryResponseCodec.decode(whole),
    );
  }));
});

Deno.test("compose: MCP resources read as if they had been encoded whole", () => {
  fc.assert(fc.property(envelope, runs, (e, list) => {
    const pieces = list.map((run) => encodeResources("mcp", ANY, run));
    const whole = resourcesCodec.encode({
      systemVersionInfo: e.version,
      collection: e.type,
      resources: list.flat().map((r) => mcpResourceCodec.decode(r.bytes)),
      removedResources: e.removed,
      nonce: e.nonce,
      incremental: e.incremental,
    });
    const composed = bytesOf(composeMcp(e, pieces));
    assertEquals(resourcesCodec.decode(composed), resourcesCodec.decode(whole));
    assertEquals(composed.toHex(), whole.toHex(), "here even the order of fields is the same");
  }));
});

Deno.test("compose: a MeshConfigResponse is what it would be, encoded whole", () => {
  fc.assert(fc.property(envelope, runs, (e, list) => {
    const pieces = list.map((run) => encodeResources("mesh-config", ANY, run));
    const whole = meshConfigResponseCodec.encode({
      versionInfo: e.version,
      resources: list.flat().map((r) => mcpResourceCodec.decode(r.bytes)),
      typeUrl: e.type,
      nonce: e.nonce,
    });
    assertEquals(bytesOf(composeMeshConfig(e, pieces)).toHex(), whole.toHex());
  }));
});

Deno.test("compose: an IncrementalMeshConfigResponse is what it would be, encoded whole", () => {
  fc.assert(fc.property(envelope, runs, (e, list) => {
    const pieces = list.map((run) => encodeResources("mesh-config", ANY, run));
    const whole = incrementalMeshConfigResponseCodec.encode({
      systemVersionInfo: e.version,
      resources: list.flat().map((r) => mcpResourceCodec.decode(r.bytes)),
      removedResources: e.removed,
      nonce: e.nonce,
    });
    assertEquals(bytesOf(composeIncrementalMeshConfig(e, pieces)).toHex(), whole.toHex());
  }));
});

Deno.test("compose: an empty set is a message with its version, type and nonce", () => {
  const e = { type: "istio/x", version: "v", nonce: "1" };
  const mcp = resourcesCodec.decode(bytesOf(composeMcp(e, [])));
  assertEquals(mcp, {
    systemVersionInfo: "v",
    collection: "istio/x",
    resources: [],
    removedResources: [],
    nonce: "1",
    incremental: false,
  });
  const sotw = discoveryResponseCodec.decode(bytesOf(composeSotw(e, [])));
  assertEquals([sotw.versionInfo, sotw.typeUrl, sotw.nonce, sotw.resources], [
    "v",
    "istio/x",
    "1",
    [],
  ]);
  const delta = deltaDiscoveryResponseCodec.decode(bytesOf(composeDelta(e, [])));
  assertEquals([delta.systemVersionInfo, delta.typeUrl, delta.nonce], ["v", "istio/x", "1"]);
  assertEquals(encodeResources("mcp", ANY, []).length, 0);
});

Deno.test("compose: what is shared is passed on as it is, never copied", () => {
  const shared = encodeResources("sotw", ANY, [
    { name: "a/b", version: "1", bytes: new Uint8Array(1000) },
  ]);
  const e = { type: "t", version: "v", nonce: "1" };
  assert(composeSotw(e, [shared]).pieces.some((piece) => piece === shared));
  assert(composeDelta(e, [shared]).pieces.some((piece) => piece === shared));
  assert(composeMcp(e, [shared]).pieces.some((piece) => piece === shared));
});

Deno.test("compose: 100,000 removed names, in bounded time", () => {
  const removed = Array.from({ length: 100_000 }, (_, i) => `namespace-é-${i % 9}/service-${i}`);
  const e = { type: "t", version: "v", nonce: "1", removed, incremental: true };
  const start = performance.now();
  const messages = [composeDelta(e, []), composeMcp(e, [])];
  const took = performance.now() - start;
  const [delta, mcp] = messages.map(bytesOf);
  assertEquals(deltaDiscoveryResponseCodec.decode(delta!).removedResources, removed);
  assertEquals(resourcesCodec.decode(mcp!).removedResources, removed);
  assert(took < 2000, `${took} ms`); // 0.1 s on an idle machine
});

Deno.test("compose: resources of more than a megabyte each", () => {
  const big = [1_100_000, 3_000_000].map((size) => ({
    name: `a/${size}`,
    version: "1",
    bytes: new Uint8Array(size).fill(7),
  }));
  const pieces = [encodeResources("delta", ANY, big)];
  const read = deltaDiscoveryResponseCodec.decode(
    bytesOf(composeDelta({ type: "t", version: "v", nonce: "1" }, pieces)),
  );
  assertEquals(read.resources.map((r) => [r.name, r.resource?.value.length]), [
    ["a/1100000", 1_100_000],
    ["a/3000000", 3_000_000],
  ]);
});
