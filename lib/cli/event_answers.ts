/**
 * Tells the history of events how peers answer: which push carries which of them, and what came of it.
 *
 * @module
 */
import { type Answer, type EventLog, EVENTS_KEPT } from "../admin/events.ts";
import { kindByCollection, kindByTypeUrl } from "../model/kind.ts";
import type { SessionObserver } from "../transport/session.ts";

/** What a peer was sent of one type. */
interface Told {
  /** The newest event by then. */
  seq: number;
  /** Events of pushes that are not answered yet. */
  waiting: readonly number[];
}

/** Counts the answers to pushes that carry changes. */
export function recordAnswers(events: EventLog): SessionObserver {
  const sessions = new Map<number, Map<string, Told>>();
  const settle = (told: Told, answer: Answer) => {
    if (told.waiting.length > 0) events.answered(told.waiting, answer);
    told.waiting = [];
  };
  return {
    opened: () => {},
    sent: ({ key }, { type }, { change }) => {
      const types = sessions.get(key) ?? new Map<string, Told>();
      sessions.set(key, types);
      const told = types.get(type);
      const carried = change && told !== undefined ? events.since(told.seq, kindOf(type)) : [];
      events.sent(carried);
      // A push that another replaced before its answer came is answered along with that.
      const waiting = [...told?.waiting ?? [], ...carried].slice(-EVENTS_KEPT);
      types.set(type, { seq: events.newest, waiting });
    },
    event: ({ key }, event) => {
      if (event.kind !== "ack" && event.kind !== "nack") return;
      const told = sessions.get(key)?.get(event.type);
      if (told !== undefined) settle(told, event.kind);
    },
    cut: () => {},
    paced: () => {},
    overdue: () => {},
    closed: ({ key }) => {
      for (const told of sessions.get(key)?.values() ?? []) settle(told, "lost");
      sessions.delete(key);
    },
  };
}

/** The kind that is asked for by this name; undefined: a type that is made of several. */
function kindOf(type: string): string | undefined {
  return (kindByCollection(type) ?? kindByTypeUrl(type))?.kind;
}
