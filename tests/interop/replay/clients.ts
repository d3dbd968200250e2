/**
 * The clients that are recorded: each started so that it asks a relay for everything.
 *
 * @module
 */
import { registryOf, startConsumer } from "../lib/dubbo.ts";
import { Envoy } from "../lib/envoy.ts";
import { GRPC_CLIENTS, GrpcClient, type GrpcClientName } from "../lib/grpc_client.ts";
import { Istiod } from "../lib/istiod.ts";
import { DUBBO_TARGET, GRPC_TARGET } from "./worlds.ts";

/** A client that can be recorded. */
export interface RecordedClient {
  /** Start of the name of its transcript's file. */
  readonly file: string;
  /** Program and version, for people. */
  readonly name: string;
  /** Starts it; resolves once it has asked. */
  start(address: string): Promise<AsyncDisposable>;
}

/** An Envoy that says who it is and opens listeners as it is told. */
function envoy(delta: boolean): RecordedClient {
  return {
    file: "envoy",
    name: "Envoy 1.40.0",
    start: (ads) => Envoy.start({ ads, delta, id: "recorded" }),
  };
}

/** A gRPC program that goes on calling what {@link GRPC_TARGET} names; nobody need answer. */
function grpc(name: GrpcClientName, version: string): RecordedClient {
  return {
    file: name,
    name: `${name} ${version}`,
    async start(server) {
      const client = await GrpcClient.start(name, { server });
      await client.start(`xds:///${GRPC_TARGET}`, { every: 200 });
      return client;
    },
  };
}

const GRPC_VERSIONS: Readonly<Record<GrpcClientName, string>> = {
  "grpc-python": "1.85.0",
  "grpc-node": "1.14.1",
  "grpc-java": "1.85.1",
  "grpc-go": "1.85.0",
};

/** Every client. */
export const CLIENTS: readonly RecordedClient[] = [
  envoy(false),
  envoy(true),
  {
    file: "istiod",
    name: "istiod (istio.io/istio of 2026-08-27)",
    start: (address) => Istiod.start(address),
  },
  {
    file: "dubbo",
    name: "Dubbo 3.2.8",
    start: (address) => startConsumer({ providedBy: DUBBO_TARGET, registry: registryOf(address) }),
  },
  ...GRPC_CLIENTS.map((name) => grpc(name, GRPC_VERSIONS[name])),
];
