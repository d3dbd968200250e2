/** Services for tests of views. */
import type { Endpoint, Service } from "../../lib/model/service.ts";
import fc from "fast-check";
import type { Traffic, ViewContext, WeightedTarget } from "../../lib/view/served_service.ts";

/** What views are made with in tests. */
export const CONTEXT: ViewContext = {
  namespace: "default",
  domain: "svc.cluster.local",
  envoy: { bind: "127.0.0.1", portOffset: 0, trustedCa: "/etc/ssl/certs/ca-certificates.crt" },
};

/** A service of this key (`namespace/name`) with one endpoint; its host is `name.namespace`. */
export function aService(key: string, extra: Partial<Service> = {}): Service {
  const [namespace, name] = key.split("/") as [string, string];
  return {
    name,
    namespace,
    hosts: [`${name}.${namespace}`],
    addresses: [],
    ports: [{ name: "http-80", number: 80, protocol: "HTTP" }],
    location: "MESH_EXTERNAL",
    resolution: "STATIC",
    endpoints: [anEndpoint("192.0.2.1")],
    exportTo: ["*"],
    subjectAltNames: [],
    labels: {},
    annotations: {},
    aliases: [],
    ...extra,
  };
}

/** An endpoint with nothing but its address. */
export function anEndpoint(address: string, extra: Partial<Endpoint> = {}): Endpoint {
  const nothing = { ports: {}, labels: {}, network: "", locality: "", serviceAccount: "" };
  return { address, ...nothing, ...extra };
}

/** Routes of TCP and TLS ports to these targets, or to none. */
export function streams(
  targets: fc.Arbitrary<WeightedTarget>,
): fc.Arbitrary<Traffic["streams"]> {
  const route = fc.record({
    kind: fc.constantFrom("tcp" as const, "tls" as const),
    port: fc.constantFrom(undefined, 80, 443, 5432),
    to: fc.array(targets, { maxLength: 3 }),
  });
  const without = route.map(({ port, ...rest }) => port === undefined ? rest : { ...rest, port });
  return fc.array(without, { maxLength: 2 });
}
