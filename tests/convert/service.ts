/**
 * Services for tests.
 *
 * @module
 */
import type { Endpoint, Service } from "../../lib/model/service.ts";

/** A sound service, but for what is given. */
export function service(parts: Partial<Service> = {}): Service {
  const name = parts.name ?? "orders";
  return {
    name,
    namespace: "default",
    hosts: [`${name}.default.svc.cluster.local`],
    addresses: [],
    ports: [{ name: "http", number: 80, protocol: "HTTP" }],
    location: "MESH_EXTERNAL",
    resolution: "STATIC",
    endpoints: [endpoint()],
    exportTo: ["*"],
    subjectAltNames: [],
    labels: {},
    annotations: {},
    aliases: [],
    ...parts,
  };
}

/** A sound endpoint, but for what is given. */
export function endpoint(parts: Partial<Endpoint> = {}): Endpoint {
  return {
    address: "10.0.0.1",
    ports: {},
    labels: {},
    network: "",
    locality: "",
    serviceAccount: "",
    ...parts,
  };
}
