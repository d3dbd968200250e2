/**
 * A push as the probe takes it, whatever the protocol.
 *
 * @module
 */
import type { Any, McpResource } from "../wire/messages.ts";

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

/** What a resource of MCP says. */
export function ofMcp(resource: McpResource): ProbedResource {
  const { name = "", version = "" } = resource.metadata ?? {};
  return { name, version, content: { kind: "mcp", resource } };
}

/** The message's own size bounds what it may hold: more fields than that would be empty ones. */
export function boundOf(bytes: Uint8Array): { readonly fields: number } {
  return { fields: Math.max(1000, Math.ceil(bytes.length / 4)) };
}
