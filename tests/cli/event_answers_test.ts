import { assertEquals } from "@std/assert";
import { EventLog } from "../../lib/admin/events.ts";
import { recordAnswers } from "../../lib/cli/event_answers.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";
import { ack, nack, peer, push } from "./session_events.ts";

const TYPE = "networking.istio.io/v1/ServiceEntry";

function bench() {
  const events = new EventLog({ now: () => 1000 });
  let content = 0;
  const publish = () =>
    events.published({ snapshot: snapshotOf({ "a/1": String(content++) }), changedAt: 990 });
  const answers = () => events.list().map(({ answers }) => answers).reverse();
  return { observer: recordAnswers(events), publish, answers };
}

Deno.test("event answers: the first answer to a subscription is no answer to a change", () => {
  const { observer, publish, answers } = bench();
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: false });
  observer.event(peer(1), ack(TYPE));
  assertEquals(answers(), [{ acks: 0, nacks: 0, lost: 0, pending: 0 }]);
});

Deno.test("event answers: one push that carries two changes answers both", () => {
  const { observer, publish, answers } = bench();
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: false });
  publish();
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: true });
  assertEquals(answers().map(({ pending }) => pending), [0, 1, 1]);
  observer.event(peer(1), nack(TYPE));
  observer.event(peer(1), nack(TYPE)); // whatever a peer repeats
  assertEquals(answers().map(({ nacks, pending }) => [nacks, pending]), [[0, 0], [1, 0], [1, 0]]);
});

Deno.test("event answers: a stream that ends loses what was on its way", () => {
  const { observer, publish, answers } = bench();
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: false });
  observer.event(peer(1), ack(TYPE));
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: true });
  observer.closed(peer(1));
  observer.closed(peer(1));
  assertEquals(answers()[1], { acks: 0, nacks: 0, lost: 1, pending: 0 });
});

Deno.test("event answers: a push replaced before its answer is answered along with its successor", () => {
  const { observer, publish, answers } = bench();
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: false });
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: true });
  publish();
  observer.sent(peer(1), push(TYPE), { bytes: 1, change: true });
  observer.event(peer(1), ack(TYPE));
  assertEquals(answers().map(({ acks, pending }) => [acks, pending]), [[0, 0], [1, 0], [1, 0]]);
});

Deno.test("event answers: what changed another kind is not counted", () => {
  const { observer, publish, answers } = bench();
  const gateways = "networking.istio.io/v1/Gateway";
  publish();
  observer.sent(peer(1), push(gateways), { bytes: 1, change: false });
  publish();
  observer.sent(peer(1), push(gateways), { bytes: 1, change: true });
  assertEquals(answers().map(({ pending }) => pending), [0, 0]);
});
