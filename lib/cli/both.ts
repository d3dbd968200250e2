/**
 * One to tell, several who hear: the log and the metrics listen to the same parts.
 *
 * @module
 */
import type { ListenerHooks } from "../transport/listener.ts";
import type { SessionObserver } from "../transport/session.ts";
import type { LinkObserver } from "../transport/sink_link.ts";

/** One observer that tells several. */
export function observers(...all: readonly SessionObserver[]): SessionObserver {
  return {
    opened: (session) => all.forEach((one) => one.opened(session)),
    sent: (session, push, sent) => all.forEach((one) => one.sent(session, push, sent)),
    event: (session, event, latency) => all.forEach((one) => one.event(session, event, latency)),
    cut: (session) => all.forEach((one) => one.cut(session)),
    closed: (session, reason) => all.forEach((one) => one.closed(session, reason)),
  };
}

/** One observer of dial-outs that tells several. */
export function linkObservers(...all: readonly LinkObserver[]): LinkObserver {
  return {
    up: (...told) => all.forEach((one) => one.up(...told)),
    down: (...told) => all.forEach((one) => one.down(...told)),
  };
}

/** One set of hooks of listeners that tells several. */
export function listenerHooks(...all: readonly ListenerHooks[]): ListenerHooks {
  return {
    refused: (...told) => all.forEach((one) => one.refused?.(...told)),
    violation: (...told) => all.forEach((one) => one.violation?.(...told)),
  };
}
