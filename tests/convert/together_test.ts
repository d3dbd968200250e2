import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { checkTogether, FINDINGS_PER_PORT } from "../../lib/convert/together.ts";
import type { Service } from "../../lib/model/service.ts";
import { service } from "./service.ts";

function tcp(name: string, parts: Partial<Service> = {}, number = 5432): Service {
  return service({ name, ports: [{ name: "tcp", number, protocol: "TCP" }], ...parts });
}

function found(...services: Service[]): number[] {
  return checkTogether(services).map(({ service }) => service);
}

Deno.test("together: two TCP services on a port, neither with an address", () => {
  const findings = checkTogether([tcp("a"), tcp("b"), tcp("c", {}, 3306)]);
  assertEquals(findings.length, 1);
  const [{ service, finding }] = findings as [typeof findings[0] & object];
  assertEquals(service, 1);
  assertEquals([finding.rule, finding.severity], ["pinnace/tcp-port-taken", "warning"]);
  assertEquals([finding.subject, finding.path], ["default/b", ["ports", 0]]);
  assert(finding.message.includes("default/a"), finding.message);
});

Deno.test("together: addresses that overlap, and such as do not", () => {
  const [a, b] = [tcp("a", { addresses: ["10.0.0.0/8"] }), tcp("b", { addresses: ["10.1.2.3"] })];
  assertEquals(found(a, b), [1]);
  assertEquals(found(b, a), [0]);
  assertEquals(found(a, tcp("c", { addresses: ["11.0.0.1", "2001:db8::1"] })), []);
  assertEquals(found(a, tcp("c")), [], "an address and none are two listeners");
  assertEquals(found(tcp("x", { addresses: ["::/0"] }), tcp("y", { addresses: ["::1"] })), [1]);
});

Deno.test("together: TLS and HTTP name their host, so they share a port", () => {
  for (const protocol of ["HTTP", "GRPC", "TLS", "HTTPS", "tls"]) {
    const ports = [{ name: "p", number: 443, protocol }];
    assertEquals(found(service({ name: "a", ports }), service({ name: "b", ports })), []);
  }
  for (const protocol of ["", "TCP", "MONGO", "redis", "MYSQL"]) {
    const ports = [{ name: "p", number: 443, protocol }];
    assertEquals(found(service({ name: "a", ports }), service({ name: "b", ports })), [1]);
  }
});

Deno.test("together: services that no namespace sees both of do not meet", () => {
  const own = (name: string, namespace: string) => tcp(name, { namespace, exportTo: ["."] });
  assertEquals(found(own("a", "one"), own("b", "two")), []);
  assertEquals(found(own("a", "one"), own("b", "one")), [1]);
  assertEquals(found(own("a", "one"), tcp("b", { exportTo: ["two", "one"] })), [1]);
  assertEquals(found(own("a", "one"), tcp("b")), [1]);
  assertEquals(found(tcp("b"), own("a", "one")), [1]);
  assertEquals(found(tcp("a", { exportTo: ["~"] }), tcp("b"), tcp("c", { exportTo: ["~"] })), []);
});

Deno.test("together: a service does not meet itself", () => {
  assertEquals(found(tcp("a", { addresses: ["10.0.0.0/8", "10.0.0.1", "10.0.0.1"] })), []);
});

Deno.test("together: of very many clashes on a port some are shown and the rest is counted", () => {
  const findings = checkTogether(Array.from({ length: 1_000 }, (_, i) => tcp(`s${i}`)));
  assertEquals(findings.length, FINDINGS_PER_PORT);
  assert(findings.at(-1)!.finding.message.includes(`and ${999 - FINDINGS_PER_PORT} more`));
});

Deno.test("together: whoever clashes is found, and nobody else", () => {
  const address = fc.constantFrom(
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.0/30",
    "10.0.0.4/30",
    "10.0.0.0/24",
    "10.1.0.0/16",
    "10.0.0.0/8",
    "::1",
    "::/64",
  );
  const any = fc.record({
    namespace: fc.constantFrom("one", "two"),
    exportTo: fc.constantFrom(["*"], ["."], ["one"], ["two"], ["one", "two"], ["~"]),
    addresses: fc.array(address, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: FINDINGS_PER_PORT }), (parts) => {
      const services = parts.map((part, i) => tcp(`s${i}`, part));
      const expected = services.some((a, i) => services.some((b, j) => i < j && clash(a, b)));
      const actual = checkTogether(services);
      assertEquals(actual.length > 0, expected);
      for (const { service: index, finding } of actual) {
        const other = services.find(({ namespace, name }) =>
          finding.message.includes(`${namespace}/${name} `)
        )!;
        assert(clash(services[index]!, other), finding.message);
      }
      const mute = services.map((_, i) => i).filter((i) => !actual.some((f) => f.service === i));
      for (const i of mute) {
        for (const j of mute) {
          assert(i === j || !clash(services[i]!, services[j]!), `${i} and ${j} go unsaid`);
        }
      }
    }),
    { numRuns: 500 },
  );
});

/** Whether two services clash, asked of each pair of addresses. */
function clash(a: Service, b: Service): boolean {
  if (!seenTogether(a, b)) return false;
  if (a.addresses.length === 0 || b.addresses.length === 0) {
    return a.addresses.length === b.addresses.length;
  }
  return a.addresses.some((x) => b.addresses.some((y) => overlap(x, y)));
}

function seenTogether(a: Service, b: Service): boolean {
  const sees = (namespace: string, { exportTo, namespace: own }: Service) =>
    exportTo.some((to) => to === "*" || to === namespace || (to === "." && own === namespace));
  return ["one", "two", "three"].some((namespace) => sees(namespace, a) && sees(namespace, b));
}

function overlap(x: string, y: string): boolean {
  const [[a, aBits], [b, bBits]] = [x, y].map((text) => {
    const cidr = text.includes("/") ? text : text + (text.includes(":") ? "/128" : "/32");
    return ipaddr.parseCIDR(cidr);
  }) as [[ipaddr.IPv4, number], [ipaddr.IPv4, number]];
  return a.kind() === b.kind() && a.match(b, Math.min(aBits, bBits));
}

Deno.test("together: 100,000 services are looked at in a moment, alike or not", () => {
  const one = tcp("one");
  const alike = Array.from({ length: 100_000 }, (_, i) => ({ ...one, name: `s${i}` }));
  const nested = alike.map((service, i) => ({
    ...service,
    addresses: [`10.${i & 255}.${(i >> 8) & 255}.0/${24 + i % 9}`],
  }));
  const start = performance.now();
  assertEquals(checkTogether(alike).length, FINDINGS_PER_PORT);
  assert(checkTogether(nested).length > 0);
  const took = performance.now() - start;
  assert(took < 5_000, `${took} ms`);
});
