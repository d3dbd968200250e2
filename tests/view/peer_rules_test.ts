import { assertEquals } from "@std/assert";
import type { PeerMatch, PeerRule } from "../../lib/model/settings.ts";
import { XDS_TYPES } from "../../lib/model/xds_type.ts";
import { clientKind, type PeerFacts, ruleFor } from "../../lib/view/peer_rules.ts";

const PEER: PeerFacts = {
  protocol: "xds",
  id: "sidecar~10.0.0.1~istiod.istio-system~cluster.local",
  userAgent: "envoy",
  annotations: { site: "fra", rack: "" },
  metadata: { ISTIO_VERSION: "1.29.6" },
  identities: ["spiffe://example.org/ns/istio-system/sa/istiod", "istiod.example.org"],
  listener: "0.0.0.0:15012",
};

function rule(match: PeerMatch, more: Partial<PeerRule> = {}): PeerRule {
  return { match, namespaces: [], labels: {}, wave: 1, ...more };
}

const matches = (match: PeerMatch, peer = PEER) => ruleFor([rule(match)], peer) !== undefined;

Deno.test("peer rules: the first rule that matches counts", () => {
  const rules = [rule({ id: "router*" }), rule({ id: "sidecar*" }), rule({})];
  assertEquals(ruleFor(rules, PEER), rules[1]);
  assertEquals(ruleFor(rules, { ...PEER, id: "x" }), rules[2]);
  assertEquals(ruleFor(rules.slice(0, 2), { ...PEER, id: "x" }), undefined);
});

Deno.test("peer rules: each thing told of a peer is matched by a pattern", () => {
  assertEquals(matches({ id: "sidecar~*~cluster.local" }), true);
  assertEquals(matches({ id: "sidecar" }), false);
  assertEquals(matches({ annotations: { site: "f*" } }), true);
  assertEquals(matches({ annotations: { site: "ams" } }), false);
  assertEquals(matches({ annotations: { rack: "*" } }), true, "an empty text is there");
  assertEquals(
    matches({ annotations: { zone: "*" } }),
    false,
    "one that is not there fits nothing",
  );
  assertEquals(matches({ annotations: { toString: "*" } }), false);
  assertEquals(matches({ metadata: { ISTIO_VERSION: "1.29.*" } }), true);
  assertEquals(matches({ metadata: { ISTIO_VERSION: "1.2" } }), false);
  assertEquals(matches({ identity: "spiffe://example.org/ns/istio-system/*" }), true);
  assertEquals(matches({ identity: "*.example.org" }), true, "any of its names will do");
  assertEquals(matches({ identity: "*.Example.org" }), true, "DNS names have no case");
  assertEquals(matches({ identity: "spiffe://other.org/*" }), false);
  assertEquals(matches({ identity: "spiffe://Example.org/*" }), false, "URIs have");
  assertEquals(matches({ listener: "*:15012" }), true);
  assertEquals(matches({ listener: "*:15010" }), false);
});

Deno.test("peer rules: everything given must match", () => {
  assertEquals(matches({ id: "sidecar*", listener: "*:15012", metadata: {} }), true);
  assertEquals(matches({ id: "sidecar*", listener: "*:15010" }), false);
  assertEquals(matches({ annotations: { site: "fra", zone: "a" } }), false);
});

Deno.test("peer rules: what a peer does not have matches no pattern, not even any text", () => {
  const { listener: _, ...dialled } = { ...PEER, identities: [], sink: "mesh-a" };
  assertEquals(matches({ identity: "*" }, dialled), false);
  assertEquals(matches({ listener: "*" }, dialled), false);
  assertEquals(matches({ sink: "mesh-*" }, dialled), true);
  assertEquals(matches({ sink: "*" }), false);
});

Deno.test("peer rules: the kind of client is as the rule says, else as the peer does", () => {
  const kind = (peer: Partial<PeerFacts>, as?: PeerRule["as"]) =>
    clientKind(as === undefined ? undefined : rule({}, { as }), { ...PEER, ...peer });
  assertEquals(kind({}), "envoy");
  assertEquals(kind({}, "dubbo"), "dubbo");
  assertEquals(kind({ metadata: { GENERATOR: "api" } }), "istio");
  assertEquals(kind({ userAgent: "gRPC Go" }), "grpc");
  assertEquals(kind({ protocol: "mcp" }), "istio");
  const { userAgent: _, ...silent } = PEER;
  assertEquals(clientKind(rule({}), silent), "istio");
});

Deno.test("peer rules: what says nothing of itself is told by the type that it asks for first", () => {
  const { userAgent: _, ...silent } = PEER;
  const kind = (peer: Partial<PeerFacts>, as?: PeerRule["as"]) =>
    clientKind(as === undefined ? undefined : rule({}, { as }), { ...silent, ...peer });
  for (const { typeUrl } of XDS_TYPES) {
    assertEquals(kind({ firstType: typeUrl }), "dubbo", "a sidecar's node without user agent");
    assertEquals(kind({ firstType: typeUrl, id: "proxy" }), "envoy");
    assertEquals(kind({ firstType: typeUrl, userAgent: "mesh-agent" }), "envoy");
    assertEquals(kind({ firstType: typeUrl, userAgent: "gRPC C-core" }), "grpc");
    assertEquals(kind({ firstType: typeUrl, metadata: { GENERATOR: "api" } }), "istio");
    assertEquals(kind({ firstType: typeUrl }, "grpc"), "grpc", "a rule goes before");
  }
  assertEquals(kind({ firstType: "networking.istio.io/v1/ServiceEntry" }), "istio");
  assertEquals(kind({ firstType: "type.googleapis.com/x.Y", userAgent: "mesh-agent" }), "istio");
  assertEquals(kind({ firstType: "networking.istio.io/v1/Gateway", userAgent: "envoy" }), "envoy");
  assertEquals(kind({}), "istio");
});
