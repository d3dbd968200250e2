/**
 * A service out of a ServiceEntry: how views see what other sources gave.
 *
 * @module
 */
import type { Endpoint, Location, Resolution, Service, ServicePort } from "../model/service.ts";
import type { DecodedEntry } from "../wire/decode_entry.ts";
import type { ServiceEntryPort, WorkloadEntry } from "../wire/messages.ts";

const RESOLUTIONS: readonly (Resolution | number)[] = [
  "NONE",
  "STATIC",
  "DNS",
  "DNS_ROUND_ROBIN",
  "DYNAMIC_DNS",
];

/** The service that a ServiceEntry of this name (`namespace/name`) describes; undefined where it has a resolution that is not known here. */
export function serviceOfEntry(
  name: string,
  { labels, annotations, entry }: DecodedEntry,
): Service | undefined {
  if (!RESOLUTIONS.includes(entry.resolution)) return undefined;
  const slash = name.indexOf("/");
  const { hosts, addresses, location, exportTo, subjectAltNames, workloadSelector } = entry;
  return {
    name: name.slice(slash + 1),
    namespace: name.slice(0, slash),
    hosts: hosts.map((host) => host.toLowerCase()),
    addresses,
    ports: entry.ports.map(toPort),
    location: location as Location,
    resolution: entry.resolution as Resolution,
    endpoints: entry.endpoints.map(toEndpoint),
    ...(workloadSelector === undefined ? {} : { workloadSelector: workloadSelector.labels }),
    exportTo,
    subjectAltNames,
    labels,
    annotations,
    aliases: [],
  };
}

/** An endpoint of a ServiceEntry. */
export function toEndpoint(entry: WorkloadEntry): Endpoint {
  const { address, ports, labels, network, locality, weight, serviceAccount } = entry;
  return {
    address,
    ports,
    labels,
    network,
    locality,
    ...(weight === 0 ? {} : { weight }), // Istio reads 0 as "none given"
    serviceAccount,
  };
}

function toPort({ name, number, protocol, targetPort }: ServiceEntryPort): ServicePort {
  return {
    name,
    number,
    protocol: protocol.toUpperCase(),
    ...(targetPort === 0 || targetPort === number ? {} : { targetPort }),
  };
}
