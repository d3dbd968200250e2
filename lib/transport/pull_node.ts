/**
 * Who we are to a server that is pulled from, and whether it is ourselves.
 *
 * @module
 */
import type { Node } from "../wire/messages.ts";

/**
 * What an istiod says that asks for configuration (protocols.md section 2), so that any server of MCP
 * over xDS knows what is wanted.
 */
export function pullNode(instance: string): Partial<Node> {
  return {
    id: pullNodeId(instance),
    cluster: "pinnace",
    metadata: { fields: { GENERATOR: { stringValue: "api" } } },
    userAgentName: "pinnace",
  };
}

/** The node id of a Pinnace that pulls, from its instance. */
export function pullNodeId(instance: string): string {
  const name = instance.replaceAll(/[^\w.-]/g, "-");
  // An istiod that is asked wants an address there; it makes nothing of it for this kind of client.
  return `sidecar~127.0.0.1~${name}.pinnace~pinnace.svc.cluster.local`;
}

/** What is known of ourselves. */
export interface Ourselves {
  readonly instance: string;
  /** Whether a client with this node id takes from us now. */
  readonly serves: (nodeId: string) => boolean;
}

/**
 * Why nothing may be taken from a server of this name; undefined: it may. What goes round in a circle
 * is given by everyone to the next, so it never goes away. Of two that pull from each other the one
 * whose name comes later gives way. Longer circles are not seen.
 */
export function circleWith(server: string, { instance, serves }: Ourselves): string | undefined {
  if (server === "") return undefined;
  if (server === instance) {
    return `the server is this Pinnace itself, or another whose \`instance\` is ${server} too: what ` +
      "is pulled from oneself would never go away; give each Pinnace its own `instance`";
  }
  if (server > instance || !serves(pullNodeId(server))) return undefined;
  return `the server, ${server}, pulls from this Pinnace, ${instance}: what one removes the other ` +
    "would give back; let only one of them pull";
}
