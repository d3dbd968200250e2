/**
 * The gRPC services that Pinnace serves, each a protocol state machine behind a method.
 *
 * @module
 */
import { DeltaMachine } from "../protocol/delta.ts";
import { McpSourceMachine } from "../protocol/mcp_source.ts";
import type { Resolver } from "../protocol/resolve.ts";
import { SotwMachine } from "../protocol/sotw.ts";
import { deltaCodec, mcpCodec, sotwCodec } from "./codecs.ts";
import type { PushServer } from "./server.ts";
import type { Sessions } from "./sessions.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";

/** What the services work with. */
export interface ServiceOptions {
  readonly sessions: Sessions;
  /** Our name, `control_plane.identifier` in each xDS response. */
  readonly instance: string;
  readonly typeUrls: Resolver;
  /** Asked at each new stream, since the answer to unknown collections is a live setting. */
  readonly collections: () => Resolver;
}

/** Adds MCP ResourceSource and ADS, both variants, to a server. */
export function addServices(server: PushServer, options: ServiceOptions): void {
  const { sessions, typeUrls, collections } = options;
  const sotw = sotwCodec(options.instance);
  const delta = deltaCodec(options.instance);
  const mcp = mcpCodec("mcp-source");
  server.addStream(`${ADS}/StreamAggregatedResources`, (stream) => {
    sessions.open(stream, (prefix) => new SotwMachine({ prefix, resolver: typeUrls }), sotw);
  });
  server.addStream(`${ADS}/DeltaAggregatedResources`, (stream) => {
    sessions.open(stream, (prefix) => new DeltaMachine({ prefix, resolver: typeUrls }), delta);
  });
  server.addStream("/istio.mcp.v1alpha1.ResourceSource/EstablishResourceStream", (stream) => {
    const machine = (prefix: string) => new McpSourceMachine({ prefix, resolver: collections() });
    sessions.open(stream, machine, mcp);
  });
}
