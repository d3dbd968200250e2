import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ServicePort } from "../../../lib/model/service.ts";
import type { HttpRoute, Traffic } from "../../../lib/view/served_service.ts";
import { durationOf, portRoutes } from "../../../lib/view/shared/routes.ts";
import {
  clusterShares,
  destinationsByHost,
  missingTargets,
} from "../../../lib/view/shared/targets.ts";
import { aService } from "../services.ts";

const PORT: ServicePort = { name: "http-80", number: 80, protocol: "HTTP" };
const service = aService("a/b", { hosts: ["b.example", "c.example"] });

function traffic(extra: Partial<Traffic> = {}): Traffic {
  const subsets = new Map([["v1", { version: "v1" }], ["v2", { version: "v2" }]]);
  return { subsets, http: [], streams: [], unserved: [], ...extra };
}

const other = aService("a/other", {
  hosts: ["first.example", "other.example"],
  ports: [81, 82].map((number) => ({ name: `http-${number}`, number, protocol: "HTTP" })),
});
const others = new Map([
  ["other.example", { service: other, subsets: new Map([["v7", {}]]) }],
  ["bare.example", { service: { ...other, ports: [] }, subsets: new Map() }],
]);

function routes(...http: HttpRoute[]) {
  return portRoutes({ service, traffic: traffic({ http }), others }, PORT);
}

const whole = { cluster: "outbound|80||b.example", weight: 1 };

Deno.test("routes: without rules all goes to the service", () => {
  assertEquals(routes(), { routes: [{ match: { prefix: "/" }, shares: [whole] }], missing: [] });
});

Deno.test("routes: a rule of another port leaves this one as it is", () => {
  const to = [{ host: "b.example", subset: "v1", weight: 1 }];
  assertEquals(routes({ matches: [{ headers: {}, port: 81 }], to }).routes, [
    { match: { prefix: "/" }, shares: [whole] },
  ]);
});

Deno.test("routes: each match of a rule is a route, in order", () => {
  const { routes: made } = routes({
    matches: [
      { path: { kind: "exact", value: "/a" }, headers: {} },
      { path: { kind: "prefix", value: "/b" }, headers: { y: { kind: "present" } }, port: 80 },
      {
        path: { kind: "regex", value: "/c.*" },
        method: { kind: "exact", value: "GET" },
        headers: { b: { kind: "regex", value: "1|2" }, a: { kind: "prefix", value: "p" } },
      },
    ],
    to: [
      { host: "b.example", subset: "v1", weight: 80 },
      { host: "c.example", subset: "v2", weight: 20 },
    ],
    timeout: 1500,
  }, { matches: [], to: [{ host: "other.example", port: 81, weight: 1 }] });
  const shares = [
    { cluster: "outbound|80|v1|b.example", weight: 80 },
    { cluster: "outbound|80|v2|b.example", weight: 20 },
  ];
  assertEquals(made, [
    { match: { path: "/a" }, shares, timeout: 1500 },
    {
      match: { prefix: "/b", headers: [{ name: "y", presentMatch: true }] },
      shares,
      timeout: 1500,
    },
    {
      match: {
        safeRegex: { regex: "/c.*" },
        headers: [
          { name: "a", stringMatch: { prefix: "p" } },
          { name: "b", stringMatch: { safeRegex: { regex: "1|2" } } },
          { name: ":method", stringMatch: { exact: "GET" } },
        ],
      },
      shares,
      timeout: 1500,
    },
    { match: { prefix: "/" }, shares: [{ cluster: "outbound|81||first.example", weight: 1 }] },
  ]);
});

Deno.test("routes: what leads to a subset or port that is not there is told and left out", () => {
  const { routes: made, missing } = routes({
    matches: [],
    to: [
      { host: "b.example", subset: "v3", weight: 1 },
      { host: "b.example", port: 81, weight: 1 },
      { host: "b.example", subset: "v1", weight: 1 },
    ],
  });
  assertEquals(made[0]!.shares, [{ cluster: "outbound|80|v1|b.example", weight: 1 }]);
  assertEquals(missing, ["its subset v3", "its port 81"]);
  const [finding] = missingTargets("a/b", [...missing, ...missing]);
  assertStringIncludes(finding!.message, "its subset v3, its port 81, which are not there");
  assertEquals(missingTargets("a/b", []), []);
});

Deno.test("routes: what leads to another service goes where that has the port and the subset", () => {
  const to = (host: string, extra: { port?: number; subset?: string } = {}) => ({
    host,
    weight: 1,
    ...extra,
  });
  const { routes: made, missing } = routes({
    matches: [],
    to: [
      to("other.example", { port: 82, subset: "v7" }),
      to("other.example"),
      to("other.example", { port: 81, subset: "v9" }),
      to("bare.example"),
      to("nowhere.example", { port: 81 }),
    ],
  });
  assertEquals(made[0]!.shares, [{ cluster: "outbound|82|v7|first.example", weight: 1 }]);
  assertEquals(missing, [
    "port 80 of other.example",
    "subset v9 of other.example",
    "host bare.example",
    "host nowhere.example",
  ]);
});

Deno.test("destinations: the only port of another service is meant where none is said, hidden ones are none", () => {
  const only = aService("a/only", { hosts: ["only.example"] });
  const subsets = new Map();
  const elsewhere = new Map([
    ["only.example", { service: only, subsets }],
    ["other.example", { service: other, subsets }],
    ["hidden.example", {
      service: { ...only, hosts: ["hidden.example"], exportTo: ["~"] },
      subsets,
    }],
    ["unserved.example", { service: { ...only, hosts: ["unserved.example"] }, subsets }],
  ]);
  const found = destinationsByHost(
    traffic({ elsewhere }),
    [service],
    (one) => one.hosts.includes("unserved.example") ? [] : [one],
  );
  assertEquals(
    Array.from(found, ([host, { usualPort }]) => [host, usualPort]),
    [
      ["b.example", undefined],
      ["c.example", undefined],
      ["only.example", 80],
      ["other.example", undefined],
    ],
  );
});

Deno.test("targets: equal clusters are one, weights that are too large are scaled", () => {
  const shares = (...weights: number[]) =>
    clusterShares(
      { service, traffic: traffic() },
      PORT,
      weights.map((weight, i) => ({ host: "b.example", subset: i % 2 ? "v2" : "v1", weight })),
    ).shares.map(({ weight }) => weight);
  assertEquals(shares(1, 2, 3), [4, 2]);
  const [a, b] = shares(2 ** 32 - 1, 2 ** 31);
  assertEquals(a! + b! < 2 ** 32 && Math.abs(a! / b! - 2) < 1e-6, true);
});

Deno.test("routes: durations are seconds and nanoseconds", () => {
  assertEquals(durationOf(1500), { seconds: 1, nanos: 500_000_000 });
  assertEquals(durationOf(0.5), { seconds: 0, nanos: 500_000 });
  assertEquals(durationOf(1999.9999999), { seconds: 1, nanos: 999_999_999 });
});
