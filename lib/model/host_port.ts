/**
 * `host:port`, as addresses are shown and dialled.
 *
 * @module
 */

/** The address as one text; an IPv6 host gets its brackets. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
