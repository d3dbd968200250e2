/**
 * The protocols that a port may have, as Istio reads them.
 *
 * @module
 */

/** Protocols by their name in lower case. */
const PROTOCOLS: ReadonlyMap<string, { http?: true; tcp?: true; tls?: true }> = new Map([
  ["grpc", { http: true }],
  ["grpc-web", { http: true }],
  ["http", { http: true }],
  ["http2", { http: true }],
  ["http_proxy", { http: true }],
  ["https", { tcp: true, tls: true }],
  ["mongo", { tcp: true }],
  ["mysql", { tcp: true }],
  ["redis", { tcp: true }],
  ["tcp", { tcp: true }],
  ["tls", { tcp: true, tls: true }],
  ["udp", {}],
]);

/** Every protocol, for a message to a person. */
export const PROTOCOL_NAMES =
  "HTTP, HTTPS, HTTP2, GRPC, GRPC-WEB, HTTP_PROXY, TCP, TLS, MONGO, MYSQL, REDIS, UDP";

/** The protocol in lower case; undefined where Istio knows none of this name (nor an empty one). */
export function parseProtocol(protocol: string): string | undefined {
  // Go lowers the dotted capital I to a plain i, JavaScript to an i and a combining dot.
  const name = protocol.replaceAll("\u0130", "i").toLowerCase();
  return PROTOCOLS.has(name) ? name : undefined;
}

/** Whether requests carry the host they are for: HTTP in any form but inside TLS. */
export function isHttp(protocol: string): boolean {
  return PROTOCOLS.get(parseProtocol(protocol) ?? "")?.http === true;
}

/** Whether Istio counts this among the protocols on TCP (those of HTTP apart, TLS included). */
export function isTcp(protocol: string): boolean {
  return PROTOCOLS.get(parseProtocol(protocol) ?? "")?.tcp === true;
}

/** Whether the connection begins with TLS, and so with the host's name. */
export function isTls(protocol: string): boolean {
  return PROTOCOLS.get(parseProtocol(protocol) ?? "")?.tls === true;
}
