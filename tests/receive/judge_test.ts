import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import {
  composeDelta,
  composeMcp,
  composeSotw,
  encodeResources,
  flatten,
} from "../../lib/wire/compose.ts";
import { KINDS, MCP_RESOURCE_TYPE_URL, TRIGGER_COLLECTION } from "../../lib/model/kind.ts";
import { judge } from "../../lib/receive/judge.ts";
import type { Judgement, JudgeOptions } from "../../lib/receive/received.ts";
import { discoveryResponseCodec, mcpResourceCodec } from "../../lib/wire/messages.ts";
import {
  COLLECTION,
  converted,
  deltaPush,
  ENTRY,
  mcpPush,
  mcpResource,
  sotwPush,
  TYPE_URL,
} from "./pushes.ts";

const MCP: JudgeOptions = { protocol: "mcp", namespaces: [] };
const SOTW: JudgeOptions = { protocol: "sotw", namespaces: [] };
const DELTA: JudgeOptions = { protocol: "delta", namespaces: [] };

function accepted(judgement: Judgement): Extract<Judgement, { kind: "accepted" }> {
  assert(judgement.kind === "accepted", JSON.stringify(judgement));
  return judgement;
}

function refused(judgement: Judgement): Extract<Judgement, { kind: "refused" }> {
  assert(judgement.kind === "refused", judgement.kind);
  return judgement;
}

/** The rules that a push of MCP with these resources breaks. */
function rulesOf(...args: Parameters<typeof mcpPush>): string[] {
  const { findings, message } = refused(judge(mcpPush(...args), MCP));
  for (const { rule } of findings) assertStringIncludes(message, `[${rule}]`);
  return findings.map(({ rule }) => rule);
}

Deno.test("judge: what a Pinnace sends comes out as it went in, in all three protocols", () => {
  const resources = converted(300);
  const envelope = { version: "abc", nonce: "n1", removed: ["shop/gone"], incremental: true };
  const layOut = (format: "mcp" | "sotw" | "delta") => [
    encodeResources(format, MCP_RESOURCE_TYPE_URL, resources),
  ];
  const pushes = [
    [composeMcp({ ...envelope, type: COLLECTION }, layOut("mcp")), MCP, ["shop/gone"]],
    [composeSotw({ ...envelope, type: TYPE_URL }, layOut("sotw")), SOTW, []],
    [composeDelta({ ...envelope, type: TYPE_URL }, layOut("delta")), DELTA, ["shop/gone"]],
  ] as const;
  for (const [message, options, removed] of pushes) {
    const judgement = accepted(judge(flatten(message), options));
    assertEquals(judgement.kindName, "ServiceEntry");
    assertEquals(judgement.head.incremental, removed.length > 0);
    assertEquals(judgement.removed, removed);
    assertEquals(judgement.resources.map(({ resource }) => resource), resources);
    assertEquals(judgement.resources.map(({ told }) => told), resources.map((r) => r.version));
  }
});

Deno.test("judge: a resource of another source gets our version and keeps its body, time and maps", () => {
  const metadata = {
    createTime: { seconds: 1700000000, nanos: 5 },
    labels: { app: "x" },
    annotations: { "example.com/note": "hello there" },
  };
  // Fields in another order than ours, and one that is unknown here.
  const value = new Uint8Array([
    0x28,
    2,
    0x0a,
    5,
    ...new TextEncoder().encode("a.b.c"),
    0xf8,
    7,
    1,
  ]);
  const push = mcpPush([{
    ...mcpResource("shop/orders", ENTRY, metadata),
    body: { typeUrl: "type.googleapis.com/istio.networking.v1beta1.ServiceEntry", value },
  }]);
  const [one] = accepted(judge(push, MCP)).resources;
  const { metadata: written, body } = mcpResourceCodec.decode(one!.resource.bytes);
  assertEquals(one!.told, "v-shop/orders");
  assertEquals(written!.version, one!.resource.version);
  assert(/^[0-9a-f]{16}$/.test(one!.resource.version));
  assertEquals(written!.createTime, metadata.createTime);
  assertEquals<Record<string, string>>({ ...written!.labels }, metadata.labels);
  assertEquals<Record<string, string>>({ ...written!.annotations }, metadata.annotations);
  assertEquals(body!.typeUrl, "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry");
  assertEquals(new Uint8Array(body!.value), value);
});

Deno.test("judge: the version follows the content, not what the source calls it or when it made it", () => {
  const versionOf = (...args: Parameters<typeof mcpResource>) =>
    accepted(judge(mcpPush([mcpResource(...args)]), MCP)).resources[0]!.resource.version;
  const plain = versionOf("a/b");
  assertEquals(versionOf("a/b", ENTRY, { version: "other", createTime: { seconds: 5 } }), plain);
  assert(versionOf("a/b", ENTRY, { labels: { x: "y" } }) !== plain);
  assert(versionOf("a/b", { ...ENTRY, location: "MESH_INTERNAL" }) !== plain);
});

Deno.test("judge: a time that no sink would take becomes the fixed one", () => {
  const timeOf = (createTime: { seconds: number | bigint; nanos?: number } | undefined) => {
    const push = mcpPush([mcpResource("a/b", ENTRY, { createTime })]);
    const { bytes } = accepted(judge(push, MCP)).resources[0]!.resource;
    return mcpResourceCodec.decode(bytes).metadata!.createTime;
  };
  const fixed = { seconds: 1577836800, nanos: 0 };
  for (
    const time of [
      undefined,
      { seconds: 0 },
      { seconds: -62135596800 },
      { seconds: 253402300800 },
      { seconds: 2n ** 62n },
      { seconds: 5, nanos: -1 },
      { seconds: 5, nanos: 1e9 },
    ]
  ) assertEquals(timeOf(time), fixed);
  assertEquals(timeOf({ seconds: 0, nanos: 1 }), { seconds: 0, nanos: 1 });
});

Deno.test("judge: a name is namespace/name as Kubernetes has it, and a finding says what is right", () => {
  const hints: Record<string, string> = {
    "/shop/orders": 'write "shop/orders"',
    "/orders": 'write "namespace/name"',
    "orders": "write namespace/name",
    "a/b/c": "exactly one slash",
    "Shop/orders": "write shop",
    "shop/Or_ders": "write or-ders",
    "shop/": "253 at most",
    "/": "write",
    [`${"n".repeat(64)}/x`]: "63 at most",
    [`x/${"n".repeat(300)}`]: "253 at most",
    "": "metadata.name",
  };
  for (const [name, hint] of Object.entries(hints)) {
    const { findings } = refused(judge(mcpPush([mcpResource(name)]), MCP));
    assertEquals(findings.map(({ rule }) => rule), ["receive/name"], name);
    assertStringIncludes(
      `${findings[0]!.hint}`,
      hint.replaceAll('"namespace/name"', "namespace/name"),
    );
    assert(findings[0]!.subject !== "" && findings[0]!.subject!.length <= 320);
  }
  accepted(judge(mcpPush([mcpResource("shop/orders.v1"), mcpResource("0/0")]), MCP));
});

Deno.test("judge: each fault refuses the push by its rule", () => {
  const one = mcpResource("shop/orders");
  assertEquals(rulesOf([{ body: one.body! }]), ["receive/name"]);
  assertEquals(rulesOf([{ metadata: one.metadata! }]), ["receive/body"]);
  const typeUrl = "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry";
  const other = "type.googleapis.com/istio.networking.v1alpha3.Gateway";
  for (const wrong of [other, "istio.networking.v1alpha3.ServiceEntry", "", "x/ServiceEntry"]) {
    const body = { typeUrl: wrong, value: one.body!.value! };
    assertEquals(rulesOf([{ ...one, body }]), ["receive/body"], wrong);
  }
  assertEquals(rulesOf([{ ...one, body: { typeUrl, value: Uint8Array.of(0x0a, 9) } }]), [
    "receive/body",
  ]);
  assertEquals(rulesOf([one, mcpResource("shop/bills"), one]), ["receive/duplicate"]);
  const removal = { incremental: true, removedResources: ["shop/orders"] };
  assertEquals(rulesOf([one], removal), ["receive/duplicate"]);
  accepted(judge(mcpPush([one], { ...removal, incremental: false }), MCP));
  assertEquals(rulesOf([mcpResource("a/b", ENTRY, { labels: { "a b": "c", d: "e f" } })]), [
    "receive/label",
    "receive/label",
  ]);
  assertEquals(rulesOf([mcpResource("a/b", { ...ENTRY, hosts: [] })]), ["istio/hosts-required"]);
  const annotations = { "internal.istio.io/parents": "x" };
  assertEquals(rulesOf([mcpResource("a/b", ENTRY, { annotations })]), [
    "istio/internal-annotation",
  ]);
});

Deno.test("judge: a source may fill its namespaces only", () => {
  const options: JudgeOptions = { protocol: "mcp", namespaces: ["shop", "team-*"] };
  accepted(judge(mcpPush([mcpResource("shop/a"), mcpResource("team-1/a")]), options));
  const push = mcpPush([mcpResource("shop/a"), mcpResource("kube-system/a")]);
  const { findings, message } = refused(judge(push, options));
  assertEquals(findings.map((f) => [f.rule, f.subject]), [["receive/namespace", "kube-system/a"]]);
  assertStringIncludes(message, "1 of 2 resources refused: kube-system/a: ");
  assertStringIncludes(message, "it may fill shop, team-*");
});

Deno.test("judge: what only Pinnace would not publish is a warning", () => {
  const hosts = ["a.example.com", "A.example.com"];
  const judgement = accepted(judge(mcpPush([mcpResource("a/b", { ...ENTRY, hosts })]), MCP));
  assertEquals(judgement.findings.map((f) => [f.rule, f.severity, f.subject]), [
    ["pinnace/repeated-host", "warning", "a/b"],
  ]);
  assertEquals(judgement.resources.length, 1);
});

Deno.test("judge: the reason names the first resources and counts the others, bounded whatever is sent", () => {
  const bad = Array.from(
    { length: 500 },
    (_, i) => mcpResource(`shop/svc-${i}`, { hosts: ["é ".repeat(2000)] }),
  );
  const { findings, message } = refused(judge(mcpPush([...bad, mcpResource("a/b")]), MCP));
  assertEquals(findings.length, 20);
  assert(message.length <= 2000, `${message.length}`);
  assert(message.isWellFormed());
  assert(message.startsWith("500 of 501 resources refused: shop/svc-0 hosts[0]: "), message);
  const named = new Set(message.match(/shop\/svc-\d+/g));
  assert(named.size > 2);
  assertStringIncludes(message, `and ${500 - named.size} more`);
  for (const finding of findings) assert(JSON.stringify(finding).length < 2000);
});

Deno.test("judge: what is said of names, keys and values of any length stays short", () => {
  const long = "\u{1f980} ".repeat(100_000);
  const resources = [
    mcpResource(long),
    mcpResource(`a/${long}`),
    mcpResource("a/b", ENTRY, { labels: { [long]: long }, annotations: { [long]: long } }),
    mcpResource("a/c", {
      hosts: [long],
      addresses: [long],
      exportTo: [long],
      subjectAltNames: [long],
      resolution: "STATIC",
      ports: [{ number: 80, name: long, protocol: long }],
      endpoints: [{
        address: long,
        labels: { [long]: long },
        ports: { [long]: 70_000 },
        network: long,
        locality: long,
      }],
      workloadSelector: { labels: { [long]: long } },
    }),
    { ...mcpResource("a/d"), body: { typeUrl: long, value: new Uint8Array() } },
  ];
  const { findings, message } = refused(judge(mcpPush(resources), MCP));
  assert(findings.length > 8, `${findings.length}`);
  for (const finding of findings) assert(JSON.stringify(finding).length < 3000);
  assert(message.length <= 2000 && message.isWellFormed());
  const unknown = refused(judge(mcpPush([mcpResource("a/b")], { collection: long }), MCP));
  assert(JSON.stringify(unknown.findings).length < 3000 && unknown.message.length <= 2000);
  const any = { typeUrl: long, value: new Uint8Array() };
  const xds = discoveryResponseCodec.encode({ typeUrl: TYPE_URL, resources: [any] });
  assert(JSON.stringify(refused(judge(xds, SOTW)).findings).length < 3000);
});

Deno.test("judge: a trigger and an empty unknown collection are of no kind; an unknown one with resources is refused", () => {
  for (const collection of [TRIGGER_COLLECTION, ""]) {
    const judgement = accepted(judge(mcpPush([mcpResource("///")], { collection }), MCP));
    assertEquals([judgement.head.type, judgement.kindName], [collection, undefined]);
    assertEquals(judgement.resources, []);
  }
  const collection = "k8s/core/v1/nodes";
  assertEquals(accepted(judge(mcpPush([], { collection }), MCP)).kindName, undefined);
  assertEquals(rulesOf([mcpResource("a/b")], { collection }), ["receive/kind"]);
  assertEquals(accepted(judge(sotwPush([], "core/v1alpha1/MeshConfig"), SOTW)).kindName, undefined);
  const { findings } = refused(judge(sotwPush([mcpResource("a/b")], "a.b/v1/C"), SOTW));
  assertEquals(findings[0]!.rule, "receive/kind");
  assertEquals(refused(judge(sotwPush([mcpResource("a/b")], ""), SOTW)).findings.length, 1);
});

Deno.test("judge: in xDS, each resource must be MCP's, readable, and called the same outside and inside", () => {
  const value = mcpResourceCodec.encode(mcpResource("a/b"));
  for (
    const any of [
      { typeUrl: TYPE_URL, value },
      { typeUrl: MCP_RESOURCE_TYPE_URL, value: value.subarray(0, 10) },
    ]
  ) {
    const push = discoveryResponseCodec.encode({ typeUrl: TYPE_URL, resources: [any] });
    const { findings } = refused(judge(push, SOTW));
    assertEquals(findings.map((f) => [f.rule, f.subject]), [["receive/resource", "resources[0]"]]);
  }
  const judgement = accepted(judge(deltaPush([mcpResource("a/b")], ["a/c"]), DELTA));
  assertEquals(judgement.resources[0]!.told, "d-a/b");
  const renamed = deltaPush([mcpResource("a/b")]).slice();
  const at = renamed.findLastIndex((byte) => byte === "b".charCodeAt(0));
  renamed[at] = "c".charCodeAt(0);
  assertEquals(refused(judge(renamed, DELTA)).findings[0]!.rule, "receive/name");
});

Deno.test("judge: every kind is taken under each of its served versions, and other bodies must be messages", () => {
  for (const { collection, kind, versions, message } of KINDS) {
    if (kind === "ServiceEntry" || kind === "WorkloadEntry") continue;
    const group = message.split(".").slice(0, 2).join(".");
    const push = (value: Uint8Array, version: string, annotations = {}) =>
      mcpPush([{
        metadata: { name: "a/b", annotations },
        body: { typeUrl: `type.googleapis.com/${group}.${version}.${kind}`, value },
      }], { collection });
    for (const version of versions) {
      const judgement = accepted(judge(push(Uint8Array.of(0x0a, 1, 65), version), MCP));
      assertEquals(judgement.kindName, kind);
    }
    const broken = refused(judge(push(Uint8Array.of(0x0a, 2, 65), versions[0]!), MCP));
    assertEquals(broken.findings[0]!.rule, "receive/body");
    const dry = judge(push(new Uint8Array(), versions[0]!, { "istio.io/dry-run": "true" }), MCP);
    assertEquals(dry.kind, kind === "AuthorizationPolicy" ? "accepted" : "refused");
  }
  const workload = (address: string) =>
    mcpPush([{
      metadata: { name: "a/b" },
      body: {
        typeUrl: "type.googleapis.com/istio.networking.v1.WorkloadEntry",
        value: new Uint8Array([0x0a, address.length, ...new TextEncoder().encode(address)]),
      },
    }], { collection: "istio/networking/v1alpha3/workloadentries" });
  accepted(judge(workload("10.0.0.1"), MCP));
  assertEquals(
    refused(judge(workload("not an address"), MCP)).findings[0]!.rule,
    "istio/endpoint-address",
  );
});

Deno.test("judge: 50,000 small resources pass, a message of nothing but empty ones does not", () => {
  const security = "istio/security/v1beta1/peerauthentications";
  const body = {
    typeUrl: "type.googleapis.com/istio.security.v1beta1.PeerAuthentication",
    value: new Uint8Array(),
  };
  const many = Array.from({ length: 50_000 }, (_, i) => ({
    metadata: { name: `a/${i}`, version: "1", labels: { a: "b" } },
    body,
  }));
  const push = mcpPush(many, { collection: security });
  assertEquals(accepted(judge(push, MCP)).resources.length, 50_000);
  const empty = new Uint8Array(1 << 20);
  for (let at = 0; at < empty.length; at += 2) empty[at] = 0x1a; // resources, of length 0
  assertEquals(judge(empty, MCP).kind, "unreadable");
});

Deno.test("judge: whatever bytes come, the answer is a judgement", () => {
  const whole = mcpPush([mcpResource("shop/orders"), mcpResource("shop/bills")]);
  const mangled = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }).map(
    (changes) => {
      const bytes = whole.slice();
      for (const [at, byte] of changes) bytes[at] = byte;
      return bytes;
    },
  );
  const protocol = fc.constantFrom("mcp" as const, "sotw" as const, "delta" as const);
  fc.assert(
    fc.property(fc.oneof(mangled, fc.uint8Array()), protocol, (bytes, protocol) => {
      const before = bytes.slice();
      const judgement = judge(bytes, { protocol, namespaces: [] });
      assertEquals(bytes, before);
      if (judgement.kind === "unreadable") assert(judgement.message.length > 0);
      if (judgement.kind === "refused") assert(judgement.findings.length > 0);
      if (judgement.kind === "accepted") {
        for (const { resource } of judgement.resources) mcpResourceCodec.decode(resource.bytes);
      }
    }),
    { numRuns: 2000 },
  );
});
