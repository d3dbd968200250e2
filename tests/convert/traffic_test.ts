import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { checkAliases } from "../../lib/convert/aliases.ts";
import { conflicts } from "../../lib/convert/conflicts.ts";
import { convertService } from "../../lib/convert/convert.ts";
import { scaledWeights } from "../../lib/convert/traffic.ts";
import { checkWildcards } from "../../lib/convert/wildcards.ts";
import type { Service } from "../../lib/model/service.ts";
import {
  destinationRuleCodec,
  mcpResourceCodec,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";
import { endpoint, service } from "./service.ts";

const SPLIT = {
  subsets: { v1: { version: "v1" }, v2: { version: "v2" } },
  split: { v1: 1, v2: 1 },
};
const ENDPOINTS = [
  endpoint({ labels: { version: "v1" } }),
  endpoint({ address: "10.0.0.2", labels: { version: "v2" } }),
];

/** A service with a split, but for what is given. */
function split(parts: Partial<Service> = {}): Service {
  return service({ ...SPLIT, endpoints: ENDPOINTS, ...parts });
}

function rulesOf(parts: Partial<Service>): string[] {
  return convertService(split(parts)).findings.map(({ rule, severity }) => `${severity} ${rule}`);
}

Deno.test("traffic: equal services give equal bytes, in whichever order their maps were written", () => {
  const one = convertService(split({ labels: { a: "1", b: "2" } }));
  const other = convertService(split({
    labels: { b: "2", a: "1" },
    subsets: { v2: { version: "v2" }, v1: { version: "v1" } },
    split: { v2: 1, v1: 1 },
  }));
  assertEquals(other, one);
  assertEquals(one.resources.map(({ kind }) => kind), [
    "ServiceEntry",
    "VirtualService",
    "DestinationRule",
  ]);
});

Deno.test("traffic: the ServiceEntry is the same with and without a split", () => {
  const { split: _split, subsets: _subsets, ...plain } = split();
  assertEquals(convertService(split()).resource, convertService(plain).resource);
});

Deno.test("traffic: weights are scaled to 100 where that is exact, and keep their proportions", () => {
  assertEquals(scaledWeights({ b: 20, a: 80 }), [["a", 80], ["b", 20]]);
  assertEquals(scaledWeights({ a: 1, b: 3 }), [["a", 25], ["b", 75]]);
  assertEquals(scaledWeights({ a: 7, b: 0 }), [["a", 100]]);
  assertEquals(scaledWeights({ a: 1, b: 2 }), [["a", 1], ["b", 2]]);
  const weight = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), weight), (weights) => {
    const scaled = scaledWeights(weights);
    const sum = scaled.reduce((total, [, share]) => total + share, 0);
    for (const [name, share] of scaled) {
      assert(Number.isInteger(share) && share > 0);
      for (const [other, otherShare] of scaled) {
        assertEquals(share * weights[other]!, otherShare * weights[name]!);
      }
    }
    const total = Object.values(weights).reduce((a, b) => a + b, 0);
    assert(sum === 100 || sum === total);
  }));
});

Deno.test("traffic: weights that cannot be scaled are told, alone they are not", () => {
  assertEquals(rulesOf({ split: { v1: 1, v2: 2 } }), ["warning pinnace/split-sum"]);
  assertEquals(rulesOf({ split: { v1: 3, v2: 0 } }), []);
  assertEquals(rulesOf({ split: { v1: 1, v2: 3 } }), []);
});

Deno.test("traffic: a host without a dot is refused where traffic is directed, and else is not", () => {
  assertEquals(rulesOf({ hosts: ["short"] }), [
    "warning pinnace/short-host",
    "error pinnace/traffic-host",
  ]);
  const plain = service({ hosts: ["short"], failover: ["eu"] });
  assert(convertService(plain).findings.some(({ rule }) => rule === "pinnace/traffic-host"));
  assert(convertService(service({ hosts: ["short"] })).resource !== undefined);
});

Deno.test("traffic: a label of a subset that no endpoint may have is refused", () => {
  const { resources, findings } = convertService(
    split({ subsets: { a: { "b c": "d", e: "f/g" } } }),
  );
  assertEquals(resources, []);
  assertEquals(findings.map(({ rule, path, hint }) => [rule, path!.join("."), hint]), [
    ["pinnace/subset-label", "subsets.a.b c", undefined],
    ["pinnace/subset-label", "subsets.a.e", "write f-g, here and at the endpoints"],
  ]);
});

Deno.test("traffic: an endpoint that drains has to be right all the same, and is found in its place", () => {
  const endpoints = [
    endpoint({ drain: true }),
    endpoint({ address: "10.0.0.2" }),
    endpoint({ address: "10.0.0.3", drain: true, ports: { nowhere: 1 } }),
  ];
  const { findings, resource } = convertService(service({ endpoints }));
  assertEquals(resource, undefined);
  assertEquals(findings.map(({ rule, path }) => [rule, path]), [
    ["istio/endpoint-port-undefined", ["endpoints", 2, "ports", "nowhere"]],
  ]);
});

Deno.test("traffic: every endpoint of a failover has all the labels of those after it", () => {
  const endpoints = ["a/b", "a", "c", ""].map((locality, index) =>
    endpoint({ address: `10.0.0.${index}`, locality })
  );
  const { resources } = convertService(service({ endpoints, failover: ["a/b", "x", "a"] }));
  const [entry, rule] = resources;
  assertEquals(rule!.kind, "DestinationRule");
  const bodyOf = (bytes: Uint8Array) => mcpResourceCodec.decode(bytes).body!.value;
  const { trafficPolicy, subsets } = destinationRuleCodec.decode(bodyOf(rule!.resource.bytes));
  assertEquals(subsets, []);
  assertEquals(trafficPolicy!.loadBalancer!.localityLbSetting!.failoverPriority, [
    "pinnace-failover-1=true",
    "pinnace-failover-2=true",
  ]);
  assertEquals(entry!.kind, "ServiceEntry");
  const { endpoints: sent } = serviceEntryCodec.decode(bodyOf(entry!.resource.bytes));
  assertEquals(sent.map(({ labels }) => Object.keys(labels)), [
    ["pinnace-failover-1", "pinnace-failover-2"],
    ["pinnace-failover-1"],
    [],
    [],
  ]);
});

Deno.test("traffic: a name of 253 characters leaves its rules names that can be", () => {
  const name = "a".repeat(250) + ".bc";
  const hosts = ["a.example.com", "b.example.com"];
  const { resources } = convertService(split({ name, hosts }));
  const names = resources.map(({ resource }) => resource.name.split("/")[1]!);
  assertEquals(names.at(-1), "a".repeat(246) + "-host-2");
  for (const one of names) assert(one.length <= 253 && !/[-.]-|[-.]$/.test(one), one);
});

Deno.test("conflicts: services whose rules come to one name", () => {
  const a = split({ name: "a", hosts: ["x.example", "y.example"] });
  const b = split({ name: "a-host-2" });
  const found = (one: Service, other: Service) =>
    conflicts([one, other]).map(({ rule, what }) => [rule, what]);
  assertEquals(found(a, b), [["pinnace/same-name", "default/a-host-2"]]);
  assertEquals(found(a, { ...b, namespace: "shop" }), []);
  assertEquals(found(a, service({ name: "a-host-2" })), []);
});

Deno.test("aliases: names that follow from another service's are told, its hosts are not", () => {
  const taken = (alias: string, other: Partial<Service> = {}) =>
    checkAliases([
      service({ name: "a", aliases: ["x", alias] }),
      service({ name: "b", namespace: "shop", addresses: ["240.0.0.1"], ...other }),
    ]).map(({ service, finding }) => [service, finding.rule, finding.path]);
  const found = [[0, "pinnace/alias-taken", ["aliases", 1]]];
  for (const alias of ["b", "B", "b.shop", "b.shop.svc", "240.0.0.1"]) {
    assertEquals(taken(alias), found, alias);
  }
  for (const alias of ["c", "b.default", "a", "b.shop.svc.cluster.local"]) {
    assertEquals(taken(alias), [], alias);
  }
});

Deno.test("wildcards: services under the wildcard of one with a split are told, unless they have their own", () => {
  const wild = split({ name: "w", hosts: ["*.example.com"] });
  const found = (...others: Service[]) =>
    checkWildcards([wild, ...others]).map(({ service, finding }) => [service, finding.message]);
  const under = service({ name: "u", hosts: ["a.b.Example.com"] });
  assertEquals(found(under), [[
    0,
    'what directs the traffic of "*.example.com" also directs that of default/u, ' +
    "with hosts under it",
  ]]);
  assertEquals(found({ ...under, hosts: ["example.com"] }), []);
  assertEquals(found(split({ name: "u", hosts: ["a.example.com"] })), []);
  // The longest wildcard counts.
  const longer = split({ name: "l", hosts: ["*.b.example.com"] });
  assertEquals(found(under, longer).map(([index]) => index), [2]);
  assertEquals(checkWildcards([service({ hosts: ["*.example.com"] }), under]), []);
});
