import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { load, loadAll } from "js-yaml";
import { probeUntil } from "../../lib/cli/probe.ts";
import type { ProbeFlags } from "../../lib/cli/probe_flags.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";
import type { SessionInfo } from "../../lib/transport/session_info.ts";
import { until } from "../interop/lib/wait.ts";
import { discoveryResponseCodec, routeConfigurationCodec } from "../../lib/wire/messages.ts";
import { badServer, KeptScreen } from "./probed_server.ts";
import { ViewedServer } from "./viewed_server.ts";

const FLAGS: ProbeFlags = { timeout: "20s", format: "text", maxMessage: "64MiB" };

function start(address: string, flags: Partial<ProbeFlags>) {
  const options = readProbeOptions(address, { ...FLAGS, ...flags });
  if (typeof options === "string") throw new Error(options);
  const [out, err] = [new KeptScreen(), new KeptScreen()];
  const told = new AbortController();
  const code = probeUntil(options, { out, err }, told.signal);
  return { out, err, code, told };
}

async function run(address: string, flags: Partial<ProbeFlags>) {
  const { out, err, code } = start(address, flags);
  return { code: await code, out: out.text, err: err.text };
}

const ORDERS = "outbound|50051||orders.default.svc.cluster.local";
const ROUTED = `services:
  - name: orders
    ports: ["50051/GRPC"]
    endpoints:
      - { address: 192.0.2.1, labels: { version: v1 } }
      - { address: 192.0.2.2, labels: { version: v2 } }
      - { address: 192.0.2.3, labels: { version: v2 }, drain: true }
    split: { v1: 80, v2: 20 }
`;
const DATABASE = `  - name: db
    ports: ["5432/TCP"]
    endpoints: [192.0.2.9]
`;

/** Lines of names, sorted: types come in whichever order the server takes. */
function names(out: string): string[] {
  return out.trimEnd().split("\n").sort();
}

/** What the only peer asks for: numbers of names by short name of the type. */
function asked({ sessions }: ViewedServer): Record<string, number | "all"> {
  const [session] = sessions.list() as [SessionInfo];
  return Object.fromEntries(
    session.subscriptions().map(({ type, names }) => [type.split(".").at(-1)!, names ?? "all"]),
  );
}

for (const protocol of ["ads", "ads-delta"] as const) {
  Deno.test(`probe as envoy, ${protocol}: clusters and listeners are all asked for, the rest by name`, async () => {
    await using server = await ViewedServer.start(ROUTED + DATABASE);
    const { code, out, err } = await run(server.address, {
      as: "envoy",
      protocol,
      format: "names",
    });
    assertEquals([code, err], [0, ""]);
    const of = (subset: string) => ORDERS.replace("||", `|${subset}|`);
    assertEquals(
      names(out),
      [
        `Cluster/${ORDERS}`,
        `Cluster/${of("v1")}`,
        `Cluster/${of("v2")}`,
        "Cluster/outbound|5432||db.default.svc.cluster.local",
        `ClusterLoadAssignment/${ORDERS}`,
        `ClusterLoadAssignment/${of("v1")}`,
        `ClusterLoadAssignment/${of("v2")}`,
        "ClusterLoadAssignment/outbound|5432||db.default.svc.cluster.local",
        "Listener/outbound|50051",
        "Listener/outbound|5432",
        "RouteConfiguration/50051",
      ].sort(),
    );
  });

  Deno.test(`probe as envoy, ${protocol}: names follow as services come and go`, async () => {
    await using server = await ViewedServer.start(ROUTED);
    const probe = start(server.address, { as: "envoy", protocol, format: "names", follow: true });
    await until("the routes", () => probe.out.text.includes("RouteConfiguration/50051"));
    await server.configure(ROUTED + DATABASE);
    const added = "ClusterLoadAssignment/outbound|5432||db.default.svc.cluster.local";
    await until("endpoints of what is new", () => probe.out.text.includes(added));
    await server.configure(`services:\n${DATABASE}`);
    await until("routes are no longer asked for", () => {
      const { ClusterLoadAssignment, RouteConfiguration } = asked(server);
      return ClusterLoadAssignment === 1 && RouteConfiguration === 0;
    });
    probe.told.abort();
    assertEquals([await probe.code, probe.err.text], [0, ""]);
  });

  Deno.test(`probe as grpc, ${protocol}: from the target to its endpoints, by names alone`, async () => {
    await using server = await ViewedServer.start(ROUTED + DATABASE);
    const probe = start(server.address, {
      as: "grpc",
      protocol,
      resource: ["orders.default.svc.cluster.local:50051"],
      follow: true,
    });
    await until("endpoints", () => probe.out.text.includes("192.0.2.3:50051, 1 draining"));
    assertEquals(asked(server), {
      Listener: 1,
      RouteConfiguration: 1,
      Cluster: 2,
      ClusterLoadAssignment: 2,
    });
    assertEquals(server.sessions.list()[0]!.kind, "grpc");
    assert(!probe.out.text.includes("5432"), probe.out.text);
    probe.told.abort();
    assertEquals(await probe.code, 0);
  });
}

Deno.test("probe as dubbo: from its listener over routes to endpoints, without clusters", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const { code, out, err } = await run(server.address, { as: "dubbo", format: "names" });
  assertEquals([code, err], [0, ""]);
  assertEquals(names(out).map((line) => line.split("/")[0]), [
    "ClusterLoadAssignment",
    "Listener",
    "RouteConfiguration",
  ]);
});

Deno.test("probe: one type with names is asked for and nothing else", async () => {
  await using server = await ViewedServer.start(ROUTED + DATABASE);
  for (const protocol of ["ads", "ads-delta"] as const) {
    const { code, out, err } = await run(server.address, {
      type: ["EDS"],
      resource: [ORDERS],
      protocol,
      format: "names",
    });
    assertEquals([code, out, err], [0, `ClusterLoadAssignment/${ORDERS}\n`, ""]);
  }
});

Deno.test("probe: endpoints without names are those of all clusters, and alone are printed", async () => {
  await using server = await ViewedServer.start(ROUTED + DATABASE);
  const { code, out } = await run(server.address, { type: ["EDS"], format: "names" });
  assertEquals(code, 0);
  assertEquals(names(out).length, 4);
  assertEquals(new Set(names(out).map((line) => line.split("/")[0])).size, 1);
});

Deno.test("probe: what is not there is said, as a failure", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const missing = await run(server.address, { as: "grpc", resource: ["nobody:1"] });
  assertEquals(missing.code, 1);
  assertMatch(missing.err, /the server does not have LDS nobody:1\n$/);
  // A server is silent about endpoints that do not exist: they may come.
  const silent = await run(server.address, { type: ["EDS"], resource: ["x"], timeout: "300ms" });
  assertEquals(silent.code, 1);
  assertMatch(silent.err, /no answer within 300ms for EDS x\n$/);
});

Deno.test("probe: while it follows, what is not there may come", async () => {
  await using server = await ViewedServer.start(`services:\n${DATABASE}`);
  const probe = start(server.address, {
    as: "grpc",
    resource: ["orders.default.svc.cluster.local:50051"],
    follow: true,
    format: "names",
  });
  await until("it says so", () => probe.err.text.includes("does not have LDS orders"));
  await server.configure(ROUTED + DATABASE);
  await until("endpoints", () => probe.out.text.includes("ClusterLoadAssignment/"));
  probe.told.abort();
  assertEquals(await probe.code, 0);
});

Deno.test("probe: text says what each resource is about", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const { out } = await run(server.address, { as: "envoy" });
  assertMatch(out, /\+ outbound\|50051\|\|orders\S+ {2}EDS$/m);
  assertMatch(out, /3 endpoints: 192\.0\.2\.1:50051, .*192\.0\.2\.3:50051, 1 draining$/m);
  assertMatch(
    out,
    /\+ outbound\|50051 {2}127\.0\.0\.1:50051, 1 filter chain\n.*HTTP, routes 50051$/m,
  );
  assertMatch(
    out,
    /\+ 50051 {2}1 virtual host\n {6}orders.*→ outbound\|50051\|v1\|\S+ \(80\), .*\(20\)$/m,
  );
});

Deno.test("probe: YAML and JSON are whole, with what is within decoded", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const yaml = await run(server.address, { type: ["LDS"], format: "yaml" });
  const [listener] = (loadAll(yaml.out) as Listener[]).filter(Boolean);
  const manager = listener!.filterChains[0]!.filters[0]!.typedConfig;
  assertStringIncludes(manager["@type"], "HttpConnectionManager");
  assertEquals(manager.rds.routeConfigName, "50051");
  const json = await run(server.address, { type: ["EDS"], resource: [ORDERS], format: "json" });
  const { resources: [{ object }] } = JSON.parse(json.out);
  assertEquals(
    object["@type"],
    "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
  );
  assertStringIncludes(json.out, '"healthStatus":"DRAINING"');
});

interface Listener {
  filterChains: {
    filters: { typedConfig: { "@type": string; rds: { routeConfigName: string } } }[];
  }[];
}

Deno.test("probe: a type that is refused leads to no names", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const probe = start(server.address, { as: "envoy", nack: "no", follow: true, format: "names" });
  await until("both are refused", () => {
    const [session] = server.sessions.list();
    return session?.subscriptions().filter(({ nacks }) => nacks === 1).length === 2;
  });
  assertEquals(asked(server), { Cluster: "all", Listener: "all" });
  probe.told.abort();
  assertEquals(await probe.code, 0);
});

Deno.test("probe: what a server chose within an xDS resource cannot reach the terminal raw", async () => {
  const evil = "\x1b[2J\x07\u009b\u202e\nfake";
  await using server = await badServer((stream) => {
    stream.onRequest(() => {
      const route = { match: { path: evil }, route: { cluster: evil } };
      const resources = [
        routeConfigurationCodec.pack({
          name: evil,
          virtualHosts: [{ name: evil, domains: [evil], routes: [route] }],
        }),
        { typeUrl: evil, value: new TextEncoder().encode(evil) },
      ];
      const typeUrl = routeConfigurationCodec.typeUrl;
      const bytes = discoveryResponseCodec.encode({ typeUrl, nonce: "1", resources });
      stream.write({ pieces: [bytes], length: bytes.length }).catch(() => {});
    });
  });
  for (const format of ["text", "names", "yaml", "json"] as const) {
    const { out, err } = await run(server.address, { type: ["RDS"], resource: [evil], format });
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(out + err), JSON.stringify(out + err));
    assert(!/^fake/m.test(out + err), out);
    if (format === "json") assertEquals(JSON.parse(out).resources[0].object.name, evil);
    if (format === "yaml") load(out.split("---\n")[1]!);
  }
});

Deno.test("probe: a name that is not there cannot reach the terminal raw either", async () => {
  await using server = await ViewedServer.start(ROUTED);
  const { err } = await run(server.address, { as: "grpc", resource: ["\x1b[2J"] });
  assertStringIncludes(err, "does not have LDS \\u{1b}[2J");
});
