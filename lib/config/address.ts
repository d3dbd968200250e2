/**
 * `host:port`, as listeners and sinks are addressed.
 *
 * @module
 */

/** A host and a port. */
export interface HostPort {
  /** A name or an IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * The host and port of `host:port`, an IPv6 host in brackets; undefined where `text` is not that. The
 * port may be 0, which a listener takes as "any free one".
 */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  return port > 65535 ? undefined : { host: (match[1] ?? match[2])!, port };
}
