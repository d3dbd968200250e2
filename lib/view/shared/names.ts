/**
 * What things are called in the resources of every kind of client.
 *
 * @module
 */
import type { ServicePort } from "../../model/service.ts";

/** Name of a cluster, and of its endpoints: `outbound|PORT|SUBSET|HOST`, with SUBSET empty for all endpoints. */
export function clusterName(host: string, port: number, subset = ""): string {
  return `outbound|${port}|${subset}|${host}`;
}

/** What of a connection's content a proxy understands; UDP is not served. */
export type ProtocolClass = "http" | "tls" | "tcp" | "udp";

const CLASSES: Readonly<Record<string, ProtocolClass>> = {
  "HTTP": "http",
  "HTTP2": "http",
  "GRPC": "http",
  "GRPC-WEB": "http",
  "HTTP_PROXY": "http",
  "TLS": "tls",
  "HTTPS": "tls",
  "UDP": "udp",
};

/** What kind of protocol a port speaks; what is not known is TCP. */
export function protocolClass({ protocol }: ServicePort): ProtocolClass {
  return Object.hasOwn(CLASSES, protocol) ? CLASSES[protocol]! : "tcp";
}

/** Whether endpoints of the port are spoken to in HTTP/2. */
export function speaksHttp2({ protocol }: ServicePort): boolean {
  return protocol === "HTTP2" || protocol === "GRPC" || protocol === "GRPC-WEB";
}
