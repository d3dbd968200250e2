/** The probe as a client of go-control-plane's server, and of istiod. */
import { assertEquals, assertMatch } from "@std/assert";
import { probeUntil } from "../../lib/cli/probe.ts";
import type { ProbeFlags } from "../../lib/cli/probe_flags.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";
import { xdsType, type XdsTypeName } from "../../lib/model/xds_type.ts";
import {
  clusterCodec,
  clusterLoadAssignmentCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
  routerCodec,
} from "../../lib/wire/messages.ts";
import type { Any } from "../../lib/wire/messages.ts";
import { contentHash } from "../../lib/wire/hash.ts";
import { KeptScreen } from "../cli/probed_server.ts";
import { ViewedServer } from "../cli/viewed_server.ts";
import { interopTest } from "./lib/binaries.ts";
import { Istiod } from "./lib/istiod.ts";
import { until } from "./lib/wait.ts";
import { GO_CONTROL_PLANE, RivalServer, type World } from "./replay/control_planes.ts";

const FLAGS: ProbeFlags = { timeout: "30s", format: "names", maxMessage: "64MiB" };

function start(address: string, flags: Partial<ProbeFlags>) {
  const options = readProbeOptions(address, { ...FLAGS, ...flags });
  if (typeof options === "string") throw new Error(options);
  const [out, err] = [new KeptScreen(), new KeptScreen()];
  const told = new AbortController();
  const code = probeUntil(options, { out, err }, told.signal);
  return { out, err, code, told };
}

const ads = { configSource: { ads: {}, resourceApiVersion: "V3" } } as const;
const manager = (routeConfigName: string) =>
  httpConnectionManagerCodec.pack({
    statPrefix: "x",
    rds: { ...ads, routeConfigName },
    httpFilters: [{ name: "router", typedConfig: routerCodec.pack({}) }],
  });
const cluster = (name: string) =>
  clusterCodec.pack({
    name,
    type: "EDS",
    edsClusterConfig: { edsConfig: ads.configSource, serviceName: `of-${name}` },
  });
const endpoints = (clusterName: string, address: string) =>
  clusterLoadAssignmentCodec.pack({
    clusterName,
    endpoints: [{
      lbEndpoints: [{ endpoint: { address: { socketAddress: { address, portValue: 80 } } } }],
    }],
  });
const routes = (name: string, ...clusters: string[]) =>
  routeConfigurationCodec.pack({
    name,
    virtualHosts: [{
      name: "v",
      domains: ["*"],
      routes: [{
        match: { prefix: "/" },
        route: {
          weightedClusters: { clusters: clusters.map((c) => ({ name: c, weight: { value: 1 } })) },
        },
      }],
    }],
  });

/** What a server is to have: resources by name, by type. */
function world(types: Readonly<Record<XdsTypeName, Readonly<Record<string, Any>>>>): World {
  return {
    types: Object.fromEntries(
      Object.entries(types).map(([type, byName]) => {
        const all = Object.entries(byName);
        return [xdsType(type as XdsTypeName).typeUrl, {
          version: contentHash(all.flatMap(([name, { value }]) => [name, value])),
          resources: all.map(([name, { typeUrl, value }]) => ({
            name,
            version: "",
            anyType: typeUrl,
            bytes: value.toBase64(),
          })),
        }];
      }),
    ),
  };
}

/** Clusters of these names, with a listener and routes to them, for Envoys and for programs. */
function serving(...clusters: string[]): World {
  return world({
    Cluster: Object.fromEntries(clusters.map((name) => [name, cluster(name)])),
    ClusterLoadAssignment: Object.fromEntries(
      clusters.map((name) => [`of-${name}`, endpoints(`of-${name}`, "192.0.2.1")]),
    ),
    Listener: {
      proxy: listenerCodec.pack({
        name: "proxy",
        address: { socketAddress: { address: "127.0.0.1", portValue: 80 } },
        filterChains: [{ filters: [{ name: "hcm", typedConfig: manager("r") }] }],
      }),
      target: listenerCodec.pack({
        name: "target",
        apiListener: { apiListener: manager("r") },
      }),
    },
    RouteConfiguration: { r: routes("r", ...clusters) },
  });
}

const ENVOY = {
  one: [
    "Cluster/a",
    "ClusterLoadAssignment/of-a",
    "Listener/proxy",
    "Listener/target",
    "RouteConfiguration/r",
  ],
  two: ["Cluster/a", "Cluster/b", "ClusterLoadAssignment/of-a", "ClusterLoadAssignment/of-b"],
};

for (const protocol of ["ads", "ads-delta"] as const) {
  interopTest(
    `probe, ${protocol}: as an Envoy it gets all of go-control-plane's, and follows`,
    [GO_CONTROL_PLANE],
    async () => {
      await using server = await RivalServer.start(serving("a"), { asksForAll: true });
      const probe = start(server.address, { as: "envoy", protocol, follow: true });
      const has = (lines: readonly string[], from = 0) =>
        lines.every((line) => probe.out.text.slice(from).split("\n").includes(line));
      await until("everything", () => has(ENVOY.one));
      const before = probe.out.text.length;
      await server.serve(serving("a", "b"));
      await until("what is new", () => has(ENVOY.two.filter((l) => l.endsWith("b")), before));
      probe.told.abort();
      assertEquals([await probe.code, probe.err.text], [0, ""]);
    },
  );

  interopTest(
    `probe, ${protocol}: as an Envoy it ends once it has all of go-control-plane's`,
    [GO_CONTROL_PLANE],
    async () => {
      await using server = await RivalServer.start(serving("a", "b"), { asksForAll: true });
      const probe = start(server.address, { as: "envoy", protocol });
      assertEquals([await probe.code, probe.err.text], [0, ""]);
      const expected = new Set([...ENVOY.one, ...ENVOY.two]);
      assertEquals(probe.out.text.trimEnd().split("\n").sort(), [...expected].sort());
    },
  );

  interopTest(
    `probe, ${protocol}: as a gRPC program it finds its way by name through go-control-plane's`,
    [GO_CONTROL_PLANE],
    async () => {
      await using server = await RivalServer.start(serving("a", "b"), { asksForAll: false });
      const as = "grpc";
      const probe = start(server.address, { as, protocol, resource: ["target"], format: "text" });
      assertEquals(await probe.code, 0, probe.err.text);
      const { text } = probe.out;
      assertMatch(text, /\+ target.* {2}API listener, HTTP, routes r$/m);
      assertMatch(text, /\* → a \(1\), b \(1\)$/m);
      assertMatch(text, /\+ of-b.* {2}1 endpoint: 192\.0\.2\.1:80$/m);
      assertMatch(text, /\+ a.* {2}EDS, endpoints by EDS of-a$/m);
    },
  );

  interopTest(
    `probe, ${protocol}: what go-control-plane does not have is said`,
    [GO_CONTROL_PLANE],
    async () => {
      await using server = await RivalServer.start(serving("a"), { asksForAll: false });
      const probe = start(server.address, {
        as: "grpc",
        protocol,
        resource: ["nobody"],
        timeout: "3s",
      });
      assertEquals(await probe.code, 1);
      assertMatch(probe.err.text, /(does not have|no answer within 3s for) LDS nobody\n$/);
    },
  );
}

const SERVICE = `services:
  - name: orders
    hosts: [orders.example.com]
    ports: [50051/GRPC]
    endpoints: [192.0.2.1]
`;
const SIDECAR = "sidecar~127.0.0.1~probe.default~default.svc.cluster.local";

interopTest(
  "probe: istiod answers it as it does an Envoy and a gRPC program",
  ["istiod"],
  async () => {
    await using source = await ViewedServer.start(SERVICE);
    await using istiod = await Istiod.start(source.address);
    const as = { node: SIDECAR, format: "text" } as const;
    for (const protocol of ["ads", "ads-delta"] as const) {
      const envoy = start(istiod.xds, { ...as, as: "envoy", protocol });
      assertEquals(await envoy.code, 0, envoy.err.text);
      for (
        const line of [
          /\+ outbound\|50051\|\|orders\.example\.com.* {2}EDS, LEAST_REQUEST$/m,
          /\+ outbound\|50051\|\|orders\.example\.com.* {2}1 endpoint: 192\.0\.2\.1:50051$/m,
          /\+ 0\.0\.0\.0_50051.* {2}0\.0\.0\.0:50051, \d filter chains\n.*HTTP, routes 50051$/m,
          /orders\.example\.com.* → outbound\|50051\|\|orders\.example\.com$/m,
        ]
      ) assertMatch(envoy.out.text, line);
      const program = start(istiod.xds, {
        ...as,
        as: "grpc",
        protocol,
        resource: ["orders.example.com:50051"],
        metadata: ["GENERATOR=grpc"],
      });
      assertEquals(await program.code, 0, program.err.text);
      assertMatch(
        program.out.text,
        /\+ orders\.example\.com:50051.* {2}API listener, HTTP, routes /m,
      );
      assertMatch(program.out.text, / {2}1 endpoint: 192\.0\.2\.1:50051$/m);
    }
  },
);
