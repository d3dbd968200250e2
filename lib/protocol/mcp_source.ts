/**
 * MCP v1alpha1, the source's side: ResourceSource, where the sink dials us, and ResourceSink, where we
 * dial (protocols.md section 1). The messages have the same roles either way.
 *
 * @module
 */
import { isTrigger } from "../model/kind.ts";
import type { RequestResources } from "../wire/messages.ts";
import { Machine } from "./machine.ts";
import type { Event, Received } from "./stream.ts";
import type { PeerTraits, Subscription } from "./subscription.ts";
import type { MachineOptions, Subscriptions } from "./subscriptions.ts";

/** A sink takes a push as a whole or not at all. */
export const SINK_TRAITS: PeerTraits = { partial: false };

/** Options of {@link McpSourceMachine}. */
export interface McpSourceOptions extends MachineOptions {
  /** Whether we dialled: then what a sink says of the trigger collection is ignored. Default: false. */
  readonly dialOut?: boolean;
}

/** One MCP stream on which we are the source. A sink need not say its node id. */
export class McpSourceMachine extends Machine<RequestResources> {
  readonly #dialOut: boolean;

  constructor(options: McpSourceOptions) {
    super(options, SINK_TRAITS);
    this.#dialOut = options.dialOut ?? false;
  }

  override receive(request: RequestResources): Received {
    if (this.#dialOut && isTrigger(request.collection)) return { ok: true, events: [] };
    return takeMcpRequest(request, this.subscriptions);
  }
}

/** Takes a request by the rules of MCP, in whichever of its forms it came. */
export function takeMcpRequest(request: RequestResources, subscriptions: Subscriptions): Received {
  const found = subscriptions.obtain(request.collection);
  if (!found.ok) return found;
  const { subscription, created } = found;
  if (created) subscription.interest.addLegacyWildcard();
  subscription.incremental = request.incremental;
  const events = take(request, subscription, created);
  subscriptions.wake(subscription);
  return { ok: true, events };
}

function take(request: RequestResources, subscription: Subscription, created: boolean): Event[] {
  const { responseNonce: nonce, collection: type } = request;
  const events: Event[] = [];
  // Before the first push of a collection no nonce can be ours: it is of an earlier stream (cases M1).
  if (nonce === "" || subscription.lastNonce === undefined) {
    subscription.reopen();
    if (created || nonce === "") events.push({ kind: "opened", type });
  } else if (nonce !== subscription.pendingNonce) {
    return [{ kind: "stale", type, nonce }];
  } else {
    events.push(subscription.settle(request.errorDetail));
  }
  subscription.tell(request.initialResourceVersions);
  return events;
}
