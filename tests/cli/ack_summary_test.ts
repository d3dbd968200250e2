import { assertEquals } from "@std/assert";
import { summariseAcks, type Summary } from "../../lib/cli/ack_summary.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import type { SessionInfo } from "../../lib/transport/session.ts";

const collection = Collection.empty("x");
const push = (type: string) => ({
  type,
  nonce: "1",
  version: "v",
  content: { kind: "full", collection } as const,
});
const ack = (type: string) =>
  ({ kind: "ack", type, nonce: "1", version: "v", collection }) as const;
const nack = (type: string) =>
  ({ kind: "nack", type, nonce: "1", version: "v", code: 3, message: "no", names: [] }) as const;

function peer(key: number): SessionInfo {
  return {
    key,
    protocol: "ads",
    address: "192.0.2.1:1",
    peer: undefined,
    sink: undefined,
    openedAt: 0,
    bytesSent: 0,
    oldestUnacked: undefined,
    subscriptions: () => [],
  };
}

function bench() {
  const said: Summary[] = [];
  return { said, observer: summariseAcks((summary) => void said.push(summary)) };
}

Deno.test("ack summary: one line once every peer has answered, with the slowest", () => {
  const { said, observer } = bench();
  for (const key of [1, 2, 3]) observer.sent(peer(key), push("a"), { bytes: 1, change: true });
  observer.event(peer(1), ack("a"), 10);
  observer.event(peer(3), nack("a"), 40);
  assertEquals(said, []);
  observer.event(peer(2), ack("a"), 20);
  assertEquals(said, [{ acks: 2, nacks: 1, lost: 0, slowest: 40 }]);
});

Deno.test("ack summary: first answers to subscriptions are no changes", () => {
  const { said, observer } = bench();
  observer.sent(peer(1), push("a"), { bytes: 1, change: false });
  observer.event(peer(1), ack("a"));
  assertEquals(said, []);
});

Deno.test("ack summary: a peer that leaves holds up nothing", () => {
  const { said, observer } = bench();
  observer.sent(peer(1), push("a"), { bytes: 1, change: true });
  observer.sent(peer(2), push("a"), { bytes: 1, change: true });
  observer.sent(peer(2), push("b"), { bytes: 1, change: true });
  observer.event(peer(1), ack("a"), 5);
  observer.closed(peer(2));
  assertEquals(said, [{ acks: 1, nacks: 0, lost: 2, slowest: 5 }]);
  observer.closed(peer(1));
  assertEquals(said.length, 1);
});
