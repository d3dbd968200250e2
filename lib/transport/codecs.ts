/**
 * How each protocol's requests are read and its pushes laid out.
 *
 * @module
 */
import type { Push } from "../protocol/stream.ts";
import { composeDelta, composeMcp, composeSotw, type Envelope } from "../wire/compose.ts";
import { TRIGGER_COLLECTION } from "../model/kind.ts";
import type { Message } from "../wire/compose.ts";
import {
  type DeltaDiscoveryRequest,
  deltaDiscoveryRequestCodec,
  type DiscoveryRequest,
  discoveryRequestCodec,
  type Node,
  type RequestResources,
  requestResourcesCodec,
} from "../wire/messages.ts";
import type { PeerIntroduction, SessionCodec } from "./session.ts";

/** xDS v3, state of the world. `controlPlane` is our name in each response. */
export function sotwCodec(controlPlane: string): SessionCodec<DiscoveryRequest> {
  return {
    protocol: "ads",
    decode: discoveryRequestCodec.decode,
    identify: (request) => identifyNode(request.node),
    compose: (push) => composeSotw({ ...envelope(push), controlPlane }, full(push, "sotw")),
  };
}

/** xDS v3, delta. */
export function deltaCodec(controlPlane: string): SessionCodec<DeltaDiscoveryRequest> {
  return {
    protocol: "ads-delta",
    decode: deltaDiscoveryRequestCodec.decode,
    identify: (request) => identifyNode(request.node),
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
    identify: (request) => request.sinkNode && { id: brief(request.sinkNode.id) },
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

/** What a source sends first on a dial-out, so that the sink speaks (protocols.md section 1). */
export function triggerMessage(): Message {
  return composeMcp({ type: TRIGGER_COLLECTION, version: "", nonce: "" }, []);
}

function envelope(push: Push): Envelope {
  return { type: push.type, version: push.version, nonce: push.nonce };
}

function full(push: Push, format: "sotw"): readonly Uint8Array[] {
  if (push.content.kind !== "full") throw new TypeError("state of the world has no delta pushes");
  return push.content.collection.pieces(format);
}

function identifyNode(node: Node | undefined): PeerIntroduction | undefined {
  if (node === undefined) return undefined;
  const { id, userAgentName } = node;
  const introduction = { id: brief(id) };
  return userAgentName === "" ? introduction : { ...introduction, userAgent: brief(userAgentName) };
}

/** What a peer says of itself is kept for as long as its stream, so not at any length. */
function brief(text: string): string {
  return text.slice(0, 256);
}
