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
import type { Assembled, OwnedPart } from "../recipe.ts";
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
  const message: Partially<Listener> = {
    name,
    address: {
      socketAddress: { address: context.envoy.bind, portValue: boundPort(port, context) },
    },
    statPrefix: `outbound_${port}`,
    trafficDirection: "OUTBOUND",
    filterChains: chains,
    ...listenerFilters(parts.map(({ data }) => data), chains),
  };
  return { resource: viewResource(listenerCodec, name, message), findings };
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
