/**
 * Headers that are not for people to set.
 *
 * @module
 */

/** What HTTP/2 has no place for, or gRPC sets itself. */
const OWN: ReadonlySet<string> = new Set([
  ...["te", "content-type", "content-length", "host"],
  ...["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"],
]);

/** Why this header, named in lower case, is gRPC's own; undefined: it is not. */
export function ownHeader(name: string): string | undefined {
  if (name.startsWith("grpc-") || name.endsWith("-bin")) {
    return "names that begin with grpc- or end in -bin are gRPC's own";
  }
  return OWN.has(name) ? "HTTP/2 and gRPC set it themselves, or have no place for it" : undefined;
}
