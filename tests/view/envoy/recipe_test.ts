import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Service } from "../../../lib/model/service.ts";
import { envoyRecipe } from "../../../lib/view/envoy/envoy_recipe.ts";
import { NO_ADDRESSES } from "../../../lib/view/recipe.ts";
import type { ServedService, Traffic } from "../../../lib/view/served_service.ts";
import { PLAIN_TRAFFIC } from "../../../lib/view/traffic_rules.ts";
import { makerOf } from "../../../lib/view/view_maker.ts";
import type { JsonObject } from "../../../lib/wire/proto_json.ts";
import { anEndpoint, aService, CONTEXT } from "../services.ts";
import { resourcesOf } from "./envoy_world.ts";

function served(
  key: string,
  extra: Partial<Service>,
  traffic: Partial<Traffic> = {},
): [string, ServedService] {
  return [key, { key, service: aService(key, extra), traffic: { ...PLAIN_TRAFFIC, ...traffic } }];
}

function viewOf(...services: [string, ServedService][]) {
  return makerOf(envoyRecipe).make({ services: new Map(services), context: CONTEXT }, NO_ADDRESSES);
}

function rules(...services: [string, ServedService][]): string[] {
  return viewOf(...services).findings.map(({ rule }) => rule);
}

const TCP = [{ name: "db", number: 5432, protocol: "TCP" }];

Deno.test("envoy recipe: of a service without resolution by name, TCP is not served", () => {
  const extra = { hosts: ["*.example.com"], resolution: "DYNAMIC_DNS", ports: TCP } as const;
  const view = viewOf(served("a/any", extra));
  assertEquals(view.findings.map(({ rule }) => rule), ["view/dynamic-dns-tcp"]);
  assertEquals(Object.values(resourcesOf(view)).map((of) => Object.keys(of)), [[], [], [], []]);
});

Deno.test("envoy recipe: of a service without resolution by name, requests that name a port go there, which is told", () => {
  const said = (number: number, targetPort: number | undefined, protocol = "HTTP") => {
    const port = {
      name: "p",
      number,
      protocol,
      ...(targetPort === undefined ? {} : { targetPort }),
    };
    return rules(served("a/any", { hosts: ["*.a.com"], resolution: "DYNAMIC_DNS", ports: [port] }));
  };
  assertEquals(said(8080, 80), ["view/dynamic-dns-port"]);
  assertEquals(said(80, 8080), []);
  assertEquals(said(8080, 8080), []);
  assertEquals(said(8080, undefined), []);
  assertEquals(said(443, 8443, "TLS"), []);
});

Deno.test("envoy recipe: a wildcard is not looked up", () => {
  const extra = { hosts: ["*.example.com", "a.example.com"], resolution: "DNS", endpoints: [] };
  const view = viewOf(served("a/any", extra as Partial<Service>));
  assertEquals(view.findings.map(({ rule }) => rule), ["view/wildcard-dns"]);
  assertEquals(Object.keys(resourcesOf(view)["CDS"]!), ["outbound|80||a.example.com"]);
});

Deno.test("envoy recipe: DNS_ROUND_ROBIN has one endpoint, what is more is told", () => {
  const endpoints = ["a.example.com", "b.example.com"].map((address) => anEndpoint(address));
  const view = viewOf(served("a/turn", { resolution: "DNS_ROUND_ROBIN", endpoints }));
  assertEquals(view.findings.map(({ rule }) => rule), ["view/round-robin-endpoints"]);
  const [cluster] = Object.values(resourcesOf(view)["CDS"]!);
  const { endpoints: groups } = cluster!["loadAssignment"] as JsonObject;
  assertEquals(JSON.stringify(groups).match(/[ab]\.example\.com/g), ["a.example.com"]);
});

Deno.test("envoy recipe: an endpoint that Envoy would refuse costs only itself", () => {
  const bad = ["db.example.com", "fe80::1%eth0", `unix:///${"x".repeat(200)}`];
  const endpoints = [...bad, "192.0.2.1"].map((address, i) =>
    anEndpoint(address, { locality: `l${i}` })
  );
  const view = viewOf(served("a/db", { endpoints, failover: ["l0", "l3"] }));
  assertEquals(view.findings.map(({ rule }) => rule), ["view/endpoint-address"]);
  const [assignment] = Object.values(resourcesOf(view)["EDS"]!);
  const groups = assignment!["endpoints"] as readonly JsonObject[];
  assertEquals(groups.map(({ priority = 0, locality }) => [priority, locality]), [
    [0, { region: "l3" }],
  ]);
});

Deno.test("envoy recipe: TCP all of whose targets are missing is not served, and does not take the port", () => {
  const to = [{ host: "db.a", subset: "none", weight: 1 }];
  const nowhere: Partial<Traffic> = { streams: [{ kind: "tcp", to }] };
  const view = viewOf(served("a/db", { ports: TCP }, nowhere), served("b/db", { ports: TCP }));
  assertEquals(view.findings.map(({ key, rule }) => [key, rule]), [
    ["a/db", "view/missing-target"],
  ]);
  const listener = JSON.stringify(resourcesOf(view)["LDS"]!["outbound|5432"]);
  assertEquals(listener.match(/"cluster":"([^"]*)"/)?.[1], "outbound|5432||db.b");
});

Deno.test("envoy recipe: TCP that waits for the sake of HTTP or TLS on its port is told, with whose it is", () => {
  const port = (protocol: string) => ({
    ports: [{ name: "p", number: 5432, protocol }],
    addresses: ["192.0.2.9"],
  });
  const said = (...protocols: string[]) =>
    viewOf(...protocols.map((protocol, i) => served(`a/s${i}`, port(protocol)))).findings
      .filter(({ rule }) => rule === "view/shared-port")
      .map(({ key, message }) => [key, message.match(/of (a\/.*) too/)?.[1]]);
  assertEquals(said("MYSQL", "HTTP"), [["a/s0", "a/s1"]]);
  assertEquals(said("TLS", "MONGO"), [["a/s1", "a/s0"]]);
  const many = said("HTTP", "HTTP", "TCP", "GRPC", "HTTP2", "HTTP");
  assertEquals(many, [["a/s2", "a/s0, a/s1, a/s3 and 2 more"]]);
  assertEquals(said("TCP"), []);
  assertEquals(said("HTTP", "TLS"), []);
});

Deno.test("envoy recipe: what rules ask for and Envoys do not get is told", () => {
  assertEquals(rules(served("a/b", {}, { unserved: ["a redirect"] })), ["view/unserved-traffic"]);
});

Deno.test("envoy recipe: what holds for several ports is said once", () => {
  const ports = [80, 81].map((number) => ({ name: `p${number}`, number, protocol: "HTTP" }));
  assertEquals(rules(served("a/b", { ports, endpoints: [anEndpoint("a.example.com")] })), [
    "view/endpoint-address",
  ]);
});

Deno.test("envoy recipe: what changes of one service leaves the resources of others as they are", () => {
  const maker = makerOf(envoyRecipe);
  const make = (...services: [string, ServedService][]) =>
    maker.make({ services: new Map(services), context: CONTEXT }, NO_ADDRESSES);
  const other = served("a/other", {});
  const before = make(served("a/b", {}), other);
  const after = make(served("a/b", { endpoints: [anEndpoint("192.0.2.9")] }), other);
  const resource = (view: typeof before, type: "Cluster" | "ClusterLoadAssignment", host: string) =>
    view.collections.get(type)!.get(`outbound|80||${host}`);
  for (const type of ["Cluster", "ClusterLoadAssignment"] as const) {
    assertStrictEquals(resource(after, type, "other.a"), resource(before, type, "other.a"));
  }
  for (const type of ["Cluster", "Listener", "RouteConfiguration"] as const) {
    assertEquals(after.collections.get(type)!.version, before.collections.get(type)!.version);
  }
  const endpoints = (view: typeof before) => resource(view, "ClusterLoadAssignment", "b.a");
  assertEquals(endpoints(after)!.version === endpoints(before)!.version, false);
});

Deno.test("envoy recipe: routes put together from ready ones are those put together at once", () => {
  const services = ["a/x", "b/x", "default/x"].map((key) => served(key, {}));
  const maker = makerOf(envoyRecipe);
  const routesOf = (list: typeof services) =>
    maker.make({ services: new Map(list), context: CONTEXT }, NO_ADDRESSES)
      .collections.get("RouteConfiguration")!.get("80")!;
  for (const list of [services.slice(0, 2), services, services.slice(1), services]) {
    const fresh = viewOf(...list).collections.get("RouteConfiguration")!.get("80")!;
    assertEquals(routesOf(list), fresh);
  }
});
