/**
 * xDS v3, delta: `DeltaAggregatedResources` (protocols.md section 3).
 *
 * @module
 */
import type { DeltaDiscoveryRequest } from "../wire/messages.ts";
import { WILDCARD } from "./interest.ts";
import { Machine } from "./machine.ts";
import { NodeCheck } from "./node_check.ts";
import type { Event, Received } from "./stream.ts";
import type { Subscription } from "./subscription.ts";
import { dynamicParameters, type Failure, type MachineOptions } from "./subscriptions.ts";

/**
 * One delta ADS stream. A request changes what is subscribed to whatever its nonce; the nonce only
 * tells whether it answers the pending push as well.
 */
export class DeltaMachine extends Machine<DeltaDiscoveryRequest> {
  readonly #node = new NodeCheck();

  constructor(options: MachineOptions) {
    super(options, { partial: true });
  }

  override receive(request: DeltaDiscoveryRequest): Received {
    const anonymous = this.#node.check(request.node);
    if (anonymous !== undefined) return anonymous;
    if (request.resourceLocatorsSubscribe.length > 0) {
      return dynamicParameters("resource_names_subscribe");
    }
    const found = this.subscriptions.obtain(request.typeUrl);
    if (!found.ok) return found;
    const { subscription, created } = found;
    const tooMany = this.#checkNames(request, subscription);
    if (tooMany !== undefined) return tooMany;
    const events = created ? open(request, subscription) : answer(request, subscription);
    subscribe(request, subscription);
    this.subscriptions.wake(subscription);
    return { ok: true, events };
  }

  #checkNames(request: DeltaDiscoveryRequest, subscription: Subscription): Failure | undefined {
    const { resourceNamesSubscribe: added, resourceNamesUnsubscribe: removed } = request;
    if (added.length === 0 && removed.length === 0) return undefined;
    const names = subscription.interest.names.size + subscription.confirming + added.length;
    const characters = added.reduce(
      (sum, name) => sum + name.length,
      subscription.interest.characters,
    );
    return this.subscriptions.checkNames(request.typeUrl, names, characters);
  }
}

/** The first request of a type: it says what the client holds from an earlier stream. */
function open(request: DeltaDiscoveryRequest, subscription: Subscription): Event[] {
  subscription.incremental = true;
  subscription.startEmpty();
  subscription.tell(request.initialResourceVersions);
  if (request.resourceNamesSubscribe.length === 0) subscription.interest.addLegacyWildcard();
  // A client that asks for everything waits for an answer, be it empty (cases D6).
  if (subscription.interest.wildcard) subscription.demand();
  return [{ kind: "opened", type: request.typeUrl }];
}

function answer(request: DeltaDiscoveryRequest, subscription: Subscription): Event[] {
  const { responseNonce: nonce, typeUrl: type } = request;
  if (nonce === "") return []; // spontaneous: only the subscription changes (cases D7)
  if (nonce !== subscription.pendingNonce) return [{ kind: "stale", type, nonce }];
  return [subscription.settle(request.errorDetail)];
}

function subscribe(request: DeltaDiscoveryRequest, subscription: Subscription): void {
  const { interest } = subscription;
  for (const name of request.resourceNamesSubscribe) {
    const grown = interest.add(name);
    if (name === WILDCARD && interest.wildcard) {
      if (grown) subscription.demand();
    } else {
      subscription.sendAgain(name); // even if the client has it (cases D2, D10)
    }
  }
  let shrunk = false;
  for (const name of request.resourceNamesUnsubscribe) {
    if (!interest.remove(name)) continue;
    // Still asked for by the wildcard, and the client cannot know whether the wildcard has it.
    if (interest.has(name)) subscription.confirm(name);
    else shrunk = true;
  }
  if (shrunk) subscription.restrict();
}
