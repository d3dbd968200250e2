import { assertEquals } from "@std/assert";
import { summariseAcks, type Summary } from "../../lib/cli/ack_summary.ts";
import { FakeClock } from "../rollout/fake_clock.ts";
import { ack, nack, peer, push } from "./session_events.ts";

const CHANGE = { bytes: 1, change: true } as const;

function bench() {
  const said: Summary[] = [];
  const clock = new FakeClock();
  const observer = summariseAcks((summary) => void said.push(summary), { clock });
  return { said, clock, observer };
}

Deno.test("ack summary: one line once every peer has answered, with the slowest", async () => {
  const { said, clock, observer } = bench();
  for (const key of [1, 2, 3]) observer.sent(peer(key), push("a"), CHANGE);
  observer.event(peer(1), ack("a"), 10);
  observer.event(peer(3), nack("a"), 40);
  await clock.advance(1000);
  assertEquals(said, []);
  observer.event(peer(2), ack("a"), 20);
  await clock.advance(100);
  assertEquals(said, [{ acks: 2, nacks: 1, lost: 0, waiting: 0, late: false, slowest: 40 }]);
});

Deno.test("ack summary: peers that are sent to one after the other are one line", async () => {
  const { said, clock, observer } = bench();
  for (const key of [1, 2, 3]) {
    observer.sent(peer(key), push("a"), CHANGE);
    observer.event(peer(key), ack("a"), key);
    await clock.advance(10);
  }
  await clock.advance(100);
  assertEquals(said, [{ acks: 3, nacks: 0, lost: 0, waiting: 0, late: false, slowest: 3 }]);
});

Deno.test("ack summary: first answers to subscriptions are no changes", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), { bytes: 1, change: false });
  observer.event(peer(1), ack("a"));
  await clock.advance(60_000);
  assertEquals(said, []);
});

Deno.test("ack summary: a peer that leaves holds up nothing", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), CHANGE);
  observer.sent(peer(2), push("a"), CHANGE);
  observer.sent(peer(2), push("b"), CHANGE);
  observer.event(peer(1), ack("a"), 5);
  observer.closed(peer(2));
  observer.closed(peer(1));
  await clock.advance(20_000);
  assertEquals(said, [{ acks: 1, nacks: 0, lost: 2, waiting: 0, late: false, slowest: 5 }]);
});

Deno.test("ack summary: a peer that never answers is said after 10 s, and once more when it leaves", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), CHANGE);
  observer.sent(peer(2), push("a"), CHANGE);
  observer.event(peer(1), ack("a"), 5);
  await clock.advance(9_900);
  assertEquals(said, []);
  await clock.advance(200);
  assertEquals(said, [{ acks: 1, nacks: 0, lost: 0, waiting: 1, late: false, slowest: 5 }]);
  await clock.advance(60_000);
  assertEquals(said.length, 1);
  observer.closed(peer(2));
  assertEquals(said.slice(1), [{ acks: 0, nacks: 0, lost: 1, waiting: 0, late: true, slowest: 0 }]);
});

Deno.test("ack summary: a peer that never answers holds up no other change", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), CHANGE);
  await clock.advance(11_000);
  assertEquals(said.map(({ waiting }) => waiting), [1]);
  for (let i = 0; i < 3; i++) {
    observer.sent(peer(2), push("a"), CHANGE);
    observer.event(peer(2), ack("a"), 7);
    await clock.advance(100);
  }
  assertEquals(said.slice(1).map(({ acks, waiting }) => [acks, waiting]), [[1, 0], [1, 0], [1, 0]]);
});

Deno.test("ack summary: where changes never pause, only what is really late is said to wait", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), CHANGE); // never answers
  for (let i = 0; i < 300; i++) {
    observer.sent(peer(2 + (i % 2)), push("a"), CHANGE);
    await clock.advance(50);
    observer.event(peer(2 + ((i + 1) % 2)), ack("a"), 50);
  }
  assertEquals(said.map(({ waiting }) => waiting), [1]);
});

Deno.test("ack summary: disposed, it says nothing more", async () => {
  const { said, clock, observer } = bench();
  observer.sent(peer(1), push("a"), CHANGE);
  observer[Symbol.dispose]();
  await clock.advance(20_000);
  assertEquals([said, clock.sleeping], [[], 0]);
});
