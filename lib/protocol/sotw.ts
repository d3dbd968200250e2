/**
 * xDS v3, state of the world: `StreamAggregatedResources` (protocols.md sections 2 and 3).
 *
 * @module
 */
import type { DiscoveryRequest } from "../wire/messages.ts";
import { Machine } from "./machine.ts";
import { NodeCheck } from "./node_check.ts";
import type { Event, Received } from "./stream.ts";
import type { Subscription } from "./subscription.ts";
import { dynamicParameters, type MachineOptions } from "./subscriptions.ts";

/**
 * One state-of-the-world ADS stream. Every request holds all names of its type, so a stale one can be
 * ignored: the client's answer to the newer push brings the names again.
 */
export class SotwMachine extends Machine<DiscoveryRequest> {
  readonly #node = new NodeCheck();

  constructor(options: MachineOptions) {
    super(options, { partial: true });
  }

  override receive(request: DiscoveryRequest): Received {
    const anonymous = this.#node.check(request.node);
    if (anonymous !== undefined) return anonymous;
    const { typeUrl, resourceNames: names } = request;
    if (request.resourceLocators.length > 0) return dynamicParameters("resource_names");
    const characters = names.reduce((sum, name) => sum + name.length, 0);
    const tooMany = this.subscriptions.checkNames(typeUrl, names.length, characters);
    if (tooMany !== undefined) return tooMany;
    const found = this.subscriptions.obtain(typeUrl);
    if (!found.ok) return found;
    return { ok: true, events: this.#take(request, found.subscription, found.created) };
  }

  #take(request: DiscoveryRequest, subscription: Subscription, created: boolean): Event[] {
    const { responseNonce: nonce, typeUrl: type } = request;
    const events: Event[] = [];
    // Before the first push of a type no nonce can be ours: it is of an earlier stream (cases P12, M1).
    if (nonce === "" || subscription.lastNonce === undefined) {
      subscription.reopen();
      if (created || nonce === "") events.push({ kind: "opened", type });
    } else if (nonce !== subscription.lastNonce) {
      return [{ kind: "stale", type, nonce }];
    } else if (subscription.pendingNonce === nonce) {
      events.push(subscription.settle(request.errorDetail));
    }
    const { grown, shrunk } = subscription.interest.replace(request.resourceNames);
    if (shrunk) subscription.restrict();
    // What is asked for by name and is not there shows by its absence in an answer.
    if (grown && subscription.served.complete) subscription.demand();
    this.subscriptions.wake(subscription);
    return events;
  }
}
