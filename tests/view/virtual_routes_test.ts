import { assertEquals } from "@std/assert";
import { routesOf } from "../../lib/view/virtual_routes.ts";
import {
  type Partially,
  type VirtualService,
  virtualServiceCodec,
} from "../../lib/wire/messages.ts";

function routesIn(object: Partially<VirtualService>) {
  const bytes = virtualServiceCodec.encode({ hosts: ["a.b"], ...object });
  return routesOf(virtualServiceCodec.decode(bytes), (host) => host);
}

const ROUTE = [{ destination: { host: "a.b" } }];
const TO = [{ host: "a.b", weight: 1 }];

Deno.test("virtual routes: what a match may be of that cannot be told apart gets an error, not a later route", () => {
  const { http, unserved } = routesIn({
    http: [
      {
        match: [
          { uri: { prefix: "/a" }, withoutHeaders: { "x-auth": {} }, sourceNamespace: "lab" },
          { uri: { prefix: "/b" } },
          { uri: { exact: "/C" }, method: { exact: "GET" }, ignoreUriCase: true, port: 80 },
        ],
        route: ROUTE,
        timeout: { seconds: 1 },
      },
      { match: [{ queryParams: { q: {} } }], directResponse: {} },
      { route: ROUTE },
    ],
  });
  const path = (value: string) => ({ path: { kind: "prefix" as const, value }, headers: {} });
  assertEquals(http, [
    { matches: [path("/b")], to: TO, timeout: 1000 },
    {
      matches: [
        path("/a"),
        { method: { kind: "exact", value: "GET" }, headers: {}, port: 80 },
      ],
      to: [],
    },
    { matches: [{ headers: {} }], to: [] },
    { matches: [], to: TO },
  ]);
  const rest = "what fits the rest of the match gets an error";
  assertEquals(unserved, [
    `the match of http route 1 by withoutHeaders, sourceNamespace: ${rest}`,
    `the match of http route 1 by ignoreUriCase: ${rest}`,
    "http route 2, which leads to no service: what it matches gets an error",
    `the match of http route 2 by queryParams: ${rest}`,
  ]);
});

Deno.test("virtual routes: matches for gateways alone are not for these clients", () => {
  const gateways = ["ingress"];
  const { http, streams, unserved } = routesIn({
    http: [
      { match: [{ gateways }], redirect: {} },
      { match: [{ gateways, uri: { exact: "/a" } }, { uri: { exact: "/b" } }], route: ROUTE },
    ],
    tcp: [{ match: [{ gateways }], route: ROUTE }],
    tls: [
      { match: [{ gateways, sniHosts: ["a.b"] }], route: ROUTE },
      { match: [{ sniHosts: ["other.b"] }], route: ROUTE },
    ],
  });
  assertEquals(http.map(({ matches }) => matches.map(({ path }) => path)), [[
    { kind: "exact", value: "/b" },
  ]]);
  assertEquals([streams, unserved], [[], []]);
});

Deno.test("virtual routes: connections that a match may be of that cannot be told apart fail", () => {
  const { streams, unserved } = routesIn({
    hosts: ["a.b", "c.b"],
    tcp: [
      { match: [{ port: 1, sourceSubnet: "10.0.0.0/8" }, { port: 2 }], route: ROUTE },
      { route: ROUTE },
    ],
    tls: [
      { match: [{ port: 3, sniHosts: ["a.b"] }, { port: 4, sniHosts: [] }], route: ROUTE },
      { match: [{ port: 5, sniHosts: ["*.b"] }], route: ROUTE },
    ],
  });
  assertEquals(streams, [
    { kind: "tcp", port: 2, to: TO },
    { kind: "tcp", port: 1, to: [] },
    { kind: "tcp", to: TO },
    { kind: "tls", port: 3, to: [] },
    { kind: "tls", port: 4, to: [] },
    { kind: "tls", port: 5, to: TO },
  ]);
  assertEquals(unserved.length, 3);
});

Deno.test("virtual routes: what is done to requests on their way is named", () => {
  const { unserved } = routesIn({
    http: [
      {
        route: [{ destination: { host: "a.b" }, headers: {} }],
        fault: {},
        mirror: { host: "c.d" },
        mirrors: [{}],
        mirrorPercentage: {},
        retries: {},
        rewrite: {},
        headers: {},
        corsPolicy: {},
      },
      { route: ROUTE },
    ],
  });
  assertEquals(unserved, [
    "the rewrite, retries, fault, mirror, corsPolicy, headers, mirrors, headers of destinations " +
    "of http route 1",
  ]);
});

Deno.test("virtual routes: timeouts are within what clients take", () => {
  const timed = (seconds: number, nanos = 0) => {
    const { http, unserved } = routesIn({ http: [{ route: ROUTE, timeout: { seconds, nanos } }] });
    return [http[0]!.timeout, unserved.length];
  };
  assertEquals(timed(0), [undefined, 0]);
  assertEquals(timed(-5), [undefined, 0]);
  assertEquals(timed(0, 1), [1, 0]);
  assertEquals(timed(86400), [86_400_000, 0]);
  for (const seconds of [86401, 1e10, 315576000000]) assertEquals(timed(seconds), [86_400_000, 1]);
});
