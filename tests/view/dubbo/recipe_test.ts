import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { dubboRecipe } from "../../../lib/view/dubbo/recipe.ts";
import { emptyResource } from "../../../lib/view/dubbo/empty.ts";
import { DUBBO_ROUTES } from "../../../lib/view/dubbo/listener.ts";
import { dubboRoutes } from "../../../lib/view/dubbo/routes.ts";
import { variantOf } from "../../../lib/view/dubbo/variant.ts";
import { NO_ADDRESSES } from "../../../lib/view/recipe.ts";
import { makerOf } from "../../../lib/view/view_maker.ts";
import { clusterLoadAssignmentCodec, routeConfigurationCodec } from "../../../lib/wire/messages.ts";
import { catalogueOf } from "../world.ts";
import { callsOf } from "./as_dubbo_reads.ts";

/** A provider with an endpoint of each version. */
function provider(extra: Record<string, unknown> = {}) {
  return {
    name: "hello-provider",
    ports: ["50051/GRPC"],
    endpoints: ["v1", "v2"].map((version, index) => ({
      address: `192.0.2.${index + 1}`,
      labels: { version },
    })),
    ...extra,
  };
}

function viewOf(...services: readonly unknown[]) {
  return makerOf(dubboRecipe).make(catalogueOf({ services }), NO_ADDRESSES);
}

Deno.test("dubbo view: whatever services come and go, the listener stays as it is", () => {
  const none = viewOf().collections.get("Listener")!;
  const some = viewOf(provider(), { name: "web", ports: ["80/HTTP"], endpoints: ["192.0.2.3"] });
  assertEquals(Array.from(none, ({ name }) => name), [DUBBO_ROUTES]);
  assertEquals(some.collections.get("Listener")!.version, none.version);
});

Deno.test("dubbo view: a change of traffic changes endpoints of a cluster, never the cluster", () => {
  const splits = [undefined, { v1: 1 }, { v1: 80, v2: 20 }, { v2: 1 }];
  const views = splits.map((split) => viewOf(provider(split === undefined ? {} : { split })));
  assertEquals(views.map((view) => callsOf(view)["hello-provider"]), [
    ["192.0.2.1:50051", "192.0.2.2:50051"],
    ["192.0.2.1:50051"],
    ["192.0.2.1:50051", "192.0.2.2:50051"],
    ["192.0.2.2:50051"],
  ]);
  const routes = views.map((view) => view.collections.get("RouteConfiguration")!.version);
  assertEquals(new Set(routes).size, 1);
});

Deno.test("dubbo view: routes that are larger than what an application takes are said", () => {
  const parts = Array.from({ length: 40_000 }, (_, i) => {
    const host = `service-${i}.namespace.svc.cluster.local`;
    const domains = [{ text: host, rank: 0 }];
    return { key: `namespace/service-${i}`, data: { name: host, domains, cluster: host } };
  });
  const { findings } = dubboRoutes(DUBBO_ROUTES, parts, "default");
  assertEquals(findings.map(({ rule }) => rule), ["view/dubbo-size"]);
  assertEquals(dubboRoutes(DUBBO_ROUTES, parts.slice(0, 1000), "default").findings, []);
});

Deno.test("dubbo view: a name that does not exist gets an empty resource, equal for equal names", () => {
  const endpoints = emptyResource("ClusterLoadAssignment", "outbound|1||gone");
  assertEquals(endpoints.name, "outbound|1||gone");
  assertEquals(clusterLoadAssignmentCodec.decode(endpoints.bytes), {
    ...clusterLoadAssignmentCodec.decode(new Uint8Array()),
    clusterName: "outbound|1||gone",
  });
  const routes = emptyResource("RouteConfiguration", "50051");
  assertEquals(routeConfigurationCodec.decode(routes.bytes).name, "50051");
  assertEquals(routes, emptyResource("RouteConfiguration", "50051"));
  assertThrows(() => emptyResource("Listener", "50051"), Error, "Listener");
});

Deno.test("dubbo view: routes asked for again differ from those before in names of virtual hosts alone", () => {
  const routes = viewOf(provider()).collections.get("RouteConfiguration")!.get(DUBBO_ROUTES)!;
  const decoded = (opening: number) =>
    routeConfigurationCodec.decode(variantOf(routes, opening).bytes);
  assert(variantOf(routes, 1) === routes);
  for (let opening = 2; opening < 20; opening++) {
    const [now, before] = [decoded(opening), decoded(opening - 1)];
    const names = [now, before].map(({ virtualHosts }) => virtualHosts.map(({ name }) => name));
    assertNotEquals(names[0], names[1]);
    assertNotEquals(variantOf(routes, opening).version, variantOf(routes, opening - 1).version);
    const unnamed = [now, before].map((message) => ({
      ...message,
      virtualHosts: message.virtualHosts.map((host) => ({ ...host, name: "" })),
    }));
    assertEquals(unnamed[0], unnamed[1]);
  }
});

Deno.test("dubbo view: streams share what a later opening is answered", () => {
  const routes = viewOf(provider()).collections.get("RouteConfiguration")!.get(DUBBO_ROUTES)!;
  assert(variantOf(routes, 3) === variantOf(routes, 3));
  assertEquals(new Set(Array.from({ length: 100 }, (_, i) => variantOf(routes, i + 1))).size, 8);
});

Deno.test("dubbo view: without any service, too, routes asked for again differ from those before", () => {
  const routes = viewOf().collections.get("RouteConfiguration")!.get(DUBBO_ROUTES)!;
  for (let opening = 2; opening < 10; opening++) {
    const [now, before] = [opening, opening - 1].map((n) =>
      routeConfigurationCodec.decode(variantOf(routes, n).bytes).virtualHosts
    );
    assertNotEquals(now, before);
  }
});
