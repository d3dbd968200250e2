/** What sessions tell their observers, made by hand. */
import { Collection } from "../../lib/snapshot/collection.ts";
import type { SessionInfo } from "../../lib/transport/session.ts";

const collection = Collection.empty("x");

/** A full push of this type. */
export const push = (type: string) => ({
  type,
  nonce: "1",
  version: "v",
  content: { kind: "full", collection } as const,
});

/** The peer took it. */
export const ack = (type: string) =>
  ({ kind: "ack", type, nonce: "1", version: "v", collection }) as const;

/** The peer refused it. */
export const nack = (type: string, message = "no") =>
  ({ kind: "nack", type, nonce: "1", version: "v", code: 3, message, names: [] }) as const;

/** A session with this key. */
export function peer(key: number): SessionInfo {
  const info = {
    key,
    protocol: "ads",
    address: "192.0.2.1:1",
    peer: undefined,
    sink: undefined,
    kind: "istio",
    wave: 1,
    openedAt: 0,
    bytesSent: 0,
    oldestUnacked: undefined,
    subscriptions: () => [],
  } as const;
  return info;
}
