import { assert, assertEquals } from "@std/assert";
import { check } from "../../lib/config/check.ts";
import { normaliseService } from "../../lib/config/normalise.ts";
import { parse } from "../../lib/config/parse.ts";
import { serviceSchema } from "../../lib/config/schema_service.ts";

const DEFAULTS = { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] };

function normalise(yaml: string) {
  const parsed = parse(yaml);
  assert(parsed.ok);
  const checked = check(serviceSchema, parsed.document);
  assert(checked.ok, JSON.stringify(checked));
  return normaliseService(checked.value, DEFAULTS);
}
const of = (more: string) => normalise(`{ name: a, ports: [80], ${more} }`);

Deno.test("normalise: every default of the short form", () => {
  assertEquals(normalise("{ name: orders, ports: ['443:8443/grpc'], endpoints: [10.0.0.1] }"), {
    problems: [],
    service: {
      name: "orders",
      namespace: "default",
      hosts: ["orders.default.svc.cluster.local"],
      addresses: [],
      ports: [{ name: "grpc-443", number: 443, protocol: "GRPC", targetPort: 8443 }],
      location: "MESH_EXTERNAL",
      resolution: "STATIC",
      endpoints: [
        {
          address: "10.0.0.1",
          ports: {},
          labels: {},
          network: "",
          locality: "",
          serviceAccount: "",
        },
      ],
      exportTo: ["*"],
      subjectAltNames: [],
      labels: {},
      annotations: {},
      aliases: [],
    },
  });
});

Deno.test("normalise: every field of the long form is kept", () => {
  const { service, problems } = normalise(`
name: billing
namespace: shop
hosts: [billing.example.com]
addresses: [240.0.0.10]
ports: [{ name: web, number: 80, protocol: HTTP, targetPort: 8080 }]
endpoints: [{ address: 10.0.0.7, ports: { web: 9080 }, labels: { a: b }, locality: eu/fra/a, network: edge, serviceAccount: sa, weight: 3 }]
location: MESH_INTERNAL
resolution: STATIC
exportTo: ["."]
subjectAltNames: ["spiffe://x"]
labels: { l: "1" }
annotations: { n: "2" }
`);
  assertEquals(problems, []);
  assertEquals(service, {
    name: "billing",
    namespace: "shop",
    hosts: ["billing.example.com"],
    addresses: ["240.0.0.10"],
    ports: [{ name: "web", number: 80, protocol: "HTTP", targetPort: 8080 }],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    endpoints: [{
      address: "10.0.0.7",
      ports: { web: 9080 },
      labels: { a: "b" },
      network: "edge",
      locality: "eu/fra/a",
      weight: 3,
      serviceAccount: "sa",
    }],
    exportTo: ["."],
    subjectAltNames: ["spiffe://x"],
    labels: { l: "1" },
    annotations: { n: "2" },
    aliases: [],
  });
});

Deno.test("normalise: ports in all their forms", () => {
  const { service } = normalise(
    "{ name: a, ports: [5432, '80/HTTP', '443:443/HTTPS', '1:2', { number: 90, protocol: grpc-web }] }",
  );
  assertEquals(service.ports, [
    { name: "tcp-5432", number: 5432, protocol: "TCP" },
    { name: "http-80", number: 80, protocol: "HTTP" },
    { name: "https-443", number: 443, protocol: "HTTPS" },
    { name: "tcp-1", number: 1, protocol: "TCP", targetPort: 2 },
    { name: "grpc-web-90", number: 90, protocol: "GRPC-WEB" },
  ]);
});

const RESOLUTIONS: readonly (readonly [string, string])[] = [
  ["hosts: [a.example]", "DNS"],
  ["hosts: ['*.example']", "NONE"],
  ["hosts: [a.example, '*.b.example']", "NONE"],
  ["workloadSelector: { labels: { a: b } }", "STATIC"],
  ["endpoints: []", "STATIC"],
  ["endpoints: [10.0.0.1, '2001:db8::1']", "STATIC"],
  ["endpoints: ['unix:///run/a.sock']", "STATIC"],
  ["endpoints: [10.0.0.1, a.example]", "DNS"],
  ["endpoints: [10.0.0]", "DNS"],
  ["endpoints: [{ network: far }]", "STATIC"],
  ["endpoints: [10.0.0.1], resolution: DNS", "DNS"],
  ["hosts: ['*.example'], resolution: DYNAMIC_DNS", "DYNAMIC_DNS"],
];
for (const [yaml, resolution] of RESOLUTIONS) {
  Deno.test(`normalise: resolution of { ${yaml} } is ${resolution}`, () => {
    assertEquals(of(yaml).service.resolution, resolution);
  });
}

Deno.test("normalise: an endpoint of weight 0 is left out, and said; never sent as 0", () => {
  const { service, problems } = of("endpoints: [{ address: 10.0.0.1, weight: 0 }, 10.0.0.2]");
  assertEquals(service.endpoints.map(({ address }) => address), ["10.0.0.2"]);
  assertEquals(problems.map(({ severity, rule, path }) => [severity, rule, path]), [
    ["warning", "pinnace/weight-zero", ["endpoints", 0, "weight"]],
  ]);
});

Deno.test("normalise: with every weight 0 there is no endpoint, not the host in their place", () => {
  for (const resolution of ["", ", resolution: DNS"]) {
    const { service, problems } = of(`endpoints: [{ address: a.example, weight: 0 }]${resolution}`);
    assertEquals([service.endpoints, service.resolution], [[], "STATIC"]);
    assertEquals(problems.length, resolution === "" ? 2 : 3);
  }
});

Deno.test("normalise: aliases are as written", () => {
  const { service, problems } = of("aliases: [b, a]");
  assertEquals([service.aliases, problems], [["b", "a"], []]);
});

Deno.test("normalise: the order in which maps are written makes no difference, that of lists does", () => {
  const text = (yaml: string) => JSON.stringify(of(yaml).service);
  assertEquals(
    text("labels: { a: x, b: y }, endpoints: [{ labels: { c: x, d: y }, address: 10.0.0.1 }]"),
    text("endpoints: [{ address: 10.0.0.1, labels: { d: y, c: x } }], labels: { b: y, a: x }"),
  );
  assert(text("endpoints: [10.0.0.1, 10.0.0.2]") !== text("endpoints: [10.0.0.2, 10.0.0.1]"));
});
