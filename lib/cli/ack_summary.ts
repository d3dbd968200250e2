/**
 * What a person who saved a file wants to know: that every peer has the change. One line a change,
 * however many peers there are.
 *
 * @module
 */
import type { SessionObserver } from "../transport/session.ts";

/** How a change fared with the peers connected. */
export interface Summary {
  readonly acks: number;
  readonly nacks: number;
  /** Pushes whose stream ended before an answer came. */
  readonly lost: number;
  /** From the change noticed to the last answer. Milliseconds. */
  readonly slowest: number;
}

const NONE: Summary = { acks: 0, nacks: 0, lost: 0, slowest: 0 };

/** Counts answers to pushes that carry a change; `say` is called when none is outstanding any more. */
export function summariseAcks(say: (summary: Summary) => void): SessionObserver {
  /** Types of which a push is on its way, by session. */
  const outstanding = new Map<number, Set<string>>();
  let summary = NONE;
  const settle = (key: number, type: string, add: Partial<Summary>) => {
    const types = outstanding.get(key);
    if (types?.delete(type) !== true) return;
    if (types.size === 0) outstanding.delete(key);
    summary = {
      acks: summary.acks + (add.acks ?? 0),
      nacks: summary.nacks + (add.nacks ?? 0),
      lost: summary.lost + (add.lost ?? 0),
      slowest: Math.max(summary.slowest, add.slowest ?? 0),
    };
    if (outstanding.size > 0) return;
    say(summary);
    summary = NONE;
  };
  return {
    opened: () => {},
    sent: ({ key }, { type }, { change }) => {
      if (!change) return;
      const types = outstanding.get(key) ?? new Set();
      outstanding.set(key, types.add(type));
    },
    event: ({ key }, event, latency = 0) => {
      if (event.kind === "ack") settle(key, event.type, { acks: 1, slowest: latency });
      else if (event.kind === "nack") settle(key, event.type, { nacks: 1, slowest: latency });
    },
    cut: () => {},
    closed: ({ key }) => {
      for (const type of [...outstanding.get(key) ?? []]) settle(key, type, { lost: 1 });
    },
  };
}
