/**
 * Who we are to a server that is pulled from, and whether it is ourselves.
 *
 * @module
 */
import type { Node } from "../wire/messages.ts";
import type { SessionInfo } from "./session_info.ts";

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

/** Whether a client with this node id takes from us now, at this IP address: {@link takesFromUs} of the live sessions. */
export type Serves = (nodeId: string, address: string) => boolean;

/** What is known of ourselves. */
export interface Ourselves {
  readonly instance: string;
  readonly serves: Serves;
}

/** A server that is pulled from. */
export interface PulledServer {
  /** As it says; empty where it says nothing. */
  readonly name: string;
  /** IP address that was dialled, or, where a proxy dials, the host that it was asked for. */
  readonly address: string;
}

/**
 * Whether a client of ADS with this node id takes from us, from this IP address. Anybody can say any
 * node id, but not be heard from an address that is not its own; so a stranger ends no pull. Behind a
 * proxy or a translated address nobody is known.
 */
export function takesFromUs(
  sessions: readonly Pick<SessionInfo, "protocol" | "peer" | "address">[],
  nodeId: string,
  address: string,
): boolean {
  return sessions.some((session) =>
    (session.protocol === "ads" || session.protocol === "ads-delta") &&
    session.peer?.id === nodeId &&
    plainHost(session.address.replace(/:\d+$/, "")) === plainHost(address)
  );
}

/**
 * Why nothing may be taken from a server; undefined: it may. What goes round in a circle
 * is given by everyone to the next, so it never goes away. Of two that pull from each other the one
 * whose name comes later gives way. Longer circles are not seen.
 */
export function circleWith(
  { name: server, address }: PulledServer,
  { instance, serves }: Ourselves,
): string | undefined {
  if (server === "") return undefined;
  if (server === instance) {
    return `the server is this Pinnace itself, or another whose \`instance\` is ${server} too: what ` +
      "is pulled from oneself would never go away; give each Pinnace its own `instance`";
  }
  if (server > instance || !serves(pullNodeId(server), address)) return undefined;
  return `the server, ${server}, pulls from this Pinnace, ${instance}: what one removes the other ` +
    "would give back; let only one of them pull";
}

/** Without brackets; an IPv4 address as such, where the system writes it as one of IPv6. */
function plainHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d+\.)/i, "");
}
