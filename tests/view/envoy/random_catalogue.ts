/** Catalogues at random, with all that services and their traffic may be: for what holds of every view of Envoys. */
import fc from "fast-check";
import type { Endpoint, Service, ServicePort } from "../../../lib/model/service.ts";
import type {
  Catalogue,
  HttpMatch,
  ServedService,
  TextMatch,
  Traffic,
  WeightedTarget,
} from "../../../lib/view/served_service.ts";
import { anEndpoint, aService, CONTEXT, streams } from "../services.ts";

const someOf = <T>(values: readonly T[], maxLength: number, minLength = 0) =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength, maxLength });

/** Without the properties that are undefined. */
function given<T extends object>(parts: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

const weights = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(2 ** 32 - 1));

const endpoints: fc.Arbitrary<Endpoint> = fc.record({
  address: fc.constantFrom(
    ...["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:DB8:0::1", "fe80::1%eth0"],
    ...["a.example.com", "*.b.example.com", "unix:///run/a.sock", `unix:///${"x".repeat(120)}`],
  ),
  ports: fc.constantFrom({}, {}, { p80: 8080 }, { p443: 443, p80: 443 }),
  locality: fc.constantFrom("", "eu", "eu/fra", "eu/fra/a", "us/nyc/b/c"),
  labels: fc.constantFrom({}, { version: "v1" }, { version: "v2" }),
  weight: fc.option(weights, { nil: undefined }),
  drain: fc.constantFrom(undefined, true as const),
}).map(({ address, weight, drain, ...rest }) =>
  anEndpoint(address, { ...rest, ...given({ weight, drain }) } as Partial<Endpoint>)
);

const PROTOCOLS = ["HTTP", "HTTP2", "GRPC", "GRPC-WEB", "TCP", "MONGO", "TLS", "HTTPS", "UDP"];

const ports = someOf([80, 443, 9000, 65000], 3, 1).chain((numbers) =>
  fc.tuple(...numbers.map((number): fc.Arbitrary<ServicePort> =>
    fc.record({
      protocol: fc.constantFrom(...PROTOCOLS),
      targetPort: fc.constantFrom(undefined, 8080),
    }).map(({ protocol, targetPort }) => ({
      name: `p${number}`,
      number,
      protocol,
      ...given({ targetPort }),
    } as ServicePort))
  ))
);

const HOSTS = [
  ...["one.example.com", "two.example.com", "Three.example.com", "*.example.com"],
  ...["*.two.example.com", "*odd.example.com", "one", "four.shop.svc"],
];
const ADDRESSES = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "10.1.9.9/16", "fd00::/8", "fd00::1"];

const texts: fc.Arbitrary<TextMatch> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("exact" as const, "prefix" as const, "regex" as const),
    value: fc.constantFrom("", "/a", "a|b", "(?P<x>a)", "a(?=b)", "\\1", "[", "(?i)x", "a{2000}"),
  }),
  fc.constant({ kind: "present" as const }),
);

const matches: fc.Arbitrary<HttpMatch> = fc.record({
  path: fc.option(texts, { nil: undefined }),
  method: fc.option(texts, { nil: undefined }),
  headers: fc.dictionary(fc.constantFrom("x-user", ":authority", "", "a b", "X-Y"), texts),
  port: fc.constantFrom(undefined, 80, 443),
}).map((match) => given(match) as HttpMatch);

const targets: fc.Arbitrary<WeightedTarget> = fc.record({
  host: fc.constantFrom(...HOSTS.slice(0, 4)),
  subset: fc.constantFrom(undefined, undefined, "v1", "v3"),
  port: fc.constantFrom(undefined, undefined, 80, 7),
  weight: weights,
}).map((target) => given(target) as WeightedTarget);

const traffic: fc.Arbitrary<Traffic> = fc.record({
  subsets: fc.constantFrom(
    new Map(),
    new Map([["v1", { version: "v1" }], ["v2", { version: "v2" }]]),
  ),
  http: fc.array(
    fc.record({
      matches: fc.array(matches, { maxLength: 2 }),
      to: fc.array(targets, { minLength: 1, maxLength: 3 }),
      timeout: fc.constantFrom(undefined, 1, 2500),
    }).map((route) => given(route) as Traffic["http"][number]),
    { maxLength: 3 },
  ),
  streams: streams(targets),
  unserved: fc.constant([]),
});

const services: fc.Arbitrary<Partial<Service>> = fc.record({
  addresses: someOf(ADDRESSES, 2),
  aliases: someOf(["one", "x.default", "two.example.com", "Alias"], 2),
  ports,
  endpoints: fc.array(endpoints, { maxLength: 6 }),
  resolution: fc.constantFrom("STATIC", "DNS", "DNS_ROUND_ROBIN", "NONE", "DYNAMIC_DNS"),
  exportTo: fc.constantFrom(["*"], ["*"], [], ["~"]),
  failover: someOf(["eu", "eu/fra", "us"], 3),
  minHealthy: fc.constantFrom(0, 0.5, 1),
  subjectAltNames: fc.constantFrom([], [], ["spiffe://a/b", "a.example.com"]),
});

/** A catalogue of up to five services, each host of one of them. */
export const catalogues: fc.Arbitrary<Catalogue> = fc.record({
  keys: someOf(["default/x", "shop/x", "default/y", "shop/z", "a/a"], 5, 1),
  hosts: fc.shuffledSubarray(HOSTS, { minLength: HOSTS.length }),
  parts: fc.array(fc.tuple(services, traffic), { minLength: 5, maxLength: 5 }),
  bind: fc.constantFrom("127.0.0.1", "::1"),
  portOffset: fc.constantFrom(0, 0, 1000),
}).map(({ keys, hosts, parts, bind, portOffset }) => {
  const served = keys.sort().map((key, i): [string, ServedService] => {
    const [extra, traffic] = parts[i]!;
    const own = hosts.filter((_, at) => at % keys.length === i);
    return [key, { key, service: aService(key, { ...extra, hosts: own }), traffic }];
  });
  // Of each, traffic may go to all the others.
  const elsewhere = new Map(
    served.flatMap(([, { service, traffic: { subsets } }]) =>
      service.hosts.map((host) => [host, { service, subsets }] as const)
    ),
  );
  const aimed = served.map(([key, one]): [string, ServedService] => [
    key,
    { ...one, traffic: { ...one.traffic, elsewhere: without(elsewhere, one.service.hosts) } },
  ]);
  const context = { ...CONTEXT, envoy: { ...CONTEXT.envoy, bind, portOffset } };
  return { services: new Map(aimed), context };
});

function without<T>(all: ReadonlyMap<string, T>, names: readonly string[]): Map<string, T> {
  return new Map([...all].filter(([name]) => !names.includes(name)));
}
