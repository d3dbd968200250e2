/**
 * Service → ServiceEntry. Pure: fields that have their default are left out, lists keep the order in
 * which they were written (the order of hosts, ports and endpoints is the person's, and a sink shows it
 * as it stands in the file), and maps go by reference, since the wire codec sorts them. So the bytes are
 * the same on every instance.
 *
 * @module
 */
import type { Endpoint, Service, ServicePort } from "../model/service.ts";
import type { Partially, ServiceEntry, ServiceEntryPort, WorkloadEntry } from "../wire/messages.ts";

/** The `istio.networking.v1alpha3.ServiceEntry` of a service, as the wire codec takes it. */
export function toServiceEntry(service: Service): Partially<ServiceEntry> {
  const { hosts, addresses, ports, endpoints, workloadSelector, exportTo, subjectAltNames } =
    service;
  const message: Mutable<Partially<ServiceEntry>> = {};
  if (hosts.length > 0) message.hosts = hosts;
  if (addresses.length > 0) message.addresses = addresses;
  if (ports.length > 0) message.ports = ports.map(toPort);
  if (service.location !== "MESH_EXTERNAL") message.location = service.location;
  if (service.resolution !== "NONE") message.resolution = service.resolution;
  if (endpoints.length > 0) message.endpoints = withTargetPorts(service).map(toWorkloadEntry);
  if (workloadSelector !== undefined) {
    message.workloadSelector = isEmpty(workloadSelector) ? {} : { labels: workloadSelector };
  }
  if (exportTo.length > 0) message.exportTo = exportTo;
  if (subjectAltNames.length > 0) message.subjectAltNames = subjectAltNames;
  return message;
}

/** The `istio.networking.v1alpha3.WorkloadEntry` of an endpoint. */
export function toWorkloadEntry(endpoint: Endpoint): Partially<WorkloadEntry> {
  const { address, ports, labels, network, locality, weight, serviceAccount } = endpoint;
  const message: Mutable<Partially<WorkloadEntry>> = {};
  if (address !== "") message.address = address;
  if (!isEmpty(ports)) message.ports = ports;
  if (!isEmpty(labels)) message.labels = labels;
  if (network !== "") message.network = network;
  if (locality !== "") message.locality = locality;
  if (weight !== undefined && weight !== 0) message.weight = weight;
  if (serviceAccount !== "") message.serviceAccount = serviceAccount;
  return message;
}

/**
 * The endpoints with the ports that follow from `targetPort`. An Istio up to 1.7, so every Pilot that is
 * an MCP sink, does not know `targetPort` and would send to the service's own port; an endpoint's
 * `ports` mean the same to all of them.
 */
function withTargetPorts({ ports, endpoints }: Service): readonly Endpoint[] {
  const targets = ports.filter(({ targetPort }) => targetPort !== undefined);
  if (targets.length === 0) return endpoints;
  const targetOf = ({ name, targetPort, number }: ServicePort) => [name, targetPort ?? number];
  return endpoints.map((endpoint) => {
    if (endpoint.address.startsWith("unix://")) return endpoint; // has no ports
    const implied = isEmpty(endpoint.ports) ? ports : targets;
    return {
      ...endpoint,
      ports: { ...Object.fromEntries(implied.map(targetOf)), ...endpoint.ports },
    };
  });
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function toPort(port: ServicePort): Partially<ServiceEntryPort> {
  const message: Mutable<Partially<ServiceEntryPort>> = {};
  if (port.number !== 0) message.number = port.number;
  if (port.protocol !== "") message.protocol = port.protocol;
  if (port.name !== "") message.name = port.name;
  if (port.targetPort !== undefined && port.targetPort !== 0) message.targetPort = port.targetPort;
  return message;
}

function isEmpty(map: Readonly<Record<string, unknown>>): boolean {
  for (const _key in map) return false;
  return true;
}
