/**
 * The services that the tests serve, and what sinks must make of them, written down by hand.
 *
 * @module
 */
import type { ServiceConfig } from "./pinnace.ts";

/** The collection of ServiceEntries, as MCP sinks ask for it. */
export const SERVICE_ENTRIES = "istio/networking/v1alpha3/serviceentries";

/** A service in the long form: every kind of field that travels. */
export const ORDERS: ServiceConfig = {
  name: "orders",
  namespace: "shop",
  hosts: ["orders.shop.example.com"],
  addresses: ["240.0.0.10"],
  ports: [
    { name: "http", number: 80, protocol: "HTTP", targetPort: 8080 },
    { name: "grpc", number: 443, protocol: "GRPC" },
  ],
  endpoints: [
    { address: "10.0.0.1", weight: 3, labels: { version: "v1" }, locality: "eu/fra/a" },
    {
      address: "10.0.0.2",
      ports: { http: 9080, grpc: 9443 },
      network: "edge",
      serviceAccount: "orders",
    },
  ],
  location: "MESH_INTERNAL",
  exportTo: ["*"],
  subjectAltNames: ["spiffe://example.org/ns/shop/sa/orders"],
  labels: { team: "shop" },
};

/** The ServiceEntry of {@link ORDERS} in Istio's JSON, written down by hand. */
export const ORDERS_SPEC: Readonly<Record<string, unknown>> = {
  hosts: ["orders.shop.example.com"],
  addresses: ["240.0.0.10"],
  ports: [
    { number: 80, protocol: "HTTP", name: "http", targetPort: 8080 },
    { number: 443, protocol: "GRPC", name: "grpc" },
  ],
  location: "MESH_INTERNAL",
  resolution: "STATIC",
  endpoints: [
    {
      address: "10.0.0.1",
      // Where a port has a targetPort, each endpoint says its ports itself: older sinks know no other way.
      ports: { http: 8080, grpc: 443 },
      weight: 3,
      labels: { version: "v1" },
      locality: "eu/fra/a",
    },
    {
      address: "10.0.0.2",
      ports: { http: 9080, grpc: 9443 },
      network: "edge",
      serviceAccount: "orders",
    },
  ],
  exportTo: ["*"],
  subjectAltNames: ["spiffe://example.org/ns/shop/sa/orders"],
};

/** The same as sinks of Istio 1.5 decode it: they do not know `targetPort` and `serviceAccount` yet. */
export const ORDERS_SPEC_15: Readonly<Record<string, unknown>> = {
  ...ORDERS_SPEC,
  ports: [
    { number: 80, protocol: "HTTP", name: "http" },
    { number: 443, protocol: "GRPC", name: "grpc" },
  ],
  endpoints: [
    {
      address: "10.0.0.1",
      ports: { http: 8080, grpc: 443 },
      weight: 3,
      labels: { version: "v1" },
      locality: "eu/fra/a",
    },
    { address: "10.0.0.2", ports: { http: 9080, grpc: 9443 }, network: "edge" },
  ],
};

/** A service in the short form, with one endpoint. */
export function simple(name: string, endpoint = "10.1.0.1"): ServiceConfig {
  return {
    name,
    namespace: "edge",
    hosts: [`${name}.edge.example.com`],
    ports: ["443:8443/GRPC"],
    endpoints: [endpoint],
  };
}

/** `namespace/name` of a service. */
export function nameOf(service: ServiceConfig): string {
  return `${service.namespace}/${service.name}`;
}

/** The names of services, sorted. */
export function namesOf(services: readonly ServiceConfig[]): string[] {
  return services.map(nameOf).sort();
}
