import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { convertService } from "../../lib/convert/convert.ts";
import { toServiceEntry } from "../../lib/convert/service_entry.ts";
import type { Service } from "../../lib/model/service.ts";
import { mcpResourceCodec, serviceEntryCodec } from "../../lib/wire/messages.ts";
import { endpoint, service } from "./service.ts";

function resource(parts: Partial<Service> = {}) {
  const { resource, findings } = convertService(service(parts));
  assert(resource !== undefined, JSON.stringify(findings));
  return resource;
}

Deno.test("convert: a resource is an MCP resource with a ServiceEntry in it", () => {
  const { name, version, bytes } = resource({ labels: { a: "b" }, annotations: { c: "d" } });
  assertEquals(name, "default/orders");
  const { metadata, body } = mcpResourceCodec.decode(bytes);
  assertEquals({ ...metadata, labels: { ...metadata!.labels } }, {
    name: "default/orders",
    createTime: { seconds: 1577836800, nanos: 0 },
    version,
    labels: { a: "b" },
    annotations: Object.assign(Object.create(null), { c: "d" }),
  });
  assertEquals(body!.typeUrl, "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry");
  assertEquals(serviceEntryCodec.decode(body!.value).hosts, ["orders.default.svc.cluster.local"]);
});

Deno.test("convert: equal services give equal bytes, in whichever order their maps were written", () => {
  const one = resource({
    labels: { a: "1", b: "2", "10": "x", "9": "y" },
    annotations: { c: "", d: "" },
    endpoints: [endpoint({ labels: { x: "1", y: "2" }, ports: { http: 1 } })],
  });
  const other = resource({
    labels: { "9": "y", b: "2", "10": "x", a: "1" },
    annotations: { d: "", c: "" },
    endpoints: [endpoint({ labels: { y: "2", x: "1" }, ports: { http: 1 } })],
  });
  assertEquals(other, one);
});

Deno.test("convert: the bytes of a service are these, on every instance and in every release", () => {
  const { bytes, version } = resource({ labels: { a: "b" } });
  assertEquals(version, "492c2cce7ddea4b9");
  assertEquals(
    bytes.toHex(),
    [
      "0a320a0e64656661756c742f6f726465727312060880c2aff0051a10343932633263636537646465",
      "6134623922060a01611201621281010a3a747970652e676f6f676c65617069732e636f6d2f697374",
      "696f2e6e6574776f726b696e672e7631616c706861332e53657276696365456e74727912430a206f",
      "72646572732e64656661756c742e7376632e636c75737465722e6c6f63616c1a0e08501204485454",
      "501a04687474702801320a0a0831302e302e302e313a012a",
    ].join(""),
  );
});

Deno.test("convert: what a sink would treat otherwise has another version", () => {
  const versions = [
    {},
    { endpoints: [endpoint({ weight: 2 })] },
    { endpoints: [endpoint({ weight: 3 })] },
    { endpoints: [endpoint({ labels: { version: "v1" } })] },
    { endpoints: [endpoint({ labels: { version: "v2" } })] },
    { endpoints: [endpoint({ locality: "eu" })] },
    { endpoints: [endpoint(), endpoint({ address: "10.0.0.2" })] },
    { endpoints: [endpoint({ address: "10.0.0.2" }), endpoint()] },
    { endpoints: [] },
    { labels: { a: "b" } },
    { labels: { a: "c" } },
    { annotations: { a: "b" } },
    { exportTo: ["."] },
    { subjectAltNames: ["x"] },
    { location: "MESH_INTERNAL" as const },
    { addresses: ["240.0.0.1"] },
  ].map((parts) => resource(parts).version);
  assertEquals(new Set(versions).size, versions.length);
  for (const version of versions) assert(/^[0-9a-f]{16}$/.test(version), version);
});

Deno.test("convert: aliases are no part of a ServiceEntry", () => {
  assertEquals(resource({ aliases: ["x"] }), resource());
});

Deno.test("convert: an error keeps a service back, a warning does not", () => {
  const refused = convertService(service({ hosts: ["*"] }));
  assertEquals(refused.resource, undefined);
  assertEquals(refused.findings.map(({ severity }) => severity), ["error"]);
  const warned = convertService(service({ hosts: ["short"] }));
  assert(warned.resource !== undefined);
  assertEquals(warned.findings.map(({ severity }) => severity), ["warning"]);
});

Deno.test("convert: findings say which service, and where in it", () => {
  const { findings } = convertService(
    service({
      endpoints: [endpoint({ address: "10.0.0.2" }), endpoint({ ports: { "no-such": 1 } })],
    }),
  );
  assertEquals(findings, [{
    severity: "error",
    rule: "istio/endpoint-port-undefined",
    message: 'the service has no port named "no-such"',
    hint: "its ports are http",
    subject: "default/orders",
    path: ["endpoints", 1, "ports", "no-such"],
  }]);
});

Deno.test("convert: of two findings about one thing the one that says less is left out", () => {
  const { findings } = convertService(service({ hosts: ["*example.com"] }));
  assertEquals(findings.map(({ rule }) => rule), ["pinnace/partial-wildcard"]);
});

Deno.test("convert: a value that the wire cannot hold is a finding, not an exception", () => {
  for (
    const parts of [
      { endpoints: [endpoint({ weight: 2 ** 32 })] },
      { endpoints: [endpoint({ network: "\ud800" })] },
      { ports: [{ name: "http", number: 80.5, protocol: "HTTP" }] },
    ]
  ) {
    const { resource, findings } = convertService(service(parts));
    assertEquals(resource, undefined);
    assertEquals(findings.map(({ rule, severity }) => [rule, severity]), [
      ["pinnace/encoding", "error"],
    ]);
  }
});

Deno.test("convert: a name that Kubernetes would not take is refused, with one that it would", () => {
  const { resource, findings } = convertService(service({ name: "providers:com.test.Api" }));
  assertEquals(resource, undefined);
  const { rule, hint, path } = findings.find(({ rule }) => rule === "pinnace/name")!;
  assertEquals([rule, path], ["pinnace/name", ["name"]]);
  assert(hint!.includes("providers-com.test.api"), hint);
});

Deno.test("convert: a namespace that Kubernetes would not take is refused, with one that it would", () => {
  const { resource, findings } = convertService(service({ namespace: "My.Shop" }));
  assertEquals(resource, undefined);
  const [finding] = findings;
  assertEquals([finding!.rule, finding!.path], ["pinnace/namespace", ["namespace"]]);
  assert(finding!.hint!.includes("my-shop"), finding!.hint);
});

Deno.test("convert: what a person wrote is quoted in short, however long it is", () => {
  for (const long of ["a".repeat(100_000), `a${"-".repeat(1_000_000)}a`, ".".repeat(100_000)]) {
    const { findings } = convertService(service({
      name: long,
      namespace: long,
      hosts: [long],
      addresses: [long],
      ports: [{ name: long, number: 80, protocol: long }],
      endpoints: [endpoint({ address: long, labels: { [long]: long }, locality: `/${long}` })],
      exportTo: [long],
      workloadSelector: { [`*${long}`]: long },
      labels: { [long]: long, x: long },
      annotations: { [long]: long },
    }));
    assert(findings.length >= 10, `${findings.length}`);
    for (const { message, hint } of findings) {
      assert(message.length + (hint?.length ?? 0) < 600, message.slice(0, 600));
    }
  }
});

Deno.test("convert: what is left out of a service is left out of its version too", () => {
  assertEquals(
    resource({ labels: { "a:b": "x" }, endpoints: [endpoint({ labels: { v: "1:2" } })] }),
    resource(),
  );
  assertNotEquals(resource({ labels: { a: "x" } }), resource());
});

Deno.test("convert: the service itself is not touched", () => {
  const frozen = Object.freeze(service({ labels: Object.freeze({ "a:b": "x" }) }));
  convertService(frozen);
  assertEquals(frozen.labels, { "a:b": "x" });
});

Deno.test("convert: a targetPort is said to Istios that do not know it, in the ports of the endpoints", () => {
  const ports = [
    { name: "grpc", number: 443, protocol: "GRPC", targetPort: 8443 },
    { name: "http", number: 80, protocol: "HTTP" },
  ];
  const endpoints = [
    endpoint({ address: "192.0.2.1" }),
    endpoint({ address: "192.0.2.2", ports: { http: 8080 } }),
    endpoint({ address: "192.0.2.3", ports: { grpc: 9443 } }),
  ];
  const message = toServiceEntry(service({ ports, endpoints }));
  assertEquals(message.endpoints?.map((e) => e?.ports), [
    { grpc: 8443, http: 80 },
    { grpc: 8443, http: 8080 },
    { grpc: 9443 },
  ]);
});
