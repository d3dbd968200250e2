/** What holds of every view of gRPC clients, whatever the services are. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Endpoint, Service, ServicePort } from "../../../lib/model/service.ts";
import type { HttpMatch, TextMatch, WeightedTarget } from "../../../lib/view/served_service.ts";
import type { ServedService, Traffic } from "../../../lib/view/served_service.ts";
import type { ClusterLoadAssignment } from "../../../lib/wire/messages.ts";
import { anEndpoint, aService, streams } from "../services.ts";
import { refusals } from "./refusals.ts";
import { viewOfServices } from "./world.ts";

const ADDRESSES = {
  "a.example.com": ["192.0.2.1", "2001:db8::1"],
  "b.example.com": ["192.0.2.1", "192.0.2.7"],
};
const HOSTS = ["one.example.com", "two.example.com", "three.example.com", "*.wild.example.com"];

const someOf = <T>(values: readonly T[], maxLength: number, minLength = 0) =>
  fc.uniqueArray(fc.constantFrom(...values), { maxLength, minLength });

const weights = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(2 ** 32 - 1));

const endpoints: fc.Arbitrary<Endpoint> = fc.record({
  address: fc.constantFrom(
    ...["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:DB8:0::1"],
    ...["a.example.com", "b.example.com", "unknown.example.com", "unix:///run/a.sock"],
  ),
  ports: fc.constantFrom({}, {}, { p80: 8080 }, { p443: 443, p80: 443 }),
  locality: fc.constantFrom("", "eu", "eu/fra", "eu/fra/a", "eu/fra/(weight 2)", "us/nyc/b/c"),
  labels: fc.constantFrom({}, { version: "v1" }, { version: "v2" }),
  weight: fc.option(weights, { nil: undefined }),
  drain: fc.boolean(),
}).map(({ weight, drain, address, ...rest }) =>
  anEndpoint(address, {
    ...rest,
    ...(weight === undefined ? {} : { weight }),
    ...(drain ? { drain: true as const } : {}),
  })
);

const ports = someOf([80, 443, 9000], 3, 1).chain((numbers) =>
  fc.tuple(
    ...numbers.map((number): fc.Arbitrary<ServicePort> =>
      fc.constantFrom("HTTP", "GRPC", "TCP", "TLS", "UDP").map((protocol) => ({
        name: `p${number}`,
        number,
        protocol,
      }))
    ),
  )
);

const services: fc.Arbitrary<Service> = fc.record({
  hosts: someOf(HOSTS, 3, 1),
  aliases: someOf(["one", "two", "three.example.com"], 2),
  ports,
  endpoints: fc.array(endpoints, { maxLength: 8 }),
  resolution: fc.constantFrom("STATIC", "DNS", "NONE", "DYNAMIC_DNS"),
  failover: someOf(["eu", "eu/fra", "us"], 3),
  minHealthy: fc.constantFrom(0, 0.5, 1),
}).map((given) => aService("shop/orders", given));

const texts: fc.Arbitrary<TextMatch> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("exact" as const, "prefix" as const, "regex" as const),
    value: fc.constantFrom("", "/shop.Orders/Put", "a|b", "(?P<x>a)", "a(?=b)", "\\1", "[", "POST"),
  }),
  fc.constant({ kind: "present" as const }),
);

const matches: fc.Arbitrary<HttpMatch> = fc.record({
  path: fc.option(texts, { nil: undefined }),
  method: fc.option(texts, { nil: undefined }),
  headers: fc.dictionary(
    fc.constantFrom("x-user", ":authority", "x-token-bin", "user-agent", "content-type", "grpc-x"),
    texts,
  ),
  port: fc.option(fc.constantFrom(80, 443), { nil: undefined }),
}).map(({ path, method, headers, port }) => ({
  headers,
  ...(path === undefined ? {} : { path }),
  ...(method === undefined ? {} : { method }),
  ...(port === undefined ? {} : { port }),
}));

const targets: fc.Arbitrary<WeightedTarget> = fc.record({
  host: fc.constantFrom("one.example.com", "two.example.com", "elsewhere.example.com"),
  subset: fc.constantFrom(undefined, "v1", "v2", "v3"),
  port: fc.constantFrom(undefined, 80, 443, 7),
  weight: weights,
}).map(({ host, subset, port, weight }) => ({
  host,
  weight,
  ...(subset === undefined ? {} : { subset }),
  ...(port === undefined ? {} : { port }),
}));

const traffic: fc.Arbitrary<Traffic> = fc.record({
  subsets: fc.constantFrom(
    new Map(),
    new Map([["v1", { version: "v1" }], ["v2", { version: "v2" }]]),
  ),
  http: fc.array(
    fc.record({
      matches: fc.array(matches, { maxLength: 3 }),
      to: fc.array(targets, { minLength: 1, maxLength: 3 }),
      timeout: fc.constantFrom(undefined, 1, 2500),
    }).map(({ timeout, ...route }) => ({
      ...route,
      ...(timeout === undefined ? {} : { timeout }),
    })),
    { maxLength: 3 },
  ),
  streams: streams(targets),
  unserved: fc.constant([]),
});

const served: fc.Arbitrary<ServedService> = fc.record({ service: services, traffic })
  .map((given) => ({ key: "shop/orders", ...given }));

/** Two services, of which the first may send traffic to the second. */
const neighbours: fc.Arbitrary<readonly ServedService[]> = fc.record({
  one: served,
  service: services,
  hosts: fc.shuffledSubarray(["*.far.example.com", "elsewhere.example.com", "more.example.com"], {
    minLength: 1,
  }),
  exportTo: fc.constantFrom(["*"], ["~"]),
  subsets: fc.constantFrom(new Map(), new Map([["v1", { version: "v1" }]])),
}).map(({ one, service, hosts, exportTo, subsets }) => {
  const other = { ...service, name: "other", hosts, aliases: [], exportTo };
  const elsewhere = new Map(hosts.map((host) => [host, { service: other, subsets }]));
  const plain = { subsets, http: [], streams: [], unserved: [] };
  return [
    { ...one, traffic: { ...one.traffic, elsewhere } },
    { key: "shop/other", service: other, traffic: plain },
  ];
});

Deno.test("grpc view: no client refuses anything in it, whatever the service is", () => {
  fc.assert(
    fc.property(neighbours, (all) => {
      assertEquals(refusals(viewOfServices(all, ADDRESSES)), []);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("grpc view: a program can call every host and alias, with and without each port", () => {
  fc.assert(
    fc.property(served, (one) => {
      const { service: { hosts, aliases, ports } } = one;
      const { listeners } = viewOfServices([one], ADDRESSES);
      const numbers = ports.filter(({ protocol }) => protocol !== "UDP").map((p) => p.number);
      const concrete = hosts.filter((host) => !host.includes("*"));
      const names = concrete.length === 0 || numbers.length === 0 ? [] : [...concrete, ...aliases];
      const expected = names.flatMap((name) => [name, ...numbers.map((n) => `${name}:${n}`)]);
      assertEquals(Object.keys(listeners).sort(), [...new Set(expected)].sort());
    }),
  );
});

/** What share of the calls each endpoint gets: a locality by its weight, then each in turn. */
function sharesOf({ endpoints }: ClusterLoadAssignment): Map<string, number> {
  const usable = endpoints.filter(({ priority, lbEndpoints }) =>
    priority === 0 && lbEndpoints.some((one) => one.healthStatus !== "DRAINING")
  );
  const total = usable.reduce((sum, one) => sum + one.loadBalancingWeight!.value, 0);
  const shares = new Map<string, number>();
  for (const { lbEndpoints, loadBalancingWeight } of usable) {
    const serving = lbEndpoints.filter((one) => one.healthStatus !== "DRAINING");
    for (const { endpoint } of serving) {
      const { address } = endpoint!.address!.socketAddress!;
      shares.set(address, loadBalancingWeight!.value / total / serving.length);
    }
  }
  return shares;
}

Deno.test("grpc view: each endpoint in service gets its share by weight, though clients do not weigh endpoints", () => {
  const members = fc.uniqueArray(
    fc.record({
      address: fc.integer({ min: 1, max: 200 }).map((last) => `192.0.2.${last}`),
      locality: fc.constantFrom("", "eu/fra", "eu/ams"),
      weight: fc.integer({ min: 1, max: 5 }),
      drain: fc.boolean(),
    }),
    { selector: ({ address }) => address, minLength: 1, maxLength: 10 },
  );
  fc.assert(fc.property(members, (given) => {
    const endpoints = given.map(({ address, locality, weight, drain }) =>
      anEndpoint(address, { locality, weight, ...(drain ? { drain: true as const } : {}) })
    );
    const service = aService("shop/orders", { hosts: ["one.example.com"], endpoints });
    const none = { subsets: new Map(), http: [], streams: [], unserved: [] };
    const view = viewOfServices([{ key: "shop/orders", service, traffic: none }]);
    const shares = sharesOf(view.endpoints["outbound|80||one.example.com"]!);
    const staying = given.filter(({ drain }) => !drain);
    const serving = staying.length === 0 ? given : staying;
    const total = serving.reduce((sum, { weight }) => sum + weight, 0);
    assertEquals([...shares.keys()].sort(), serving.map(({ address }) => address).sort());
    for (const { address, weight } of serving) {
      assertAlmostEquals(shares.get(address)!, weight / total, 1e-9);
    }
  }));
});

Deno.test("grpc view: the same service gives the same bytes, and only what differs another version", () => {
  const one = aService("shop/orders", { hosts: ["one.example.com"] });
  const none = { subsets: new Map(), http: [], streams: [], unserved: [] };
  const moved = { ...one, endpoints: [anEndpoint("192.0.2.9")] };
  const [before, after] = [one, moved].map((service) =>
    viewOfServices([{ key: "shop/orders", service, traffic: none }])
  );
  assertEquals(after!.clusters, before!.clusters);
  assertEquals(after!.routes, before!.routes);
  assert(JSON.stringify(after!.endpoints) !== JSON.stringify(before!.endpoints));
});
