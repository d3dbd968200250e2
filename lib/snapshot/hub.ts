/**
 * The hub: holds the published snapshot and tells those who asked when another takes its place.
 * Publishing never waits for anyone.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { Snapshot } from "./snapshot.ts";

/** A published snapshot and when what it says was first seen to change. */
export interface Publication {
  readonly snapshot: Snapshot;
  /** Milliseconds since the epoch at which the change was noticed; latency of ACKs counts from here. */
  readonly changedAt: number;
  /** Why it was published, as far as that is known. */
  readonly causes?: readonly Cause[];
}

/** Called with each publication, synchronously, in the order of subscribing. Must not throw. */
export type Subscriber = (publication: Publication) => void;

/** Holds the published snapshot. Nothing is served before the first publication. */
export class Hub {
  #current: Publication | undefined;
  readonly #subscribers = new Set<Subscriber>();

  /** What is published, if anything was. */
  get current(): Publication | undefined {
    return this.#current;
  }

  /** Makes this the published snapshot and tells every subscriber. */
  publish(publication: Publication): void {
    this.#current = publication;
    for (const subscriber of [...this.#subscribers]) subscriber(publication);
  }

  /** Calls `subscriber` at each publication from now on, until disposed. */
  subscribe(subscriber: Subscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }
}
