import { assert, assertEquals } from "@std/assert";
import { PullInbox } from "../../lib/transport/pull_inbox.ts";

function response(type: string, nonce: string, size = 1) {
  return { head: { type, nonce, version: "", controlPlane: "" }, bytes: new Uint8Array(size) };
}

function nonces(inbox: PullInbox): string[] {
  const all: string[] = [];
  for (let next = inbox.take(); next !== undefined; next = inbox.take()) all.push(next.head.nonce);
  return all;
}

Deno.test("pull inbox: of full responses only the newest of a type waits, in the order of coming", () => {
  const inbox = new PullInbox("sotw");
  inbox.put(response("a", "1"));
  inbox.put(response("b", "2"));
  inbox.put(response("a", "3"));
  assertEquals(nonces(inbox), ["2", "3"]);
});

Deno.test("pull inbox: differences all wait, in order", () => {
  const inbox = new PullInbox("delta");
  for (const nonce of ["1", "2", "3"]) inbox.put(response("a", nonce));
  assertEquals(nonces(inbox), ["1", "2", "3"]);
});

Deno.test("pull inbox: bytes are bounded, a single response is not; taking makes room", () => {
  const inbox = new PullInbox("delta");
  assert(inbox.put(response("a", "1", 65 << 20)));
  assert(!inbox.put(response("a", "2")));
  inbox.take();
  assert(inbox.put(response("a", "3", 60 << 20)));
  assert(inbox.put(response("a", "4", 4 << 20)));
  assert(!inbox.put(response("a", "5")));
});

Deno.test("pull inbox: what is superseded makes room", () => {
  const inbox = new PullInbox("sotw");
  for (let i = 0; i < 10; i++) assert(inbox.put(response("a", `${i}`, 40 << 20)));
  assertEquals(nonces(inbox), ["9"]);
});

Deno.test("pull inbox: the number of responses is bounded", () => {
  const inbox = new PullInbox("delta");
  let taken = 0;
  while (taken < 5000 && inbox.put(response("a", `${taken}`, 0))) taken++;
  assertEquals(taken, 1000);
});
