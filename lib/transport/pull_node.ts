/**
 * Who we are to a server that is pulled from.
 *
 * @module
 */
import type { Node } from "../wire/messages.ts";

/**
 * What an istiod says that asks for configuration (protocols.md section 2), so that any server of MCP
 * over xDS knows what is wanted.
 */
export function pullNode(instance: string): Partial<Node> {
  const id = instance.replaceAll(/[^\w.-]/g, "-");
  return {
    // An istiod that is asked wants an address there; it makes nothing of it for this kind of client.
    id: `sidecar~127.0.0.1~${id}.pinnace~pinnace.svc.cluster.local`,
    cluster: "pinnace",
    metadata: { fields: { GENERATOR: { stringValue: "api" } } },
    userAgentName: "pinnace",
  };
}
