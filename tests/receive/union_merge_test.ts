import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStrictEquals,
} from "@std/assert";
import { encodeResource } from "../../lib/convert/encode_resource.ts";
import { formatFinding } from "../../lib/model/finding.ts";
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

/** A ServiceEntry of host `h` with an endpoint at each of these addresses, but for what is given. */
function shared(
  name: string,
  addresses: readonly string[],
  spec: Partially<ServiceEntry> = {},
): Resource {
  return entry(name, {
    hosts: ["h"],
    endpoints: addresses.map((address) => ({ address })),
    ...spec,
  });
}

function united(parts: Readonly<Record<string, readonly Resource[]>>): Union {
  const union = new Union({ merge: "endpoints" });
  for (const [name, resources] of Object.entries(parts)) union.set(name, entries(...resources));
  return union;
}

/** What is served: each entry as `name owner: address@source …`. */
function served(union: Union): string[] {
  return Array.from(union.collections.get("ServiceEntry")!, (resource) => {
    const ends = decoded(resource).endpoints.map(({ address, labels }) =>
      "pinnace-source" in labels ? `${address}@${labels["pinnace-source"]}` : address
    );
    return `${resource.name} ${union.owner("ServiceEntry", resource.name)}: ${ends.join(" ")}`;
  });
}

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

Deno.test("union, merging: a limited source gives its endpoints to no entry where it has no say", () => {
  const own = shared("shop/orders", ["10.0.0.1"]);
  const union = united({ "": [own] });
  union.allow("edge", ["b"]);
  union.set("edge", entries(shared("b/x", ["10.6.6.6"])));
  assertEquals(served(union), ["shop/orders : 10.0.0.1"]);
  assertEquals(union.findings().map(({ message }) => message), [
    'b/x of source "edge" is not served: its host "h" is that of shop/orders of our own ' +
    'configuration, and source "edge" may not fill the namespace shop',
  ]);
  union.allow("edge", ["b", "sh*"]);
  assertEquals(served(union), ["shop/orders : 10.0.0.1@local 10.6.6.6@edge"]);
  assertEquals(union.findings(), []);
  union.allow("edge", ["b"]);
  assertEquals(served(union), ["shop/orders : 10.0.0.1"]);
});

Deno.test("union, merging: what is merged into one entry is bounded, by number and by size", () => {
  const others = (count: number, address: string) =>
    Array.from({ length: count }, (_, i) => shared(`n/y-${`${i}`.padStart(4, "0")}`, [address]));
  const few = { entries: 3, bytes: 10_000 };
  const union = new Union({ merge: "endpoints", bounds: few });
  union.set("a", entries(shared("n/x", ["10.0.0.1"])));
  union.set("b", entries(...others(5, "10.0.0.2")));
  union.set("c", entries(shared("n/a", ["10.0.0.3"])));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b"], "those of b come before c's");
  const [found, ...more] = union.findings();
  assertEquals(more.length, 2);
  assertEquals(
    formatFinding(found!),
    'error: n/y-0003: n/y-0003 of source "b" is not served: its host "h" is that of n/x of source "a" ' +
      "already, and it has the endpoints of as many others as it may (3 entries, 10 KiB); put the " +
      "endpoints into fewer entries, or give some of them another host [receive/contested-host]",
  );
  union.set("b", entries(...others(2, "10.0.0.2")));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b 10.0.0.3@c"]);
  assertEquals(union.findings(), []);
  const large = shared(
    "n/y-0000",
    Array.from({ length: 800 }, (_, i) => `10.1.${i >> 8}.${i & 255}`),
  );
  union.set("b", entries(large));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.3@c"], "a small one after it has room");
  assertEquals(union.findings().map(({ subject }) => subject), ["n/y-0000"]);
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
