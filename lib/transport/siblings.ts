/**
 * Streams of one client that depend on each other. An Envoy that asks for clusters on a stream of their
 * own waits, after each change of a cluster, for its endpoints on another stream, where nothing changed:
 * there they are sent again (on one stream that is the machine's business).
 *
 * @module
 */
import { xdsType } from "../model/xds_type.ts";
import type { Event } from "../protocol/stream.ts";
import type { Collection } from "../snapshot/collection.ts";
import type { SessionInfo, SessionObserver } from "./session_info.ts";

const CLUSTERS = xdsType("Cluster").typeUrl;
const ENDPOINTS = xdsType("ClusterLoadAssignment").typeUrl;

/** A live session. */
export interface Sibling {
  readonly info: SessionInfo;
  /** Sends again what it has of this type under these names, as far as it was asked for. */
  renew(type: string, names: readonly string[]): void;
}

/** Watches sessions for changes that others of the same client wait for. */
export class Siblings {
  readonly #live: () => Iterable<Sibling>;
  /** The clusters that were accepted last on each stream without endpoints, by its key. */
  readonly #accepted = new Map<number, Collection>();

  constructor(live: () => Iterable<Sibling>) {
    this.#live = live;
  }

  /** An observer that tells `inner` of everything and hears of it after that. */
  beside(inner: SessionObserver): SessionObserver {
    return {
      opened: (session) => inner.opened(session),
      sent: (session, push, sent) => inner.sent(session, push, sent),
      event: (session, event, latency) => {
        inner.event(session, event, latency);
        this.#heard(session, event);
      },
      cut: (session) => inner.cut(session),
      paced: (session) => inner.paced(session),
      overdue: (session, phase) => inner.overdue(session, phase),
      closed: (session, reason) => {
        this.#accepted.delete(session.key);
        inner.closed(session, reason);
      },
    };
  }

  /** Only once clusters are accepted does the client wait for their endpoints: what comes before is for the old ones. */
  #heard(session: SessionInfo, event: Event): void {
    if (event.kind !== "ack" || event.type !== CLUSTERS) return;
    if (session.names?.(ENDPOINTS) !== undefined) return;
    const before = this.#accepted.get(session.key);
    this.#accepted.set(session.key, event.collection);
    if (before === undefined) return;
    const changed = event.collection.diff(before).changed.map(({ name }) => name)
      .filter((name) => before.get(name) !== undefined); // new ones are asked for anew
    if (changed.length === 0) return;
    for (const { info, renew } of this.#live()) {
      if (info.key !== session.key && isSame(info, session)) renew(ENDPOINTS, changed);
    }
  }
}

/** Whether two streams are one client's, as far as can be told: the same node at the same address. */
function isSame(one: SessionInfo, other: SessionInfo): boolean {
  return one.peer !== undefined && one.peer.id === other.peer?.id &&
    hostOf(one.address) === hostOf(other.address);
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}
