/**
 * The gRPC services that Pinnace serves, each a protocol state machine behind a method.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import { DeltaMachine } from "../protocol/delta.ts";
import { McpSourceMachine } from "../protocol/mcp_source.ts";
import {
  IncrementalMeshConfigMachine,
  MeshConfigMachine,
  messageTypeResolver,
} from "../protocol/mesh_config.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { SotwMachine } from "../protocol/sotw.ts";
import type { XdsResolvers } from "../protocol/xds_resolver.ts";
import {
  deltaCodec,
  incrementalMeshConfigCodec,
  mcpCodec,
  meshConfigCodec,
  sotwCodec,
} from "./codecs.ts";
import { ADS_PATHS, RESOURCE_SOURCE_PATH } from "./method_paths.ts";
import type { PushServer } from "./server.ts";
import type { Sessions } from "./sessions.ts";

const MESH_CONFIG = "/istio.mcp.v1alpha1.AggregatedMeshConfigService";

/** What the services work with. */
export interface ServiceOptions {
  readonly sessions: Sessions;
  /** Our name, `control_plane.identifier` in each xDS response. */
  readonly instance: string;
  /** What type URLs stand for: to everyone alike, or by what kind of client asks. */
  readonly typeUrls: Resolver | XdsResolvers;
  /** Asked at each new stream, since the answer to unknown collections is a live setting. */
  readonly collections: () => Resolver;
}

/** Adds MCP ResourceSource, its older form AggregatedMeshConfigService, and ADS to a server; of the latter two both variants. */
export function addServices(server: PushServer, options: ServiceOptions): void {
  const { sessions, typeUrls, collections } = options;
  const resolvers = typeof typeUrls === "function" ? typeUrls : () => typeUrls;
  const sotw = sotwCodec(options.instance);
  const delta = deltaCodec(options.instance);
  const mcp = mcpCodec("mcp-source");
  server.addStream(ADS_PATHS.sotw, (stream) => {
    const machine = (prefix: string, kind: () => ClientKind) =>
      new SotwMachine({ prefix, resolver: resolvers(kind) });
    sessions.open(stream, machine, sotw);
  });
  server.addStream(ADS_PATHS.delta, (stream) => {
    const machine = (prefix: string, kind: () => ClientKind) =>
      new DeltaMachine({ prefix, resolver: resolvers(kind) });
    sessions.open(stream, machine, delta);
  });
  server.addStream(RESOURCE_SOURCE_PATH, (stream) => {
    const machine = (prefix: string) => new McpSourceMachine({ prefix, resolver: collections() });
    sessions.open(stream, machine, mcp);
  });
  addMeshConfig(server, options);
}

/** AggregatedMeshConfigService, which the sinks of Istio 1.0 and 1.1 speak. */
function addMeshConfig(server: PushServer, { sessions, collections }: ServiceOptions): void {
  const whole = meshConfigCodec();
  const incremental = incrementalMeshConfigCodec();
  const resolver = () => messageTypeResolver(collections());
  server.addStream(`${MESH_CONFIG}/StreamAggregatedResources`, (stream) => {
    const machine = (prefix: string) => new MeshConfigMachine({ prefix, resolver: resolver() });
    sessions.open(stream, machine, whole);
  });
  server.addStream(`${MESH_CONFIG}/IncrementalAggregatedResources`, (stream) => {
    const machine = (prefix: string) =>
      new IncrementalMeshConfigMachine({ prefix, resolver: resolver() });
    sessions.open(stream, machine, incremental);
  });
}
