import { assert, assertEquals } from "@std/assert";
import { conflicts } from "../../lib/convert/conflicts.ts";
import { service } from "./service.ts";

function rulesAndServices(...services: Parameters<typeof conflicts>[0]) {
  return conflicts(services).map(({ rule, what, services }) => [rule, what, ...services]);
}

Deno.test("conflicts: none between services that share nothing", () => {
  assertEquals(rulesAndServices(service({ name: "a" }), service({ name: "b" })), []);
});

Deno.test("conflicts: one name in one namespace", () => {
  const [a, b] = [service({ hosts: ["a.example.com"] }), service({ hosts: ["b.example.com"] })];
  assertEquals(rulesAndServices(a, b), [["pinnace/same-name", "default/orders", 0, 1]]);
  assertEquals(rulesAndServices(a, { ...b, namespace: "shop" }), []);
});

Deno.test("conflicts: one host in one namespace, whatever the capitals", () => {
  const a = service({ name: "a", hosts: ["x.example.com", "api.example.com"] });
  const b = service({ name: "b", hosts: ["API.example.com"] });
  assertEquals(rulesAndServices(a, b, service({ name: "c" })), [
    ["pinnace/same-host", "api.example.com", 0, 1],
  ]);
  assertEquals(rulesAndServices(a, { ...b, namespace: "shop" }), []);
});

Deno.test("conflicts: one alias, in any namespace, and an alias that is another's host", () => {
  const a = service({ name: "a", aliases: ["pay"] });
  const b = service({ name: "b", namespace: "shop", aliases: ["Pay"] });
  const c = service({ name: "c", hosts: ["pay"] });
  assertEquals(rulesAndServices(a, b), [["pinnace/same-alias", "pay", 0, 1]]);
  assertEquals(rulesAndServices(c, a), [["pinnace/same-alias", "pay", 0, 1]]);
  assertEquals(rulesAndServices(service({ aliases: ["x"], hosts: ["x"] })), []);
});

Deno.test("conflicts: everyone involved is named, once", () => {
  const services = Array.from({ length: 4 }, () => service({ aliases: ["a", "a"] }));
  const found = rulesAndServices(...services);
  assertEquals(found.map(([rule]) => rule), [
    "pinnace/same-name",
    "pinnace/same-host",
    "pinnace/same-alias",
  ]);
  for (const [, , ...indexes] of found) assertEquals(indexes, [0, 1, 2, 3]);
});

Deno.test("conflicts: 100,000 services are looked at in a moment, alike or not", () => {
  const claims = (i: number, alias: string) => ({
    name: `s${i}`,
    namespace: "default",
    hosts: [`s${i}.example.com`],
    aliases: [alias],
  });
  const unlike = Array.from({ length: 100_000 }, (_, i) => claims(i, `a${i}`));
  const alike = Array.from({ length: 100_000 }, () => claims(0, "a"));
  const start = performance.now();
  assertEquals(conflicts(unlike), []);
  assertEquals(conflicts(alike).length, 3);
  const took = performance.now() - start;
  assert(took < 5_000, `${took} ms`);
});
