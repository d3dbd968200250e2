/**
 * The services beside ADS: CDS, EDS, LDS and RDS, each of which serves one type on streams of its own
 * (state of the world and delta), or once, in answer to a Fetch.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import { XDS_TYPES, type XdsType } from "../model/xds_type.ts";
import { DeltaMachine } from "../protocol/delta.ts";
import { oneTypeResolver } from "../protocol/one_type_resolver.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { SotwMachine } from "../protocol/sotw.ts";
import type { XdsResolvers } from "../protocol/xds_resolver.ts";
import { deltaCodec, sotwCodec } from "./codecs.ts";
import { fetchOnce } from "./fetch.ts";
import { xdsPaths } from "./method_paths.ts";
import type { PushServer } from "./server.ts";
import type { SessionCodec } from "./session_info.ts";
import type { Sessions } from "./sessions.ts";

/** What the services beside ADS work with. */
export interface XdsServicesOptions {
  readonly sessions: Sessions;
  /** Our name, `control_plane.identifier` in each response. */
  readonly instance: string;
  /** What type URLs stand for: to everyone alike, or by what kind of client asks. */
  readonly typeUrls: Resolver | XdsResolvers;
}

/** Adds CDS, EDS, LDS and RDS to a server; of each the stream, the delta stream and the fetch. */
export function addXdsServices(server: PushServer, options: XdsServicesOptions): void {
  for (const type of XDS_TYPES) addXdsService(server, type, options);
}

function addXdsService(server: PushServer, type: XdsType, options: XdsServicesOptions): void {
  const { sessions, typeUrls, instance } = options;
  const paths = xdsPaths(type);
  const sotw = typed(sotwCodec(instance), type);
  const delta = typed(deltaCodec(instance), type);
  const resolverOf: XdsResolvers = (kind) =>
    oneTypeResolver(typeof typeUrls === "function" ? typeUrls(kind) : typeUrls, type);
  server.addStream(paths.stream, (stream) => {
    const machine = (prefix: string, kind: () => ClientKind) =>
      new SotwMachine({ prefix, resolver: resolverOf(kind) });
    sessions.open(stream, machine, sotw);
  });
  server.addStream(paths.delta, (stream) => {
    const machine = (prefix: string, kind: () => ClientKind) =>
      new DeltaMachine({ prefix, resolver: resolverOf(kind) });
    sessions.open(stream, machine, delta);
  });
  server.addCall(paths.fetch, (stream, request) => {
    fetchOnce(stream, request, { sessions, type, codec: sotw, resolverOf });
  });
}

/** On a stream of one type a request need not say which. */
function typed<Request extends { readonly typeUrl: string }>(
  codec: SessionCodec<Request>,
  { typeUrl }: XdsType,
): SessionCodec<Request> {
  return {
    ...codec,
    decode: (bytes) => {
      const request = codec.decode(bytes);
      return request.typeUrl === "" ? { ...request, typeUrl } : request;
    },
  };
}
