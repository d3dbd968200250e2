/**
 * What directs the traffic of a service, as a whole, unmodified istiod of today holds it and tells its
 * sidecars, and as a Pilot 1.5 takes it by MCP.
 */
import { assert, assertEquals } from "@std/assert";
import {
  clusterCodec,
  clusterLoadAssignmentCodec,
  routeConfigurationCodec,
} from "../../lib/wire/messages.ts";
import { interopTest } from "./lib/binaries.ts";
import { Istiod, type IstioObject } from "./lib/istiod.ts";
import { askAsSidecar } from "./lib/sidecar.ts";
import { Pilot15 } from "./lib/pilot15.ts";
import { Pinnace, type Rendered, type ServiceConfig } from "./lib/pinnace.ts";

const HOST = "orders.shop.example.com";

/** A service with all that directs traffic; `v2`: the weight of the second version. */
function orders(v2: number, more: ServiceConfig = {}): ServiceConfig {
  return {
    name: "orders",
    namespace: "shop",
    hosts: [HOST, "*.orders.shop.example.com"],
    ports: ["80:8080/HTTP", "443/TLS"],
    labels: { team: "shop" },
    exportTo: ["."],
    endpoints: [
      { address: "10.0.0.1", labels: { version: "v1" }, locality: "eu/fra" },
      { address: "10.0.0.2", labels: { version: "v2" }, locality: "eu/ams" },
      { address: "10.0.0.3", labels: { version: "v2" }, locality: "us", drain: true },
    ],
    subsets: { blue: { version: "v2" } },
    split: { v1: 100 - v2, blue: v2 },
    failover: ["eu/fra", "eu"],
    minHealthy: "50%",
    ...more,
  };
}

/** The objects of {@link orders} in Istio's JSON, written down by hand. */
function expected(v2: number): Readonly<Record<string, unknown>> {
  const destination = (subset: string, weight: number) => ({
    destination: { host: HOST, subset },
    weight,
  });
  const route = [destination("blue", v2), destination("v1", 100 - v2)];
  const sniHosts = [HOST, "*.orders.shop.example.com"];
  const rule = (host: string) => ({
    host,
    trafficPolicy: {
      loadBalancer: {
        localityLbSetting: { enabled: true, failoverPriority: ["pinnace-failover-1=true"] },
      },
      outlierDetection: {
        splitExternalLocalOriginErrors: true,
        consecutiveLocalOriginFailures: 5,
        consecutiveGatewayErrors: 0,
        consecutive5xxErrors: 0,
        maxEjectionPercent: 100,
        minHealthPercent: 50,
      },
    },
    subsets: [
      { name: "blue", labels: { version: "v2" } },
      { name: "v1", labels: { version: "v1" } },
    ],
    exportTo: ["."],
  });
  return {
    "DestinationRule shop/orders": rule(HOST),
    "DestinationRule shop/orders-host-2": rule("*.orders.shop.example.com"),
    "ServiceEntry shop/orders": {
      hosts: [HOST, "*.orders.shop.example.com"],
      ports: [
        { number: 80, protocol: "HTTP", name: "http-80", targetPort: 8080 },
        { number: 443, protocol: "TLS", name: "tls-443" },
      ],
      resolution: "STATIC",
      endpoints: [
        {
          address: "10.0.0.1",
          ports: { "http-80": 8080, "tls-443": 443 },
          labels: { version: "v1", "pinnace-failover-1": "true" },
          locality: "eu/fra",
        },
        {
          address: "10.0.0.2",
          ports: { "http-80": 8080, "tls-443": 443 },
          labels: { version: "v2" },
          locality: "eu/ams",
        },
      ],
      exportTo: ["."],
    },
    "VirtualService shop/orders": {
      hosts: sniHosts,
      http: [{ route }],
      tls: [{ match: [{ port: 443, sniHosts }], route }],
      exportTo: ["."],
    },
  };
}

function byKey(objects: readonly (IstioObject | Rendered)[]): Record<string, unknown> {
  const keyed = objects.map(({ kind, metadata: { namespace, name }, spec }) => {
    const { location, ...rest } = spec;
    return [
      `${kind} ${namespace}/${name}`,
      location === undefined || location === "MESH_EXTERNAL" ? rest : spec,
    ] as const;
  });
  return Object.fromEntries(keyed.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

interopTest(
  "istiod: it holds the VirtualService and the DestinationRules of a split service, through change and removal",
  ["istiod"],
  async () => {
    await using pinnace = await Pinnace.start({ services: [orders(20)] });
    assertEquals(byKey(await pinnace.renderAll()), expected(20));
    await using istiod = await Istiod.start(pinnace.address);
    const holds = async (wanted: Readonly<Record<string, unknown>>, what: string) =>
      await istiod.process.expect(what, async () => {
        const objects = await istiod.allObjects();
        assertEquals(byKey(objects), wanted);
        return objects;
      });
    const first = await holds(expected(20), "it shows what was written");
    for (const { metadata } of first) {
      assertEquals(metadata.labels, { team: "shop" });
      assertEquals(metadata.creationTimestamp, "2020-01-01T00:00:00Z");
    }

    await pinnace.write({ services: [orders(50)] });
    const second = await holds(expected(50), "it shows the new weights");
    const version = (objects: readonly IstioObject[], kind: string) =>
      objects.filter((o) => o.kind === kind).map((o) => o.metadata.resourceVersion).sort();
    for (const kind of ["ServiceEntry", "DestinationRule"]) {
      assertEquals(version(second, kind), version(first, kind), `${kind} is as it was`);
    }
    assert(version(second, "VirtualService")[0] !== version(first, "VirtualService")[0]);

    // What is stored is served before the configuration is read, and nothing of it is lost or doubled.
    await pinnace.kill();
    await pinnace.run();
    await pinnace.write({ services: [orders(51)] });
    await holds(expected(51), "it shows what was written after the restart");

    const { split: _split, failover: _failover, subsets: _subsets, ...plain } = orders(50);
    await pinnace.write({ services: [plain] });
    await istiod.process.expect("only the ServiceEntry is left", async () => {
      assertEquals(Object.keys(byKey(await istiod.allObjects())), ["ServiceEntry shop/orders"]);
      return true;
    });
  },
);

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ASSIGNMENT = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const ROUTES = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

/** Addresses of a cluster's endpoints by priority, as a sidecar is told. */
async function prioritiesOf(istiod: Istiod, cluster: string): Promise<string[][]> {
  const [any] = await askAsSidecar(istiod.xds, ASSIGNMENT, [cluster]);
  const priorities: string[][] = [];
  for (const { priority, lbEndpoints } of clusterLoadAssignmentCodec.decode(any!.value).endpoints) {
    const addresses = lbEndpoints.map((one) => one.endpoint!.address!.socketAddress!.address);
    (priorities[priority] ??= []).push(...addresses);
  }
  return priorities.map((addresses) => addresses.sort());
}

/** Weights by cluster of the first route to a host, as a sidecar is told. */
async function weightsOf(istiod: Istiod, host: string): Promise<unknown> {
  const [any] = await askAsSidecar(istiod.xds, ROUTES, ["80"]);
  const { virtualHosts } = routeConfigurationCodec.decode(any!.value);
  const found = virtualHosts.find(({ domains }) => domains.includes(host));
  const clusters = found?.routes[0]?.route?.weightedClusters?.clusters ?? [];
  return Object.fromEntries(clusters.map(({ name, weight }) => [name, weight?.value]));
}

interopTest(
  "istiod: its sidecars split, fail over and drain as the service says",
  ["istiod"],
  async () => {
    const written = orders(20, {
      hosts: [HOST],
      ports: ["80:8080/HTTP"],
      exportTo: ["*"],
      endpoints: [
        { address: "10.0.0.1", labels: { version: "v1" }, locality: "eu/fra" },
        { address: "10.0.0.2", labels: { version: "v2" }, locality: "eu/ams" },
        { address: "10.0.0.3", labels: { version: "v1" }, locality: "us" },
        { address: "10.0.0.4", labels: { version: "v1" }, locality: "eu/fra/b", drain: true },
        { address: "10.0.0.5", labels: { version: "v2" } },
      ],
    });
    await using pinnace = await Pinnace.start({ services: [written] });
    await using istiod = await Istiod.start(pinnace.address);
    const subset = (name: string) => `outbound|80|${name}|${HOST}`;
    await istiod.process.expect("requests are split", async () => {
      assertEquals(await weightsOf(istiod, HOST), { [subset("blue")]: 20, [subset("v1")]: 80 });
      return true;
    });
    // us before nothing at all: both are under none of `failover`, so neither goes first.
    assertEquals(await prioritiesOf(istiod, subset("")), [
      ["10.0.0.1"],
      ["10.0.0.2"],
      ["10.0.0.3", "10.0.0.5"],
    ]);
    assertEquals(await prioritiesOf(istiod, subset("v1")), [["10.0.0.1"], ["10.0.0.3"]]);
    assertEquals(await prioritiesOf(istiod, subset("blue")), [["10.0.0.2"], ["10.0.0.5"]]);
    const clusters = await askAsSidecar(istiod.xds, CLUSTER);
    const whole = clusters.map(({ value }) => clusterCodec.decode(value)).find(({ name }) =>
      name === subset("")
    );
    assertEquals(whole!.commonLbConfig?.healthyPanicThreshold?.value, 50);

    // With the preferred ones gone, the next ones come first.
    const endpoints = (written.endpoints as { address: string }[]).map((endpoint) =>
      endpoint.address === "10.0.0.1" ? { ...endpoint, drain: true } : endpoint
    );
    await pinnace.write({ services: [{ ...written, endpoints }] });
    await istiod.process.expect("who drains is gone", async () => {
      assertEquals(await prioritiesOf(istiod, subset("")), [["10.0.0.2"], [
        "10.0.0.3",
        "10.0.0.5",
      ]]);
      return true;
    });
  },
);

interopTest(
  "pilot 1.5: it holds what directs traffic, but no weights that do not add up to 100",
  ["pilot-1.5"],
  async () => {
    const scaled = orders(20, { split: { v1: 4, blue: 1 } });
    const uneven = { ...orders(20, { split: { v1: 1, blue: 2 } }), name: "uneven" };
    const services = [scaled, { ...uneven, hosts: ["uneven.shop.example.com"] }];
    await using pinnace = await Pinnace.start({ services });
    await using pilot = await Pilot15.start(pinnace.address);
    const objects = await pilot.process.expect("it shows what it takes", async () => {
      const all = await pilot.allObjects();
      const keys = all.map(({ type, namespace, name }) => `${type} ${namespace}/${name}`).sort();
      assertEquals(keys, [
        "DestinationRule shop/orders",
        "DestinationRule shop/orders-host-2",
        "DestinationRule shop/uneven",
        "ServiceEntry shop/orders",
        "ServiceEntry shop/uneven",
        "VirtualService shop/orders",
      ]);
      return all;
    });
    const { Spec } = objects.find(({ type }) => type === "VirtualService")!;
    assertEquals(Spec, expected(20)["VirtualService shop/orders"]);
  },
);
