/**
 * How each protocol's requests are read and its pushes laid out.
 *
 * @module
 */
import type { Push } from "../protocol/stream.ts";
import { TRIGGER_COLLECTION } from "../model/kind.ts";
import {
  composeDelta,
  composeIncrementalMeshConfig,
  composeMcp,
  composeMeshConfig,
  composeSotw,
  type Envelope,
  type Format,
  type Message,
} from "../wire/compose.ts";
import {
  type DeltaDiscoveryRequest,
  deltaDiscoveryRequestCodec,
  type DiscoveryRequest,
  discoveryRequestCodec,
  type IncrementalMeshConfigRequest,
  incrementalMeshConfigRequestCodec,
  type MeshConfigRequest,
  meshConfigRequestCodec,
  type Node,
  type RequestResources,
  requestResourcesCodec,
  type SinkNode,
} from "../wire/messages.ts";
import { briefNode } from "./brief_node.ts";
import type { PeerIntroduction, SessionCodec } from "./session.ts";

/** xDS v3, state of the world. `controlPlane` is our name in each response. */
export function sotwCodec(controlPlane: string): SessionCodec<DiscoveryRequest> {
  return {
    protocol: "ads",
    decode: discoveryRequestCodec.decode,
    identify: (request) => identifyNode(request.node),
    typeOf: (request) => request.typeUrl,
    compose: (push) => composeSotw({ ...envelope(push), controlPlane }, full(push, "sotw")),
  };
}

/** xDS v3, delta. */
export function deltaCodec(controlPlane: string): SessionCodec<DeltaDiscoveryRequest> {
  return {
    protocol: "ads-delta",
    decode: deltaDiscoveryRequestCodec.decode,
    identify: (request) => identifyNode(request.node),
    typeOf: (request) => request.typeUrl,
    compose: (push) => {
      const { content } = push;
      if (content.kind === "full") {
        return composeDelta(
          { ...envelope(push), controlPlane },
          content.collection.pieces("delta"),
        );
      }
      return composeDelta(
        { ...envelope(push), removed: content.diff.removed, controlPlane },
        content.diff.pieces("delta"),
      );
    },
  };
}

/** MCP v1alpha1; the same messages whoever dialled. */
export function mcpCodec(protocol: "mcp-source" | "mcp-sink"): SessionCodec<RequestResources> {
  return {
    protocol,
    decode: requestResourcesCodec.decode,
    identify: (request) => identifySink(request.sinkNode),
    compose: (push) => {
      const { content } = push;
      if (content.kind === "full") {
        return composeMcp(envelope(push), content.collection.pieces("mcp"));
      }
      return composeMcp(
        { ...envelope(push), removed: content.diff.removed, incremental: true },
        content.diff.pieces("mcp"),
      );
    },
  };
}

/** AggregatedMeshConfigService, state of the world. */
export function meshConfigCodec(): SessionCodec<MeshConfigRequest> {
  return {
    protocol: "mesh-config",
    decode: meshConfigRequestCodec.decode,
    identify: (request) => identifySink(request.sinkNode),
    compose: (push) => composeMeshConfig(envelope(push), full(push, "mesh-config")),
  };
}

/** AggregatedMeshConfigService, incremental. */
export function incrementalMeshConfigCodec(): SessionCodec<IncrementalMeshConfigRequest> {
  return {
    protocol: "mesh-config-incremental",
    decode: incrementalMeshConfigRequestCodec.decode,
    identify: (request) => identifySink(request.sinkNode),
    compose: (push) => {
      const { content } = push;
      if (content.kind === "full") {
        return composeIncrementalMeshConfig(
          envelope(push),
          content.collection.pieces("mesh-config"),
        );
      }
      return composeIncrementalMeshConfig(
        { ...envelope(push), removed: content.diff.removed },
        content.diff.pieces("mesh-config"),
      );
    },
  };
}

/** What a source sends first on a dial-out, so that the sink speaks (protocols.md section 1). */
export function triggerMessage(): Message {
  return composeMcp({ type: TRIGGER_COLLECTION, version: "", nonce: "" }, []);
}

function envelope(push: Push): Envelope {
  return { type: push.type, version: push.version, nonce: push.nonce };
}

function full(push: Push, format: Format): readonly Uint8Array[] {
  if (push.content.kind !== "full") throw new TypeError("state of the world has no delta pushes");
  return push.content.collection.pieces(format);
}

function identifyNode(node: Node | undefined): PeerIntroduction | undefined {
  if (node === undefined) return undefined;
  const { id, userAgentName, metadata } = node;
  const texts = Object.entries(metadata?.fields ?? {}).flatMap(([key, { stringValue }]) =>
    stringValue === undefined ? [] : [[key, stringValue] as const]
  );
  return {
    id: brief(id),
    ...(userAgentName === "" ? {} : { userAgent: brief(userAgentName) }),
    ...(texts.length === 0 ? {} : { metadata: briefTexts(texts) }),
    node: briefNode(node),
  };
}

function identifySink(node: SinkNode | undefined): PeerIntroduction | undefined {
  if (node === undefined) return undefined;
  const texts = Object.entries(node.annotations);
  return {
    id: brief(node.id),
    ...(texts.length === 0 ? {} : { annotations: briefTexts(texts) }),
  };
}

/** Texts kept of a peer's annotations or metadata. */
const TEXTS_KEPT = 64;

/** What a peer says of itself is kept for as long as its stream, so not at any length. */
function brief(text: string): string {
  return text.slice(0, 256);
}

function briefTexts(texts: readonly (readonly [string, string])[]): Record<string, string> {
  const kept = texts.slice(0, TEXTS_KEPT).map(([key, text]) => [brief(key), brief(text)] as const);
  return Object.fromEntries(kept);
}
