import { assert, assertEquals } from "@std/assert";
import { Inbox, InboxRoom } from "../../lib/transport/inbox.ts";

const bytes = (length: number) => new Uint8Array(length);
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("inbox: messages are worked on one at a time, in order", async () => {
  const inbox = new Inbox({ messages: 10, bytes: 1000 });
  const log: string[] = [];
  const steps: (() => void)[] = [];
  const done = inbox.each(async (message) => {
    log.push(`begin ${message.length}`);
    await new Promise<void>((resolve) => steps.push(resolve));
    log.push(`end ${message.length}`);
  });
  for (const length of [1, 2]) assert(inbox.put(bytes(length)));
  await turn();
  assertEquals(log, ["begin 1"]);
  steps.shift()!();
  await turn();
  assertEquals(log, ["begin 1", "end 1", "begin 2"]);
  inbox.close();
  steps.shift()!();
  await done;
  assertEquals(log.at(-1), "end 2");
});

Deno.test("inbox: it is full by number and by bytes, the message worked on included", async () => {
  const inbox = new Inbox({ messages: 3, bytes: 100 });
  let finish = () => {};
  const done = inbox.each(() => new Promise<void>((resolve) => finish = resolve));
  assert(inbox.put(bytes(60)));
  await turn();
  assert(!inbox.put(bytes(41)));
  assert(inbox.put(bytes(40)));
  assert(inbox.put(bytes(0)));
  assert(!inbox.put(bytes(0)));
  finish();
  await turn();
  assert(inbox.put(bytes(60)));
  inbox.close();
  finish();
  await done;
});

Deno.test("inbox: a message of which the memory was given away makes room all the same", async () => {
  const inbox = new Inbox({ messages: 3, bytes: 100 });
  const giveAway = (message: Uint8Array) => (message.buffer as ArrayBuffer).transfer();
  const done = inbox.each((message) => Promise.resolve(void giveAway(message)));
  for (let i = 0; i < 5; i++) {
    assert(inbox.put(bytes(60)), `message ${i}`);
    await turn();
  }
  inbox.close();
  await done;
});

Deno.test("inbox: a single message may be larger than the bound", () => {
  assert(new Inbox({ messages: 3, bytes: 100 }).put(bytes(101)));
});

Deno.test("inbox: closing drops what waits and ends the work, at once where there is none", async () => {
  const inbox = new Inbox({ messages: 3, bytes: 100 });
  const worked: number[] = [];
  const done = inbox.each((message) => Promise.resolve(void worked.push(message.length)));
  await turn();
  inbox.put(bytes(1));
  inbox.close();
  await done;
  assertEquals(worked, []);
  assert(inbox.put(bytes(1)), "what comes late is nobody's fault");
});

Deno.test("inbox room: where it is too much for all together, the fullest is given up", async () => {
  const room = new InboxRoom(100);
  const givenUp: string[] = [];
  const open = (name: string) => room.open({ messages: 10, bytes: 90 }, () => givenUp.push(name));
  const [much, little, last] = [open("much"), open("little"), open("last")];
  for (let i = 0; i < 3; i++) assert(much.put(bytes(20)));
  assert(little.put(bytes(30)));
  assertEquals([room.bytes, givenUp], [90, []]);
  assert(last.put(bytes(15)));
  assertEquals([room.bytes, givenUp], [45, ["much"]]);
  assert(much.put(bytes(80)), "it is closed, so nothing of it is kept");
  assertEquals([room.bytes, much.closed], [45, true]);
  const worked: number[] = [];
  const done = little.each((message) => Promise.resolve(void worked.push(message.length)));
  await turn();
  assertEquals([room.bytes, worked], [15, [30]]);
  little.close();
  last.close();
  await done;
  assertEquals([room.bytes, givenUp], [0, ["much"]]);
});

Deno.test("inbox room: what is worked on counts until it is done", async () => {
  const room = new InboxRoom(100);
  let finish = () => {};
  const inbox = room.open({ messages: 10, bytes: 100 }, () => {});
  const done = inbox.each(() => new Promise<void>((resolve) => finish = resolve));
  for (let i = 0; i < 2; i++) inbox.put(bytes(10));
  await turn();
  inbox.close();
  assertEquals(room.bytes, 10);
  finish();
  await done;
  assertEquals(room.bytes, 0);
});
