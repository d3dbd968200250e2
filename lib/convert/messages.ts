/**
 * ServiceEntry and WorkloadEntry in the two forms of conversion: as short as the wire codec takes
 * them (what has its default is left out), and complete, as rules read them.
 *
 * @module
 */
import type { Partially, ServiceEntry, ServiceEntryPort, WorkloadEntry } from "../wire/messages.ts";

/** Every `ServiceEntry.Resolution`, by name. */
export const RESOLUTIONS = ["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"] as const;

/** Every `ServiceEntry.Location`, by name. */
export const LOCATIONS = ["MESH_EXTERNAL", "MESH_INTERNAL"] as const;

/** The message with every default filled in. */
export function completeServiceEntry(message: Partially<ServiceEntry>): ServiceEntry {
  const { workloadSelector } = message;
  return {
    hosts: message.hosts ?? [],
    addresses: message.addresses ?? [],
    ports: (message.ports ?? []).map(completePort),
    location: message.location ?? "MESH_EXTERNAL",
    resolution: message.resolution ?? "NONE",
    endpoints: (message.endpoints ?? []).map(completeWorkloadEntry),
    exportTo: message.exportTo ?? [],
    subjectAltNames: message.subjectAltNames ?? [],
    ...(workloadSelector === undefined
      ? {}
      : { workloadSelector: { labels: completeMap(workloadSelector.labels) } }),
  };
}

/** The message with every default filled in. */
export function completeWorkloadEntry(message: Partially<WorkloadEntry>): WorkloadEntry {
  return {
    address: message.address ?? "",
    ports: completeMap(message.ports),
    labels: completeMap(message.labels),
    network: message.network ?? "",
    locality: message.locality ?? "",
    weight: message.weight ?? 0,
    serviceAccount: message.serviceAccount ?? "",
  };
}

function completePort(port: Partially<ServiceEntryPort>): ServiceEntryPort {
  return {
    number: port.number ?? 0,
    protocol: port.protocol ?? "",
    name: port.name ?? "",
    targetPort: port.targetPort ?? 0,
  };
}

/** A map never holds undefined in practice: the type merely allows a whole message to be partial. */
function completeMap<V>(
  map: Readonly<Record<string, V | undefined>> | undefined,
): Readonly<Record<string, V>> {
  return (map ?? {}) as Readonly<Record<string, V>>;
}
