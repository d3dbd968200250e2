/**
 * Who the probe says it is.
 *
 * @module
 */
import type { ViewKind } from "../view/client_views.ts";
import type { Node, Struct } from "../wire/messages.ts";

/** What can be said of a client besides its kind. */
export interface NodeOptions {
  /** Whom to be like; absent: nobody but the probe. */
  readonly as?: ViewKind;
  /** Node id; absent: one such as clients of this kind have. */
  readonly id?: string;
  /** Absent: that of clients of this kind. */
  readonly userAgent?: string;
  /** Texts of its metadata, by key. */
  readonly metadata?: Readonly<Record<string, string>>;
}

const NAME = "pinnace-probe";

/** What clients of each kind say of themselves, without the id. */
const AGENTS: Readonly<Record<ViewKind, Partial<Node>>> = {
  envoy: { userAgentName: "envoy" },
  grpc: {
    userAgentName: "gRPC pinnace-probe",
    clientFeatures: ["envoy.lb.does_not_support_overprovisioning"],
  },
  // A Dubbo application names no user agent.
  dubbo: {},
};

/** The id of a node that names none. */
export function nodeId(as: ViewKind | undefined): string {
  return as === "dubbo" ? `sidecar~127.0.0.1~${NAME}~default.svc.cluster.local` : NAME;
}

/** The node of the probe. */
export function nodeOf({ as, id, userAgent, metadata = {} }: NodeOptions): Partial<Node> {
  const agent = as === undefined ? { userAgentName: NAME } : AGENTS[as];
  return {
    id: id ?? nodeId(as),
    ...(as === undefined ? {} : { cluster: NAME }),
    ...agent,
    ...(userAgent === undefined ? {} : { userAgentName: userAgent }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata: structOf(metadata) }),
  };
}

function structOf(texts: Readonly<Record<string, string>>): Struct {
  const fields = Object.entries(texts).map(([key, text]) => [key, { stringValue: text }]);
  return { fields: Object.fromEntries(fields) };
}
