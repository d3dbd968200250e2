/**
 * The peers that are built from source: which binary comes from which module folder.
 *
 * @module
 */

/** One program, wherever it comes from. */
export interface Peer {
  /** Name of the binary in `bin/`. */
  readonly binary: string;
  /** For the person who waits. */
  readonly what: string;
}

/** A program that is built from source. */
export interface BuiltPeer extends Peer {
  /** Folder of its Go module, which pins every version. */
  readonly module: string;
  /** Go package. */
  readonly package: string;
}

/** Every peer, quick ones first. */
export const PEERS: readonly BuiltPeer[] = [
  {
    binary: "xds-client",
    module: "peers/xds",
    package: "./cmd/xds-client",
    what: "xDS client, state of the world and delta, with go-control-plane's types",
  },
  {
    binary: "grpc-go",
    module: "peers/grpc-go",
    package: "./cmd/grpc-go",
    what: "gRPC client of Go (grpc-go)",
  },
  {
    binary: "grpc-backend",
    module: "peers/grpc-go",
    package: "./cmd/grpc-backend",
    what: "gRPC server that says its name",
  },
  {
    binary: "ads-spoiler",
    module: "peers/grpc-go",
    package: "./cmd/ads-spoiler",
    what: "proxy of ADS that makes answers wrong",
  },
  {
    binary: "go-control-plane",
    module: "peers/go-control-plane",
    package: "./cmd/go-control-plane",
    what: "go-control-plane's server, and what it takes to compare ours with it",
  },
  {
    binary: "side-client",
    module: "peers/grpc-tools",
    package: "./cmd/side-client",
    what: "client of reflection and health, with the types of go-control-plane and grpc-go",
  },
  {
    binary: "grpcurl",
    module: "peers/grpc-tools",
    package: "github.com/fullstorydev/grpcurl/cmd/grpcurl",
    what: "grpcurl, which calls what reflection describes",
  },
  {
    binary: "grpc-health-probe",
    module: "peers/grpc-tools",
    package: "github.com/grpc-ecosystem/grpc-health-probe",
    what: "grpc-health-probe, as Kubernetes ran it",
  },
  {
    binary: "h2spec",
    module: "peers/h2spec",
    package: "github.com/summerwind/h2spec/cmd/h2spec",
    what: "HTTP/2 conformance suite",
  },
  {
    binary: "connectconformance",
    module: "peers/conformance",
    package: "connectrpc.com/conformance/cmd/connectconformance",
    what: "gRPC conformance suite",
  },
  {
    binary: "mcp-sink-client",
    module: "peers/istio15",
    package: "./cmd/mcp-sink-client",
    what: "MCP sink client of Istio 1.5.10",
  },
  {
    binary: "mcp-sink-server",
    module: "peers/istio15",
    package: "./cmd/mcp-sink-server",
    what: "MCP sink server of Istio 1.5.10",
  },
  {
    binary: "mcp-source",
    module: "peers/istio15",
    package: "./cmd/mcp-source",
    what: "MCP source of Istio 1.5.10, as Galley runs it",
  },
  {
    binary: "mesh-config-client",
    module: "peers/istio11",
    package: "./cmd/mesh-config-client",
    what: "MCP client that Istio 1.1 kept of 1.0",
  },
  {
    binary: "pilot-1.5",
    module: "peers/istio15",
    package: "istio.io/istio/pilot/cmd/pilot-discovery",
    what: "Pilot 1.5.10, whole (about 2 minutes the first time)",
  },
  {
    binary: "istiod",
    module: "peers/istiod",
    package: "istio.io/istio/pilot/cmd/pilot-discovery",
    what: "istiod, whole (5 to 8 minutes the first time)",
  },
];
