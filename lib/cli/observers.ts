/**
 * One to tell, several who hear: the log and the metrics listen to the same parts.
 *
 * @module
 */
import type { ListenerHooks } from "../transport/listener.ts";
import type { SessionObserver } from "../transport/session.ts";
import type { PullObserver } from "../transport/pull_link.ts";
import type { ReceiverObserver } from "../transport/receiver_observer.ts";
import type { LinkObserver } from "../transport/sink_link.ts";

/** One observer that tells several. */
export function observers(...all: readonly SessionObserver[]): SessionObserver {
  return {
    opened: (session) => all.forEach((one) => one.opened(session)),
    sent: (session, push, sent) => all.forEach((one) => one.sent(session, push, sent)),
    event: (session, event, latency) => all.forEach((one) => one.event(session, event, latency)),
    cut: (session) => all.forEach((one) => one.cut(session)),
    paced: (session) => all.forEach((one) => one.paced(session)),
    overdue: (session, phase) => all.forEach((one) => one.overdue(session, phase)),
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
    dead: (...told) => all.forEach((one) => one.dead?.(...told)),
    revived: (...told) => all.forEach((one) => one.revived?.(...told)),
  };
}

/** One observer of streams on which we are the sink that tells several. */
export function receiverObservers(...all: readonly ReceiverObserver[]): ReceiverObserver {
  return {
    opened: (...told) => all.forEach((one) => one.opened(...told)),
    push: (...told) => all.forEach((one) => one.push(...told)),
    acked: (...told) => all.forEach((one) => one.acked(...told)),
    nacked: (...told) => all.forEach((one) => one.nacked(...told)),
    closed: (...told) => all.forEach((one) => one.closed(...told)),
    denied: (...told) => all.forEach((one) => one.denied(...told)),
  };
}

/** One observer of servers that we pull from that tells several. */
export function pullObservers(...all: readonly PullObserver[]): PullObserver {
  return {
    up: (...told) => all.forEach((one) => one.up(...told)),
    down: (...told) => all.forEach((one) => one.down(...told)),
    learned: (...told) => all.forEach((one) => one.learned?.(...told)),
  };
}
