import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Endpoint, ServicePort } from "../../../lib/model/service.ts";
import { placeEndpoints } from "../../../lib/view/shared/place_endpoints.ts";
import { aService } from "../services.ts";

const HTTP: ServicePort = { name: "http-80", number: 80, protocol: "HTTP" };

function endpoint(address: string, extra: Partial<Endpoint> = {}): Endpoint {
  return {
    address,
    ports: {},
    labels: {},
    network: "",
    locality: "",
    serviceAccount: "",
    ...extra,
  };
}

function place(endpoints: Endpoint[], extra = {}, port = HTTP) {
  return placeEndpoints(aService("a/b", { endpoints, ...extra }), port);
}

Deno.test("place endpoints: by its own port, else the target port, else the service's; not where it names others only", () => {
  const endpoints = [
    endpoint("10.0.0.1", { ports: { "http-80": 8081 } }),
    endpoint("10.0.0.2"),
    endpoint("10.0.0.3", { ports: { admin: 9 } }),
    endpoint("unix:///run/b.sock"),
  ];
  const places = (port: ServicePort) =>
    place(endpoints, {}, port).groups[0]!.endpoints.map(({ place }) => place);
  assertEquals(places(HTTP), [
    { kind: "socket", address: "10.0.0.1", port: 8081 },
    { kind: "socket", address: "10.0.0.2", port: 80 },
    { kind: "pipe", path: "/run/b.sock" },
  ]);
  assertEquals(places({ ...HTTP, targetPort: 8080 })[1], {
    kind: "socket",
    address: "10.0.0.2",
    port: 8080,
  });
});

Deno.test("place endpoints: none gives no groups", () => {
  assertEquals(place([]), { groups: [], repeated: [], drainIgnored: false });
});

Deno.test("place endpoints: groups are by locality, weighed by what is in them", () => {
  const { groups } = place([
    endpoint("10.0.0.1", { locality: "eu/fra/a", weight: 3 }),
    endpoint("10.0.0.2", { locality: "eu/fra" }),
    endpoint("10.0.0.3", { locality: "eu/fra/a" }),
    endpoint("10.0.0.4"),
  ]);
  assertEquals(
    groups.map(({ locality, weight, priority }) => [locality, weight, priority]),
    [
      [{ region: "", zone: "", subZone: "" }, 1, 0],
      [{ region: "eu", zone: "fra", subZone: "" }, 1, 0],
      [{ region: "eu", zone: "fra", subZone: "a" }, 4, 0],
    ],
  );
});

Deno.test("place endpoints: failover goes by whole segments, priorities have no gaps, what is in none comes last", () => {
  const { groups } = place([
    endpoint("10.0.0.1", { locality: "eu/fra/a" }),
    endpoint("10.0.0.2", { locality: "eu/fr" }),
    endpoint("10.0.0.3", { locality: "us" }),
    endpoint("10.0.0.4", { locality: "eu/fra" }),
  ], { failover: ["eu/fr", "asia", "eu/fra"] });
  assertEquals(
    groups.map(({ priority, endpoints }) => [priority, endpoints.length]),
    [[0, 1], [1, 1], [1, 1], [2, 1]],
  );
  assertEquals(groups[0]!.locality.zone, "fr");
  assertEquals(groups[3]!.locality.region, "us");
});

Deno.test("place endpoints: an address given twice counts once, however it is written", () => {
  const { groups, repeated } = place([
    endpoint("fd00::1", { weight: 5 }),
    endpoint("fd00:0:0::1"),
    endpoint("10.0.0.1", { locality: "eu" }),
    endpoint("10.0.0.1", { locality: "us" }),
    endpoint("10.0.0.1", { ports: { "http-80": 81 } }),
  ]);
  assertEquals(repeated, ["[fd00::1]:80", "10.0.0.1:80"]);
  assertEquals(groups.flatMap((g) => g.endpoints).length, 3);
});

Deno.test("place endpoints: drains are marked, unless none or fewer than minHealthy would be left", () => {
  const endpoints = [
    endpoint("10.0.0.1", { drain: true }),
    endpoint("10.0.0.2", { drain: true }),
    endpoint("10.0.0.3"),
    endpoint("10.0.0.4"),
  ];
  const draining = (minHealthy?: number) => {
    const { groups, drainIgnored } = place(
      endpoints,
      minHealthy === undefined ? {} : {
        minHealthy,
      },
    );
    return [groups[0]!.endpoints.filter((e) => e.draining).length, drainIgnored];
  };
  assertEquals(draining(), [2, false]);
  assertEquals(draining(0.5), [2, false]);
  assertEquals(draining(0.51), [0, true]);
  assertEquals(place([endpoint("10.0.0.3")], { minHealthy: 1 }).drainIgnored, false);
  assertEquals(place([endpoint("10.0.0.1", { drain: true })], {}).drainIgnored, true);
});

Deno.test("place endpoints: whatever the endpoints, weights fit in 32 bits, priorities have no gaps, nothing is twice", () => {
  const anEndpoint = fc.record({
    address: fc.constantFrom("10.0.0.1", "10.0.0.2", "10.0.0.3", "::1", "db.example", "unix:///x"),
    weight: fc.option(fc.integer({ min: 1, max: 2 ** 32 - 1 }), { nil: undefined }),
    locality: fc.constantFrom("", "eu", "eu/fra", "eu/fra/a", "us/east"),
    ports: fc.constantFrom({}, { "http-80": 1 }, { other: 1 }),
    drain: fc.boolean(),
  });
  fc.assert(fc.property(
    fc.array(anEndpoint, { maxLength: 12 }),
    fc.subarray(["eu/fra", "eu", "us"]),
    fc.float({ min: 0, max: 1, noNaN: true }),
    (parts, failover, minHealthy) => {
      const endpoints = parts.map(({ address, weight, drain, ...rest }) =>
        endpoint(address, {
          ...rest,
          ...(weight === undefined ? {} : { weight }),
          ...(drain ? { drain: true as const } : {}),
        })
      );
      const { groups } = place(endpoints, { failover, minHealthy });
      const all = groups.flatMap((group) => group.endpoints);
      assertEquals(new Set(all.map((e) => JSON.stringify(e.place))).size, all.length);
      assert(all.every((e) => e.weight >= 1 && Number.isInteger(e.weight)));
      assert(groups.reduce((sum, g) => sum + g.weight, 0) < 2 ** 32);
      const priorities = groups.map((g) => g.priority);
      assertEquals([...new Set(priorities)], Array.from(new Set(priorities), (_, i) => i));
      const kinds = groups.map((g) => `${g.priority} ${JSON.stringify(g.locality)}`);
      assertEquals(new Set(kinds).size, kinds.length);
    },
  ));
});
