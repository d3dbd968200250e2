/**
 * Pushes on their way to an ACK: how old each is, and how long the change that it carries has taken.
 *
 * @module
 */
import type { Event, Push } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Publication } from "../snapshot/hub.ts";

/** A push on its way. */
interface Flight {
  readonly nonce: string;
  readonly sentAt: number;
  /** When the change that this push carries was noticed; absent for the first answer to a subscription. */
  readonly changedAt?: number;
}

/** The pushes of one stream that were not answered yet. */
export class InFlight {
  readonly #clock: Clock;
  readonly #byType = new Map<string, Flight>();
  /** Out of which publication each type was last answered. */
  readonly #answered = new Map<string, Publication>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch at which the oldest of them was written; undefined: there is none. */
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { sentAt } of this.#byType.values()) oldest = Math.min(oldest ?? sentAt, sentAt);
    return oldest;
  }

  /** Notes that a push out of this publication is written; true where it carries a change. */
  sent({ type, nonce }: Push, publication: Publication): boolean {
    const before = this.#answered.get(type);
    const change = before !== undefined && before !== publication;
    const { changedAt } = publication;
    const sentAt = this.#clock.now();
    this.#byType.set(type, { nonce, sentAt, ...(change ? { changedAt } : {}) });
    this.#answered.set(type, publication);
    return change;
  }

  /** Notes that a push was answered, if the event says so; gives the latency of the change it carried. Milliseconds. */
  settle(event: Event): number | undefined {
    if (event.kind !== "ack" && event.kind !== "nack") return undefined;
    const pending = this.#byType.get(event.type);
    if (pending?.nonce !== event.nonce) return undefined;
    this.#byType.delete(event.type);
    return pending.changedAt === undefined ? undefined : this.#clock.now() - pending.changedAt;
  }
}
