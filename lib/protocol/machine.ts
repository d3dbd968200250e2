/**
 * What the state machines of all protocols have in common: they read requests, each in its own way;
 * what is answered, and when, is the same.
 *
 * @module
 */
import type { Snapshot } from "../snapshot/snapshot.ts";
import type {
  Push,
  Received,
  StreamMachine,
  SubscriptionStatus,
  TransitionStatus,
} from "./stream.ts";
import type { PeerTraits } from "./subscription.ts";
import { type MachineOptions, Subscriptions } from "./subscriptions.ts";

/** One stream; a protocol adds how its requests are read. */
export abstract class Machine<Request> implements StreamMachine<Request> {
  protected readonly subscriptions: Subscriptions;

  constructor(options: MachineOptions, traits: PeerTraits) {
    this.subscriptions = new Subscriptions(options, traits);
  }

  abstract receive(request: Request): Received;

  retarget(snapshot: Snapshot): void {
    this.subscriptions.retarget(snapshot);
  }

  next(): Push | undefined {
    return this.subscriptions.next();
  }

  status(): readonly SubscriptionStatus[] {
    return this.subscriptions.status();
  }

  renew(type: string, names: Iterable<string>): void {
    this.subscriptions.renew(type, names);
  }

  names(type: string): ReadonlySet<string> | undefined {
    return this.subscriptions.names(type);
  }

  get transition(): TransitionStatus | undefined {
    return this.subscriptions.transition;
  }

  expire(transition: number): void {
    this.subscriptions.expire(transition);
  }
}
