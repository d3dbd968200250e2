/**
 * Listeners as Envoy has them: one for each port that any service has.
 *
 * @module
 */
import {
  type Listener,
  listenerCodec,
  type NamedExtension,
  type Partially,
} from "../../wire/messages.ts";
import type { Assembled, OwnedPart, ViewFinding } from "../recipe.ts";
import type { ViewContext } from "../served_service.ts";
import { viewResource } from "../shared/view_resource.ts";
import { HTTP_INSPECTOR, ORIGINAL_DST, TLS_INSPECTOR } from "./extensions.ts";
import { type Chains, filterChains } from "./filter_chains.ts";
import { boundPort, type ListenerPart } from "./listener_part.ts";

/** How long a client may be silent before its connection counts as one of a protocol in which the server speaks first. */
const SILENCE = { seconds: 1 };

/** The listener of a port. */
export function assembleListener(
  name: string,
  parts: readonly OwnedPart<ListenerPart>[],
  context: ViewContext,
): Assembled {
  const { port } = parts[0]!.data;
  const { chains, findings } = filterChains(port, parts, context.namespace);
  if (chains.length === 0) return { findings };
  const filters = listenerFilters(parts.map(({ data }) => data), chains);
  const message: Partially<Listener> = {
    name,
    address: {
      socketAddress: { address: context.envoy.bind, portValue: boundPort(port, context) },
    },
    statPrefix: `outbound_${port}`,
    trafficDirection: "OUTBOUND",
    filterChains: chains,
    ...filters,
  };
  const resource = viewResource(listenerCodec, name, message);
  const waits = filters.listenerFiltersTimeout !== undefined;
  return { resource, findings: waits ? [...findings, ...sharedPort(port, parts)] : findings };
}

/** Neighbours that a finding names; of more, how many there are. */
const NAMED = 3;

/** What there is to say of TCP whose clients wait for the sake of others. */
function sharedPort(port: number, parts: readonly OwnedPart<ListenerPart>[]): ViewFinding[] {
  const others = parts.filter(({ data }) => data.kind !== "tcp").map(({ key }) => key);
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : "";
  const neighbours = others.slice(0, NAMED).join(", ") + more;
  return parts.filter(({ data }) => data.kind === "tcp").map(({ key }) => ({
    key,
    rule: "view/shared-port",
    message: `TCP connections to port ${port}, which has HTTP or TLS of ${neighbours} too, wait ` +
      "1 s for the client's first bytes where the server is to speak first; give it a port of its own",
  }));
}

/** What has to be found out of a connection before a chain is chosen. */
function listenerFilters(
  parts: readonly ListenerPart[],
  chains: Chains["chains"],
): Partially<Listener> {
  const matches = chains.map(({ filterChainMatch }) => filterChainMatch!);
  const byAddress = matches.some(({ prefixRanges }) => prefixRanges !== undefined);
  const originalDst = byAddress || parts.some((part) => part.originalDst);
  const inspectors: NamedExtension[] = [];
  if (matches.some(({ serverNames }) => serverNames !== undefined)) inspectors.push(TLS_INSPECTOR);
  if (matches.some(({ applicationProtocols }) => applicationProtocols !== undefined)) {
    inspectors.push(HTTP_INSPECTOR);
  }
  const waits = inspectors.length > 0 && parts.some(({ kind }) => kind === "tcp");
  return {
    listenerFilters: [...(originalDst ? [ORIGINAL_DST] : []), ...inspectors],
    ...(waits ? { listenerFiltersTimeout: SILENCE, continueOnListenerFiltersTimeout: true } : {}),
  };
}
