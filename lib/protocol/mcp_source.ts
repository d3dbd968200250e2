/**
 * MCP v1alpha1, the source's side: ResourceSource, where the sink dials us, and ResourceSink, where we
 * dial (protocols.md section 1). The messages have the same roles either way.
 *
 * @module
 */
import { TRIGGER_COLLECTION } from "../model/kind.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { RequestResources } from "../wire/messages.ts";
import type { Event, Push, Received, StreamMachine, SubscriptionStatus } from "./stream.ts";
import type { Subscription } from "./subscription.ts";
import { type MachineOptions, Subscriptions } from "./subscriptions.ts";

/** Options of {@link McpSourceMachine}. */
export interface McpSourceOptions extends MachineOptions {
  /** Whether we dialled: then what a sink says of the trigger collection is ignored. Default: false. */
  readonly dialOut?: boolean;
}

/** One MCP stream on which we are the source. A sink need not say its node id. */
export class McpSourceMachine implements StreamMachine<RequestResources> {
  readonly #subscriptions: Subscriptions;
  readonly #dialOut: boolean;

  constructor(options: McpSourceOptions) {
    // A sink takes a push as a whole or not at all.
    this.#subscriptions = new Subscriptions(options, { partial: false });
    this.#dialOut = options.dialOut ?? false;
  }

  receive(request: RequestResources): Received {
    if (this.#dialOut && isTrigger(request.collection)) return { ok: true, events: [] };
    const found = this.#subscriptions.obtain(request.collection);
    if (!found.ok) return found;
    const { subscription, created } = found;
    if (created) subscription.interest.addLegacyWildcard();
    subscription.incremental = request.incremental;
    const events = take(request, subscription, created);
    this.#subscriptions.wake(subscription);
    return { ok: true, events };
  }

  retarget(snapshot: Snapshot): void {
    this.#subscriptions.retarget(snapshot);
  }

  next(): Push | undefined {
    return this.#subscriptions.next();
  }

  status(): readonly SubscriptionStatus[] {
    return this.#subscriptions.status();
  }
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

/** The collection named in the message that makes a sink speak first; before 2019-04-17 it was empty. */
function isTrigger(collection: string): boolean {
  return collection === TRIGGER_COLLECTION || collection === "";
}
