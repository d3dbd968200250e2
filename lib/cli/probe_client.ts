/**
 * The client of each protocol that the probe speaks: bytes in, pushes and bytes out.
 *
 * @module
 */
import { MCP_RESOURCE_TYPE_URL } from "../model/kind.ts";
import { AdsClientMachine, type AdsRequest } from "../protocol/ads_client.ts";
import { McpSinkMachine } from "../protocol/mcp_sink.ts";
import { ADS_PATHS, RESOURCE_SOURCE_PATH } from "../transport/method_paths.ts";
import type { Any, McpResource, Status } from "../wire/messages.ts";
import {
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  discoveryRequestCodec,
  discoveryResponseCodec,
  mcpResourceCodec,
  requestResourcesCodec,
  resourcesCodec,
} from "../wire/messages.ts";
import type { ProbeOptions } from "./probe_options.ts";

/** One resource of a push. */
export interface ProbedResource {
  readonly name: string;
  /** As the server says it; empty where it says none. */
  readonly version: string;
  /** The whole of it, decoded as far as its type is known. */
  readonly content:
    | { readonly kind: "mcp"; readonly resource: McpResource }
    | { readonly kind: "any"; readonly any: Any };
}

/** One push. */
export interface ProbedPush {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  /** Whether it says only what changed. */
  readonly incremental: boolean;
  readonly resources: readonly ProbedResource[];
  readonly removed: readonly string[];
}

/** What a message of the server is. */
export type ProbeReceived =
  /** {@link ProbeClient.settle} must follow. */
  | { readonly kind: "push"; readonly push: ProbedPush }
  /** Nothing that was asked for; it needs nothing from us. */
  | { readonly kind: "other"; readonly message: string }
  /** There is no going on. */
  | { readonly kind: "wrong"; readonly message: string };

/** One stream's side of a protocol. */
export interface ProbeClient {
  /** The method to call. */
  readonly path: string;
  /** The next request to write, if one is due. */
  next(): Uint8Array | undefined;
  /** Takes a message. Throws a WireError where it is none. */
  receive(bytes: Uint8Array): ProbeReceived;
  /** Accepts a push or, with an error, refuses it. */
  settle(push: ProbedPush, error?: Status): void;
}

/** The client of the protocol asked for. */
export function probeClient(options: ProbeOptions): ProbeClient {
  return options.protocol === "mcp" ? mcpClient(options) : adsClient(options);
}

function mcpClient({ node, types, incremental }: ProbeOptions): ProbeClient {
  const machine = new McpSinkMachine({
    nodeId: node,
    collections: types,
    incremental,
    initial: () => ({}),
  });
  return {
    path: RESOURCE_SOURCE_PATH,
    next() {
      const request = machine.next();
      return request && requestResourcesCodec.encode(request);
    },
    receive(bytes) {
      const message = resourcesCodec.decode(bytes, boundOf(bytes));
      const { collection: type, nonce, systemVersionInfo: version, incremental } = message;
      const received = machine.receive({ type, nonce, version, incremental }, Date.now());
      switch (received.kind) {
        case "error":
          return { kind: "wrong", message: received.message };
        case "difference":
          return { kind: "wrong", message: `${type}: ${received.message}` };
        case "trigger":
          return { kind: "other", message: "the server asks us to speak first" };
        case "unasked":
          return { kind: "other", message: `${type} was sent and not asked for` };
        case "push": {
          const resources = message.resources.map(ofMcp);
          const removed = message.removedResources;
          return { kind: "push", push: { type, version, nonce, incremental, resources, removed } };
        }
      }
    },
    settle: ({ type, nonce }, error) => machine.settle(type, nonce, error),
  };
}

function adsClient({ node, types, protocol }: ProbeOptions): ProbeClient {
  const variant = protocol === "ads" ? "sotw" : "delta";
  const machine = new AdsClientMachine({
    variant,
    node: { id: node, userAgentName: "pinnace-probe" },
    types: types.map((typeUrl) => ({ typeUrl })),
  });
  const read = variant === "sotw" ? readSotw : readDelta;
  return {
    path: ADS_PATHS[variant],
    next() {
      const request = machine.next();
      return request && encodeAds(request);
    },
    receive(bytes) {
      const push = read(bytes);
      const received = machine.receive(push);
      switch (received.kind) {
        case "unfit":
          return { kind: "wrong", message: received.message };
        case "unasked":
          return { kind: "other", message: `${push.type} was sent and not asked for` };
        case "response":
          return { kind: "push", push };
      }
    },
    settle: ({ type, nonce }, error) => machine.settle(type, nonce, error),
  };
}

function encodeAds(request: AdsRequest): Uint8Array {
  return request.variant === "sotw"
    ? discoveryRequestCodec.encode(request.message)
    : deltaDiscoveryRequestCodec.encode(request.message);
}

function readSotw(bytes: Uint8Array): ProbedPush {
  const { typeUrl: type, versionInfo: version, nonce, resources } = discoveryResponseCodec
    .decode(bytes, boundOf(bytes));
  return {
    type,
    version,
    nonce,
    incremental: false,
    resources: resources.map((any) => ofAny(any)),
    removed: [],
  };
}

function readDelta(bytes: Uint8Array): ProbedPush {
  const { typeUrl: type, systemVersionInfo: version, nonce, resources, removedResources } =
    deltaDiscoveryResponseCodec.decode(bytes, boundOf(bytes));
  return {
    type,
    version,
    nonce,
    incremental: true,
    resources: resources.map(({ name, version, resource }) => ({
      ...ofAny(resource ?? { typeUrl: "", value: new Uint8Array() }),
      name,
      version,
    })),
    removed: removedResources,
  };
}

function ofMcp(resource: McpResource): ProbedResource {
  const { name = "", version = "" } = resource.metadata ?? {};
  return { name, version, content: { kind: "mcp", resource } };
}

/** Istio's kinds come as an MCP resource within; of all else the first field is the name. */
function ofAny(any: Any): ProbedResource {
  if (any.typeUrl === MCP_RESOURCE_TYPE_URL) return ofMcp(mcpResourceCodec.decode(any.value));
  return { name: firstText(any.value), version: "", content: { kind: "any", any } };
}

/** Field 1 as text, where a message begins with it: the name of Envoy's resources. */
function firstText(bytes: Uint8Array): string {
  if (bytes[0] !== 0x0a) return "";
  let length = 0;
  let at = 1;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return new TextDecoder().decode(bytes.subarray(at, Math.min(at + length, at + LONGEST_NAME)));
}

const LONGEST_NAME = 1000;

/** The message's own size bounds what it may hold: more fields than that would be empty ones. */
function boundOf(bytes: Uint8Array): { readonly fields: number } {
  return { fields: Math.max(1000, Math.ceil(bytes.length / 4)) };
}
