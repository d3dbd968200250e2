import { assertEquals } from "@std/assert";
import type { ProbedPush } from "../../lib/cli/probe_push.ts";
import { ProbeWalk, type Wanted } from "../../lib/cli/probe_walk.ts";
import { xdsType, xdsTypeByUrl, type XdsTypeName } from "../../lib/model/xds_type.ts";
import {
  aggregateClusterCodec,
  clusterCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
} from "../../lib/wire/messages.ts";
import type { Any } from "../../lib/wire/messages.ts";

interface Pushing {
  readonly incremental?: boolean;
  readonly removed?: readonly string[];
}

function push(
  type: XdsTypeName,
  resources: Readonly<Record<string, Any>>,
  { incremental = false, removed = [] }: Pushing = {},
): ProbedPush {
  return {
    type: xdsType(type).typeUrl,
    version: "1",
    nonce: "n",
    incremental,
    resources: Object.entries(resources).map(([name, any]) => ({
      name,
      version: "",
      content: { kind: "any", any },
    })),
    removed,
  };
}

const eds = (name: string, serviceName = "") =>
  clusterCodec.pack({ name, type: "EDS", edsClusterConfig: { serviceName } });
const manager = (routeConfigName: string) =>
  httpConnectionManagerCodec.pack({ rds: { routeConfigName } });
const listener = (routeConfigName: string) =>
  listenerCodec.pack({ apiListener: { apiListener: manager(routeConfigName) } });
const proxied = (routeConfigName: string) =>
  listenerCodec.pack({
    filterChains: [{ filters: [{ name: "hcm", typedConfig: manager(routeConfigName) }] }],
    defaultFilterChain: { filters: [{ name: "tcp" }, { typedConfig: manager("default") }] },
  });
const routes = (...clusters: string[]) =>
  routeConfigurationCodec.pack({
    virtualHosts: [{ routes: clusters.map((cluster) => ({ route: { cluster } })) }],
  });

/** Names by short name of their type, without types of which none is wanted. */
function short(wanted: Wanted): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...wanted].filter(([, names]) => names.length > 0)
      .map(([typeUrl, names]) => [xdsTypeByUrl(typeUrl)!.shortName, names]),
  );
}

Deno.test("probe walk: what each kind of client begins with", () => {
  const types = (as: "envoy" | "grpc" | "dubbo", targets: readonly string[] = []) =>
    new ProbeWalk({ as, targets }).types.map(({ typeUrl, names }) => [
      xdsTypeByUrl(typeUrl)!.shortName,
      names ?? "all",
    ]);
  assertEquals(types("envoy"), [["CDS", "all"], ["LDS", "all"], ["EDS", []], ["RDS", []]]);
  assertEquals(types("grpc", ["a", "b"]), [
    ["LDS", ["a", "b"]],
    ["RDS", []],
    ["CDS", []],
    ["EDS", []],
  ]);
  assertEquals(types("dubbo"), [["LDS", "all"], ["RDS", []], ["EDS", []]]);
});

Deno.test("probe walk: endpoints go by the name that the cluster says, else by the cluster's", () => {
  const walk = new ProbeWalk({ as: "envoy", targets: [] });
  const dns = clusterCodec.pack({ name: "dns", type: "STRICT_DNS" });
  const wanted = walk.take(push("Cluster", { a: eds("a"), b: eds("b", "of-b"), dns }));
  assertEquals(short(wanted), { EDS: ["a", "of-b"] });
});

Deno.test("probe walk: a whole answer says what is gone, a difference what changed", () => {
  const whole = new ProbeWalk({ as: "envoy", targets: [] });
  whole.take(push("Cluster", { a: eds("a"), b: eds("b") }));
  assertEquals(short(whole.take(push("Cluster", { b: eds("b") }))), { EDS: ["b"] });

  const delta = new ProbeWalk({ as: "envoy", targets: [] });
  const incremental = true;
  delta.take(push("Cluster", { a: eds("a"), b: eds("b") }, { incremental }));
  const more = delta.take(push("Cluster", { c: eds("c") }, { incremental, removed: ["a"] }));
  assertEquals(short(more), { EDS: ["b", "c"] });
});

Deno.test("probe walk: an Envoy follows no clusters of routes; it has them all", () => {
  const walk = new ProbeWalk({ as: "envoy", targets: [] });
  walk.take(push("Listener", { l: proxied("80") }));
  assertEquals(short(walk.take(push("RouteConfiguration", { "80": routes("c") }))), {
    RDS: ["80", "default"],
  });
});

Deno.test("probe walk: a gRPC program goes from its target to its endpoints, and back when routes change", () => {
  const walk = new ProbeWalk({ as: "grpc", targets: ["t"] });
  assertEquals(short(walk.take(push("Listener", { t: listener("r") }))), { RDS: ["r"] });
  assertEquals(short(walk.take(push("RouteConfiguration", { r: routes("a", "b", "a") }))), {
    RDS: ["r"],
    CDS: ["a", "b"],
  });
  walk.take(push("Cluster", { a: eds("a"), b: eds("b") }));
  assertEquals(short(walk.take(push("RouteConfiguration", { r: routes("b") }))), {
    RDS: ["r"],
    CDS: ["b"],
    EDS: ["b"],
  });
  assertEquals(short(walk.take(push("Listener", {}))), {});
  // What was let go is not remembered: it has to come again.
  assertEquals(short(walk.take(push("Listener", { t: listener("r") }))), { RDS: ["r"] });
});

Deno.test("probe walk: routes that a listener has within lead to clusters too", () => {
  const walk = new ProbeWalk({ as: "grpc", targets: ["t"] });
  const routeConfig = { virtualHosts: [{ routes: [{ route: { cluster: "c" } }] }] };
  const any = listenerCodec.pack({
    apiListener: { apiListener: httpConnectionManagerCodec.pack({ routeConfig }) },
  });
  assertEquals(short(walk.take(push("Listener", { t: any }))), { CDS: ["c"] });
});

Deno.test("probe walk: clusters of clusters are asked for, in a circle too", () => {
  const walk = new ProbeWalk({ as: "grpc", targets: ["t"] });
  const group = (name: string, ...clusters: string[]) =>
    clusterCodec.pack({
      name,
      clusterType: {
        name: "envoy.clusters.aggregate",
        typedConfig: aggregateClusterCodec.pack({ clusters }),
      },
    });
  walk.take(push("Listener", { t: listener("r") }));
  walk.take(push("RouteConfiguration", { r: routes("top") }));
  assertEquals(short(walk.take(push("Cluster", { top: group("top", "x", "y") }))), {
    RDS: ["r"],
    CDS: ["top", "x", "y"],
  });
  const all = { top: group("top", "x", "y"), x: eds("x"), y: group("y", "top", "z") };
  assertEquals(short(walk.take(push("Cluster", all))), {
    RDS: ["r"],
    CDS: ["top", "x", "y", "z"],
    EDS: ["x"],
  });
});

Deno.test("probe walk: a Dubbo application asks for endpoints by the clusters of its routes", () => {
  const walk = new ProbeWalk({ as: "dubbo", targets: [] });
  walk.take(push("Listener", { l: proxied("r") }));
  assertEquals(short(walk.take(push("RouteConfiguration", { r: routes("c") }))), {
    RDS: ["r", "default"],
    EDS: ["c"],
  });
});

Deno.test("probe walk: what is no such message leads nowhere", () => {
  const walk = new ProbeWalk({ as: "envoy", targets: [] });
  const broken = { typeUrl: clusterCodec.typeUrl, value: Uint8Array.of(255) };
  assertEquals(short(walk.take(push("Cluster", { broken, a: eds("a") }))), { EDS: ["a"] });
});

Deno.test("probe walk: each client looks where it would in a listener", () => {
  const of = (as: "envoy" | "grpc" | "dubbo", any: Any) => {
    const walk = new ProbeWalk({ as, targets: as === "grpc" ? ["l"] : [] });
    return short(walk.take(push("Listener", { l: any })));
  };
  assertEquals(of("grpc", proxied("80")), {});
  assertEquals(of("envoy", listener("80")), {});
  assertEquals(of("dubbo", listener("80")), {});
});
