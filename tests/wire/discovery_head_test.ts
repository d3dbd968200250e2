import { assertEquals, assertThrows } from "@std/assert";
import { readDiscoveryHead } from "../../lib/wire/discovery_head.ts";
import { deltaDiscoveryResponseCodec, discoveryResponseCodec } from "../../lib/wire/messages.ts";
import { WireError } from "../../lib/wire/wire_error.ts";

const resource = { typeUrl: "type", value: new Uint8Array([1, 2, 3]) };

Deno.test("discovery head: both variants give what the codec gives", () => {
  const controlPlane = { identifier: "edge-1" };
  const expected = { type: "t", nonce: "n", version: "v", controlPlane: "edge-1" };
  const sotw = discoveryResponseCodec.encode({
    versionInfo: "v",
    resources: [resource, resource],
    canary: true,
    typeUrl: "t",
    nonce: "n",
    controlPlane,
    resourceErrors: [{ resourceName: { name: "not a control plane" } }],
  });
  assertEquals(readDiscoveryHead(sotw, "sotw"), expected);
  const delta = deltaDiscoveryResponseCodec.encode({
    systemVersionInfo: "v",
    resources: [{ name: "a", version: "1", resource }],
    typeUrl: "t",
    nonce: "n",
    removedResources: ["not a control plane"],
    controlPlane,
  });
  assertEquals(readDiscoveryHead(delta, "delta"), expected);
});

Deno.test("discovery head: what is not said is empty", () => {
  const nothing = { type: "", nonce: "", version: "", controlPlane: "" };
  assertEquals(readDiscoveryHead(new Uint8Array(), "sotw"), nothing);
  assertEquals(readDiscoveryHead(new Uint8Array(), "delta"), nothing);
});

Deno.test("discovery head: a response cut anywhere within a field is refused, never misread beyond its end", () => {
  const bytes = discoveryResponseCodec.encode({ versionInfo: "v", typeUrl: "t", nonce: "n" });
  const whole = new Set([0, 3, 6, 9]);
  for (let end = 0; end <= bytes.length; end++) {
    const cut = bytes.subarray(0, end);
    if (whole.has(end)) readDiscoveryHead(cut, "sotw");
    else assertThrows(() => readDiscoveryHead(cut, "sotw"), WireError, "not a discovery response");
  }
});

Deno.test("discovery head: bytes that are no message are refused", () => {
  for (const bytes of [[0x0a, 0xff], [0x0f], [0x32, 0x02, 0x0a, 0x7f], [0xff, 0xff, 0xff]]) {
    assertThrows(() => readDiscoveryHead(Uint8Array.from(bytes), "sotw"), WireError);
  }
});
