import { assert, assertEquals, assertThrows } from "@std/assert";
import { convertService, encodeResource } from "../../lib/convert/convert.ts";
import { renderResource } from "../../lib/convert/render.ts";
import { WireError } from "../../lib/wire/wire_error.ts";
import { virtualServiceCodec, workloadEntryCodec } from "../../lib/wire/messages.ts";
import { endpoint, service } from "./service.ts";

Deno.test("render: keys come in the order in which people write them", () => {
  const { resource } = convertService(service({
    labels: { b: "1", a: "2" },
    endpoints: [endpoint({ weight: 1, labels: { z: "", a: "" }, network: "n" })],
  }));
  const rendered = renderResource(resource!);
  assertEquals(Object.keys(rendered), ["apiVersion", "kind", "metadata", "spec"]);
  assertEquals(Object.keys(rendered.metadata), ["name", "namespace", "labels"]);
  assertEquals(Object.keys(rendered.metadata.labels!), ["a", "b"]);
  assertEquals(Object.keys(rendered.spec), [
    "hosts",
    "ports",
    "location",
    "resolution",
    "endpoints",
    "exportTo",
  ]);
  assertEquals(
    JSON.stringify((rendered.spec.endpoints as unknown[])[0]),
    JSON.stringify({
      address: "10.0.0.1",
      labels: { a: "", z: "" },
      network: "n",
      weight: 1,
    }),
  );
});

Deno.test("render: a WorkloadEntry too", () => {
  const metadata = { name: "w", namespace: "shop", labels: {}, annotations: {} };
  const body = workloadEntryCodec.pack({ address: "10.0.0.1", ports: { b: 2, a: 1 } });
  assertEquals(renderResource(encodeResource(metadata, body)), {
    apiVersion: "networking.istio.io/v1",
    kind: "WorkloadEntry",
    metadata: { name: "w", namespace: "shop" },
    spec: { address: "10.0.0.1", ports: { a: 1, b: 2 } },
  });
});

Deno.test("render: a VirtualService of others, but not one with fields that we know nothing of", () => {
  const metadata = { name: "v", namespace: "shop", labels: {}, annotations: {} };
  const virtual = virtualServiceCodec.pack({
    hosts: ["a.example"],
    http: [{
      match: [{ uri: { prefix: "/" }, headers: { "x-a": { exact: "1" }, b: {} } }],
      route: [{ destination: { host: "a.example", port: { number: 80 } } }],
      timeout: { seconds: 1, nanos: 500_000_000 },
    }],
  });
  assertEquals(renderResource(encodeResource(metadata, virtual)).spec, {
    hosts: ["a.example"],
    http: [{
      match: [{ uri: { prefix: "/" }, headers: { b: {}, "x-a": { exact: "1" } } }],
      route: [{ destination: { host: "a.example", port: { number: 80 } } }],
      timeout: "1.5s",
    }],
  });
  // Field 18 of a VirtualService, with one byte.
  const later = new Uint8Array([...virtual.value, 0x92, 0x01, 0x01, 0x00]);
  const error = assertThrows(
    () => renderResource(encodeResource(metadata, { ...virtual, value: later })),
    TypeError,
  );
  assert(error.message.includes("shop/v"), error.message);
});

Deno.test("render: what is no resource of ours is refused, and named", () => {
  const metadata = { name: "w", namespace: "shop", labels: {}, annotations: {} };
  const body = { typeUrl: "type.googleapis.com/google.protobuf.Empty", value: new Uint8Array() };
  const error = assertThrows(() => renderResource(encodeResource(metadata, body)), TypeError);
  assert(error.message.includes("shop/w") && error.message.includes("google.protobuf.Empty"));
  const broken = { name: "shop/w", version: "", bytes: Uint8Array.of(0xff) };
  assertThrows(() => renderResource(broken), WireError);
});
