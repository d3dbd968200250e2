import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStrictEquals,
} from "@std/assert";
import { encodeResource } from "../../lib/convert/encode_resource.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { sourceLabel } from "../../lib/receive/merge_endpoints.ts";
import { Union } from "../../lib/receive/union.ts";
import {
  mcpResourceCodec,
  type Partially,
  type ServiceEntry,
  serviceEntryCodec,
  type WorkloadEntry,
} from "../../lib/wire/messages.ts";
import { decoded, entries, entry } from "./entries.ts";
import { served, shared, unite } from "./unions.ts";

const united = (parts: Readonly<Record<string, readonly Resource[]>>) => unite(parts, "endpoints");

Deno.test("union, merging: the first entry gets the endpoints of the others; when one leaves, it shrinks", () => {
  const union = united({
    a: [shared("n/x", ["10.0.0.1"])],
    b: [shared("m/y", ["10.0.0.2", "10.0.0.3"])],
    c: [shared("n/z", ["10.0.0.4"])],
  });
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b 10.0.0.3@b 10.0.0.4@c"]);
  assertEquals(union.findings(), []);
  union.set("b", entries(shared("m/y", ["10.0.0.3"])));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.3@b 10.0.0.4@c"]);
  union.set("c", undefined);
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.3@b"]);
  union.set("b", undefined);
  assertEquals(served(union), ["n/x a: 10.0.0.1"], "alone it is as its source gave it");
});

Deno.test("union, merging: when the first leaves, the next takes over, and keeps it when the first returns", () => {
  const union = united({
    a: [shared("n/x", ["10.0.0.1"])],
    b: [shared("n/y", ["10.0.0.2"])],
    c: [shared("n/z", ["10.0.0.3"])],
  });
  union.set("a", undefined);
  assertEquals(served(union), ["n/y b: 10.0.0.2@b 10.0.0.3@c"]);
  union.set("a", entries(shared("n/x", ["10.0.0.1"])));
  assertEquals(served(union), ["n/y b: 10.0.0.2@b 10.0.0.3@c 10.0.0.1@a"]);
});

Deno.test("union, merging: after a restart the first is the same, whatever order the parts come in", () => {
  const parts = {
    b: [shared("n/y", ["10.0.0.2"])],
    a: [shared("n/x", ["10.0.0.1"])],
    c: [shared("n/z", ["10.0.0.3"])],
  };
  const { collections } = united(parts);
  const union = new Union({ merge: "endpoints", served: collections });
  for (const name of ["a", "c", "b"] as const) union.set(name, entries(...parts[name]));
  assertEquals(served(union), ["n/y b: 10.0.0.2@b 10.0.0.1@a 10.0.0.3@c"]);
});

Deno.test("union, merging: our own entry leads, its endpoints are called local", () => {
  const union = united({
    edge: [shared("n/x", ["10.0.0.1"])],
    "": [shared("n/own", ["10.0.0.2"])],
  });
  assertEquals(served(union), ["n/own : 10.0.0.2@local 10.0.0.1@edge"]);
});

Deno.test("union, merging: endpoints with equal address and ports are one, the earlier", () => {
  const endpoints = (source: string, port: number): Partially<WorkloadEntry>[] => [
    { address: "10.0.0.1", labels: { from: source } },
    { address: "10.0.0.2", ports: { http: port } },
  ];
  const union = united({
    a: [shared("n/x", [], { endpoints: endpoints("a", 8080) })],
    b: [shared("n/y", [], { endpoints: endpoints("b", 9090) })],
  });
  const merged = decoded(union.collections.get("ServiceEntry")!.get("n/x")).endpoints;
  assertEquals(merged.map(({ address, ports, labels }) => [address, { ...ports }, { ...labels }]), [
    ["10.0.0.1", {}, { from: "a", "pinnace-source": "a" }],
    ["10.0.0.2", { http: 8080 }, { "pinnace-source": "a" }],
    ["10.0.0.2", { http: 9090 }, { "pinnace-source": "b" }],
  ]);
});

Deno.test("union, merging: a label that says the source already stays, as with another receiver before us", () => {
  const endpoints = [{ address: "10.0.0.1", labels: { "pinnace-source": "site-1" } }];
  const union = united({ a: [shared("n/x", [], { endpoints })], b: [shared("n/y", ["10.0.0.2"])] });
  assertEquals(served(union), ["n/x a: 10.0.0.1@site-1 10.0.0.2@b"]);
});

Deno.test("union, merging: an endpoint keeps the port that its own entry sends it to", () => {
  const ports = (targetPort: number) => [
    { number: 80, protocol: "HTTP", name: "http", targetPort },
    { number: 81, protocol: "TCP", name: "tcp" },
  ];
  const union = united({
    a: [shared("n/x", ["10.0.0.1"], { ports: ports(8080) })],
    b: [shared("n/y", ["10.0.0.2"], { ports: ports(9090) })],
    c: [shared("n/z", [], {
      ports: ports(0),
      endpoints: [
        { address: "10.0.0.3" },
        { address: "10.0.0.4", ports: { http: 7070 } },
        { address: "unix:///run/shop" },
      ],
    })],
  });
  const merged = decoded(union.collections.get("ServiceEntry")!.get("n/x")).endpoints;
  assertEquals(merged.map(({ address, ports }) => [address, { ...ports }]), [
    ["10.0.0.1", {}],
    ["10.0.0.2", { http: 9090 }],
    ["10.0.0.3", { http: 80 }],
    ["10.0.0.4", { http: 7070 }],
    ["unix:///run/shop", {}],
  ]);
});

Deno.test("union, merging: name, labels and the rest are the first's, the version that of the content", () => {
  const first = entry("n/x", {
    hosts: ["h"],
    addresses: ["240.0.0.1"],
    exportTo: ["."],
    ...{ endpoints: [{ address: "10.0.0.1" }] },
  }, { team: "shop" });
  const union = united({ a: [first], b: [shared("n/y", ["10.0.0.2"], { exportTo: ["*"] })] });
  const merged = union.collections.get("ServiceEntry")!.get("n/x")!;
  const { metadata } = mcpResourceCodec.decode(merged.bytes);
  assertEquals({ ...metadata!.labels }, { team: "shop" });
  assertEquals(metadata!.version, merged.version);
  assertNotEquals(merged.version, first.version);
  const { addresses, exportTo } = decoded(merged);
  assertEquals({ addresses, exportTo }, { addresses: ["240.0.0.1"], exportTo: ["."] });
  const again = encodeResource(
    { namespace: "n", name: "x", labels: { team: "shop" }, annotations: {} },
    serviceEntryCodec.pack(decoded(merged)),
  );
  assertEquals(again.bytes, merged.bytes);
});

Deno.test("union, merging: the first's time of creation stays, and is no part of the version", () => {
  const createTime = { seconds: 1_700_000_000, nanos: 5 };
  const aged = (one: Resource) => {
    const { metadata, body } = mcpResourceCodec.decode(one.bytes);
    const bytes = mcpResourceCodec.encode({ metadata: { ...metadata, createTime }, body });
    return { ...one, bytes };
  };
  const [x, y] = [shared("n/x", ["10.0.0.1"]), shared("n/y", ["10.0.0.2"])];
  const [before, after] = [x, aged(x)].map((first) =>
    united({ a: [first], b: [y] }).collections.get("ServiceEntry")!.get("n/x")!
  );
  const { metadata } = mcpResourceCodec.decode(after!.bytes);
  assertEquals({ ...metadata!.createTime }, createTime);
  assertEquals(after!.version, before!.version);
});

Deno.test("union, merging: a merged entry stays the same object while none of those in it changes", () => {
  const union = united({ a: [shared("n/x", ["10.0.0.1"])], b: [shared("n/y", ["10.0.0.2"])] });
  const merged = union.collections.get("ServiceEntry")!.get("n/x");
  union.set("b", entries(shared("n/y", ["10.0.0.2"]), entry("n/more")));
  assertStrictEquals(union.collections.get("ServiceEntry")!.get("n/x"), merged);
});

Deno.test("union, merging: entries whose hosts, ports, location or resolution differ are not merged", () => {
  const port = { number: 80, protocol: "HTTP", name: "http" };
  const cases: readonly [Partially<ServiceEntry>, RegExp][] = [
    [{ hosts: ["h", "h2"] }, /their hosts are not all the same/],
    [
      { ports: [{ ...port, number: 81 }] },
      /their ports differ \(80\/HTTP http and 81\/HTTP http\)/,
    ],
    [{ ports: [{ ...port, protocol: "TCP" }] }, /their ports differ/],
    [{ ports: [{ ...port, name: "web" }] }, /their ports differ/],
    [{ ports: [] }, /their ports differ \(80\/HTTP http and none\)/],
    [{ location: "MESH_INTERNAL" }, /locations differ \(MESH_EXTERNAL and MESH_INTERNAL\)/],
    [{ resolution: "DNS" }, /resolutions differ \(STATIC and DNS\)/],
    [{ workloadSelector: { labels: { app: "x" } } }, /a workloadSelector finds the endpoints/],
  ];
  for (const [spec, reason] of cases) {
    const other = shared("n/y", ["10.0.0.2"], spec);
    const union = united({ a: [shared("n/x", ["10.0.0.1"])], b: [other] });
    assertEquals(served(union), ["n/x a: 10.0.0.1"]);
    const [found, ...more] = union.findings();
    assertEquals([found!.subject, found!.rule, more], ["n/y", "receive/contested-host", []]);
    assertMatch(found!.message, reason);
    assertMatch(
      found!.message,
      /"h" is that of n\/x of source "a" already, and the two cannot be merged/,
    );
    union.set("b", entries(shared("n/y", ["10.0.0.2"])));
    assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b"]);
  }
});

Deno.test("union, merging: a difference is gone when the first entry changes; capitals of a protocol are none", () => {
  const of = (number: number, protocol: string) => ({ ports: [{ number, protocol, name: "p" }] });
  const union = united({
    a: [shared("n/x", ["10.0.0.1"], of(80, "HTTP"))],
    b: [shared("n/y", ["10.0.0.2"], of(81, "http"))],
  });
  assertEquals(served(union), ["n/x a: 10.0.0.1"]);
  union.set("a", entries(shared("n/x", ["10.0.0.1"], of(81, "HTTP"))));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b"]);
  union.set("a", entries(shared("n/x", ["10.0.0.1"], of(82, "HTTP"))));
  assertEquals(served(union), ["n/x a: 10.0.0.1"]);
});

Deno.test("union, merging: hosts that are looked up, and DNS_ROUND_ROBIN, are not merged", () => {
  const cases: readonly [ServiceEntry["resolution"], string[], string[], RegExp | undefined][] = [
    ["DNS", [], [], /no endpoints: its hosts are looked up/],
    ["DNS", ["one.example"], [], /no endpoints/],
    ["DNS", ["one.example"], ["two.example"], undefined],
    ["DYNAMIC_DNS", [], [], /no endpoints/],
    ["DNS_ROUND_ROBIN", ["one.example"], ["two.example"], /allows one endpoint only/],
    ["STATIC", [], ["10.0.0.1"], undefined],
    ["NONE", [], [], undefined],
  ];
  for (const [resolution, first, other, reason] of cases) {
    const union = united({
      a: [shared("n/x", first, { resolution })],
      b: [shared("n/y", other, { resolution })],
    });
    const messages = union.findings().map(({ message }) => message);
    assertEquals(messages.length, reason === undefined ? 0 : 1, `${resolution} ${messages}`);
    if (reason !== undefined) assertMatch(messages[0]!, reason);
    else {assertEquals(
        decoded(union.collections.get("ServiceEntry")!.get("n/x")).endpoints.length,
        first.length + other.length,
      );}
  }
});

Deno.test("union, merging: the mode can change while it runs", () => {
  const union = united({ a: [shared("n/x", ["10.0.0.1"])], b: [shared("n/y", ["10.0.0.2"])] });
  const merged = union.collections.get("ServiceEntry")!;
  union.setMerge("endpoints");
  assertStrictEquals(union.collections.get("ServiceEntry"), merged);
  union.setMerge("refuse");
  assertEquals(served(union), ["n/x a: 10.0.0.1"]);
  assertEquals(union.findings().map(({ subject }) => subject), ["n/y"]);
  union.setMerge("endpoints");
  assertEquals(union.collections.get("ServiceEntry")!.version, merged.version);
  assertEquals(union.findings(), []);
});

Deno.test("union, merging: the entries of one part with one host: one of them gets the others' endpoints", () => {
  const twins = [shared("n/x", ["10.0.0.1"]), shared("n/y", ["10.0.0.2"])];
  const union = united({ a: twins, b: [shared("n/z", ["10.0.0.3"])] });
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.3@b", "n/y a: 10.0.0.2"]);
  for (const address of ["10.0.0.3", "10.0.0.4"]) {
    union.set("a", entries(...twins, shared("n/w", ["10.0.0.5"])));
    union.set("b", entries(shared("n/z", [address])));
    const merged = `n/w a: 10.0.0.5@a ${address}@b`;
    assertEquals(served(union), [merged, "n/x a: 10.0.0.1", "n/y a: 10.0.0.2"]);
  }
});

Deno.test("union, merging: any source's name becomes the value of a label", () => {
  const isValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
  const long = "spiffe://example.org/ns/edge/sa/" + "x".repeat(60);
  const names = [
    "",
    "edge-1",
    "spiffe://example.org/edge/fra",
    "10.0.0.1",
    "[fd00::1]",
    "///",
    "ü",
    long,
    `${long}y`,
    "xds://host:15010",
  ];
  const labels = names.map(sourceLabel);
  for (const label of labels) assertMatch(label, isValue);
  assertEquals(labels.slice(0, 3), ["local", "edge-1", "spiffe-example.org-edge-fra"]);
  assert(new Set(labels).size === names.length, `each another: ${labels}`);
});
