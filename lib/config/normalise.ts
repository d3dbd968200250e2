/**
 * A service as written → a service with every default filled in. Pure and deterministic: equal
 * services come out equal to the byte of their JSON, in whichever order their maps were written.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { Endpoint, Resolution, Service, ServicePort } from "../model/service.ts";
import type { DefaultSettings } from "../model/settings.ts";
import { normaliseTraffic } from "./normalise_traffic.ts";
import type { Path, Problem } from "./problem.ts";
import {
  type EndpointInput,
  type PortInput,
  type ServiceInput,
  SHORT_PORT,
} from "./schema_service.ts";

/** A service and what its writer should know of how it was read. One with an error is not to be used. */
export interface Normalised {
  readonly service: Service;
  readonly problems: readonly Problem[];
}

/** Fills in the defaults of a service. */
export function normaliseService(input: ServiceInput, defaults: DefaultSettings): Normalised {
  const problems: Problem[] = [];
  const { name } = input;
  const namespace = input.namespace ?? defaults.namespace;
  const hosts = input.hosts ?? [`${name}.${namespace}.${defaults.domain}`];
  const endpoints = input.endpoints === undefined
    ? undefined
    : keepWeighted(input.endpoints.map(normaliseEndpoint), problems);
  const traffic = normaliseTraffic(input, endpoints);
  const service: Service = {
    name,
    namespace,
    hosts,
    addresses: input.addresses ?? [],
    ports: input.ports.map(normalisePort),
    location: input.location ?? "MESH_EXTERNAL",
    resolution: resolutionOf(input, hosts, endpoints, problems),
    endpoints: endpoints ?? [],
    ...(input.workloadSelector === undefined
      ? {}
      : { workloadSelector: sorted(input.workloadSelector.labels) }),
    exportTo: input.exportTo ?? defaults.exportTo,
    subjectAltNames: input.subjectAltNames ?? [],
    labels: sorted(input.labels),
    annotations: sorted(input.annotations),
    aliases: input.aliases ?? [],
    ...traffic.fields,
  };
  return { service, problems: [...problems, ...traffic.problems] };
}

/** A port of any of its forms: `443`, `443:8443/GRPC`, or a mapping. */
function normalisePort(input: PortInput): ServicePort {
  if (typeof input === "object") {
    return port(input.number, input.protocol, input.targetPort, input.name);
  }
  const [, number, targetPort, protocol] = SHORT_PORT.exec(String(input))!;
  return port(Number(number), protocol, targetPort === undefined ? undefined : Number(targetPort));
}

function port(
  number: number,
  protocol = "TCP",
  targetPort?: number,
  name = `${protocol.toLowerCase()}-${number}`,
): ServicePort {
  return {
    name,
    number,
    protocol: protocol.toUpperCase(),
    ...(targetPort === undefined || targetPort === number ? {} : { targetPort }),
  };
}

function normaliseEndpoint(input: EndpointInput): Endpoint {
  const long: Exclude<EndpointInput, string> = typeof input === "string"
    ? { address: input }
    : input;
  return {
    address: long.address ?? "",
    ports: sorted(long.ports),
    labels: sorted(long.labels),
    network: long.network ?? "",
    locality: long.locality ?? "",
    ...(long.weight === undefined ? {} : { weight: long.weight }),
    serviceAccount: long.serviceAccount ?? "",
    ...(long.drain === true ? { drain: true as const } : {}),
  };
}

/**
 * The endpoints without those of weight 0. Istio reads 0 as "no weight given" and sends them their
 * full share, the opposite of what a person means by it.
 */
function keepWeighted(endpoints: readonly Endpoint[], problems: Problem[]): readonly Endpoint[] {
  const kept = endpoints.filter(({ weight }) => weight !== 0);
  if (kept.length === endpoints.length) return endpoints;
  endpoints.forEach(({ weight }, index) => {
    if (weight !== 0) return;
    const path = ["endpoints", index, "weight"];
    problems.push(warning("pinnace/weight-zero", path, "an endpoint of weight 0 is left out"));
  });
  if (kept.length === 0) {
    problems.push(warning(
      "pinnace/weight-zero",
      ["endpoints"],
      "every endpoint has weight 0, so the service has none",
    ));
  }
  return kept;
}

function resolutionOf(
  input: ServiceInput,
  hosts: readonly string[],
  endpoints: readonly Endpoint[] | undefined,
  problems: Problem[],
): Resolution {
  const emptied = endpoints?.length === 0 && input.endpoints!.length > 0;
  const written = input.resolution;
  if (written !== undefined && !(emptied && written !== "STATIC")) return written;
  if (emptied && written !== undefined) {
    // Of the resolutions only STATIC can say "no endpoint"; DNS would send traffic to the host itself.
    problems.push(warning(
      "pinnace/weight-zero",
      ["resolution"],
      `resolution ${written} became STATIC, since no endpoint is left`,
    ));
  }
  if (endpoints !== undefined) {
    return endpoints.every(({ address }) => isStaticAddress(address)) ? "STATIC" : "DNS";
  }
  if (input.workloadSelector !== undefined) return "STATIC";
  return hosts.some((host) => host.startsWith("*")) ? "NONE" : "DNS";
}

/** An IP address or a Unix socket. An empty address is that of a network gateway, which is no name either. */
function isStaticAddress(address: string): boolean {
  return address === "" || address.startsWith("unix://") ||
    ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
}

function sorted<V>(map: Readonly<Record<string, V>> | undefined): Readonly<Record<string, V>> {
  if (map === undefined) return {};
  const keys = Object.keys(map);
  if (keys.length < 2) return map;
  return Object.fromEntries(keys.sort().map((key) => [key, map[key]!]));
}

function warning(rule: string, path: Path, message: string): Problem {
  return { severity: "warning", rule, path, message };
}
