/**
 * What a service adds to the listener of a port.
 *
 * @module
 */
import type { ServicePort } from "../../model/service.ts";
import type { ViewContext } from "../served_service.ts";
import { protocolClass } from "../shared/names.ts";
import {
  type ClusterShare,
  clusterShares,
  type Directed,
  streamTargets,
  wholeCluster,
} from "../shared/targets.ts";
import { type Prefix, prefixesOf } from "./prefixes.ts";

/** A service's part of the listener of a port. */
export type ListenerPart = HttpPart | TlsPart | TcpPart;

interface AnyPart {
  readonly port: number;
  /** Addresses of the service. */
  readonly prefixes: readonly Prefix[];
  /** Connections go on to where they were meant to go. */
  readonly originalDst: boolean;
}

/** Its virtual host is in the route configuration of the port. */
export interface HttpPart extends AnyPart {
  readonly kind: "http";
  /** Requests go to whatever host they name. */
  readonly forwardProxy: boolean;
  readonly grpcWeb: boolean;
}

/** TLS, passed through by the name that is asked for. */
export interface TlsPart extends AnyPart {
  readonly kind: "tls";
  /** That of the cluster of all its endpoints. */
  readonly name: string;
  readonly hosts: readonly string[];
  readonly aliases: readonly string[];
  readonly shares: readonly ClusterShare[];
  /** Connections go to whatever name is asked for, on this port. */
  readonly forwardPort?: number;
}

/** Anything else, passed through by address or by the port alone. */
export interface TcpPart extends AnyPart {
  readonly kind: "tcp";
  /** That of the cluster of all its endpoints. */
  readonly name: string;
  readonly shares: readonly ClusterShare[];
}

/** Name of the listener of a port. */
export function listenerName(port: number): string {
  return `outbound|${port}`;
}

/** Port that the listener of a service's port is bound to; more than 65535 cannot be. */
export function boundPort(port: number, { envoy }: ViewContext): number {
  return port + envoy.portOffset;
}

/** What the service adds to the listener of this port, and what of its targets is missing. Undefined: nothing that could be reached. */
export function listenerPart(
  directed: Directed,
  port: ServicePort,
): { part: ListenerPart | undefined; missing: readonly string[] } {
  const { service, traffic } = directed;
  const common = {
    port: port.number,
    prefixes: prefixesOf(service.addresses),
    originalDst: service.resolution === "NONE",
  };
  const dynamic = service.resolution === "DYNAMIC_DNS";
  const kind = protocolClass(port);
  if (kind === "http") {
    const grpcWeb = port.protocol === "GRPC-WEB";
    return { part: { kind, ...common, forwardProxy: dynamic, grpcWeb }, missing: [] };
  }
  const name = wholeCluster(service, port);
  const targets = streamTargets(traffic, port);
  const { shares, missing } = targets === undefined
    ? { shares: [{ cluster: name, weight: 1 }], missing: [] }
    : clusterShares(directed, port, targets);
  // Only a name can be looked up, and only TLS says one.
  if (shares.length === 0 || (kind !== "tls" && dynamic)) return { part: undefined, missing };
  if (kind !== "tls") return { part: { kind: "tcp", ...common, name, shares }, missing };
  const { hosts, aliases } = service;
  const forward = dynamic ? { forwardPort: port.targetPort ?? port.number } : {};
  return { part: { kind, ...common, name, hosts, aliases, shares, ...forward }, missing };
}
