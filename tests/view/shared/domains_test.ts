import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { domainsOf, settleDomains } from "../../../lib/view/shared/domains.ts";
import { aService } from "../services.ts";

const texts = (...args: Parameters<typeof domainsOf>) => domainsOf(...args).map(({ text }) => text);

Deno.test("domains: hosts, addresses, aliases and derived names, each with and without the port", () => {
  const service = aService("shop/billing", {
    hosts: ["billing.example.com"],
    addresses: ["240.0.0.10", "fd00::7", "10.1.0.0/16", "10.2.0.1/32"],
    aliases: ["Billing-Provider"],
  });
  assertEquals(texts(service, [80]), [
    "billing.example.com",
    "billing.example.com:80",
    "240.0.0.10",
    "240.0.0.10:80",
    "[fd00::7]",
    "[fd00::7]:80",
    "10.2.0.1",
    "10.2.0.1:80",
    "Billing-Provider",
    "Billing-Provider:80",
    "billing",
    "billing:80",
    "billing.shop",
    "billing.shop:80",
    "billing.shop.svc",
    "billing.shop.svc:80",
  ]);
});

Deno.test("domains: a wildcard host keeps its wildcard, and the port comes behind", () => {
  const service = aService("shop/any", { hosts: ["*.example.com"] });
  assertEquals(texts(service, [80, 8080]).slice(0, 3), [
    "*.example.com",
    "*.example.com:80",
    "*.example.com:8080",
  ]);
});

function settle(...services: ReturnType<typeof aService>[]) {
  const claims = services.map((service) => ({
    key: `${service.namespace}/${service.name}`,
    domains: domainsOf(service, []),
  }));
  return settleDomains(claims, "default", "port 80");
}

Deno.test("domains: a full host wins over an alias, an alias over a derived name, whoever comes first", () => {
  const { granted, findings } = settle(
    aService("a/orders", { hosts: ["x.example"] }),
    aService("b/two", { hosts: ["two.example"], aliases: ["orders", "three.example"] }),
    aService("c/three", { hosts: ["three.example"] }),
  );
  assertEquals(granted, [
    ["x.example", "orders.a", "orders.a.svc"],
    ["two.example", "orders", "two", "two.b", "two.b.svc"],
    ["three.example", "three", "three.c", "three.c.svc"],
  ]);
  assertEquals(findings.map(({ key, rule }) => [key, rule]), [
    ["a/orders", "view/domain-taken"],
    ["b/two", "view/domain-taken"],
  ]);
  assertStringIncludes(findings[0]!.message, "on port 80 requests go for orders to b/two");
});

Deno.test("domains: a short name goes to the default namespace, else to the first key", () => {
  const [a, c, d] = ["a/orders", "c/orders", "default/orders"].map((key) => aService(key));
  assertEquals(settle(a!, d!).granted.map((names) => names.includes("orders")), [false, true]);
  assertEquals(settle(c!, a!).granted.map((names) => names.includes("orders")), [false, true]);
});

Deno.test("domains: case does not tell names apart", () => {
  const { granted } = settle(
    aService("a/one", { hosts: ["One.example", "one.Example"] }),
    aService("b/two", { hosts: ["ONE.EXAMPLE", "two.example"] }),
  );
  assertEquals(granted[0]![0], "One.example");
  assert(!granted[0]!.includes("one.Example"));
  assert(!granted[1]!.includes("ONE.EXAMPLE"));
});

Deno.test("domains: two claims of one service share its names without a finding", () => {
  const service = aService("a/one", { hosts: ["one.example"] });
  const { granted, findings } = settle(service, { ...service, hosts: ["two.example"] });
  assertEquals(granted, [["one.example", "one", "one.a", "one.a.svc"], ["two.example"]]);
  assertEquals(findings, []);
});

Deno.test("domains: every name is given to one claim, and to the same whatever the order of claims", () => {
  const services = fc.uniqueArray(
    fc.record({
      key: fc.constantFrom("a/x", "a/y", "default/x", "default/y", "z/x"),
      hosts: fc.uniqueArray(fc.constantFrom("x.a", "X", "y", "*.a", "q.example"), { minLength: 1 }),
      aliases: fc.uniqueArray(fc.constantFrom("x", "y.a", "p")),
    }),
    { selector: ({ key }) => key },
  ).map((list) => list.map(({ key, ...extra }) => aService(key, extra)));
  fc.assert(fc.property(services, (list) => {
    const forth = settle(...list).granted;
    const all = forth.flat().map((text) => text.toLowerCase());
    assertEquals(new Set(all).size, all.length);
    const wanted = list.flatMap((s) => domainsOf(s, []).map(({ text }) => text.toLowerCase()));
    assertEquals(new Set(all), new Set(wanted));
    assertEquals(settle(...list.toReversed()).granted.toReversed(), forth);
  }));
});
