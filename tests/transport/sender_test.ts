import { setImmediate } from "node:timers";
import { assert, assertEquals } from "@std/assert";
import { Sender, type SenderOptions, type SendHooks } from "../../lib/transport/sender.ts";
import { StreamOverError } from "../../lib/transport/push_stream.ts";
import type { Message } from "../../lib/wire/compose.ts";
import { FakeStream, settle } from "./fakes.ts";

/** A stream whose reader is the test: nothing is taken until it says so. */
class SlowStream extends FakeStream {
  readonly begun: number[] = [];
  #unfinished: {
    left: number;
    taken: ((bytes: number) => void) | undefined;
    resolve: () => void;
    reject: (error: Error) => void;
  } | undefined;

  get busy(): boolean {
    return this.#unfinished !== undefined;
  }

  override write(message: Message, taken?: (bytes: number) => void): Promise<void> {
    assert(!this.busy, "one unfinished write a stream");
    this.begun.push(message.length);
    return new Promise((resolve, reject) => {
      this.#unfinished = { left: message.length, taken, resolve, reject };
    });
  }

  /** Takes some of what is being written, or all of it. */
  take(bytes = Infinity): void {
    const write = this.#unfinished;
    assert(write !== undefined, "something is being written");
    const count = Math.min(bytes, write.left);
    write.left -= count;
    write.taken?.(count);
    if (write.left > 0) return;
    this.#unfinished = undefined;
    write.resolve();
  }

  override cut(reason: string): void {
    super.cut(reason);
    this.#unfinished?.reject(new StreamOverError(reason));
    this.#unfinished = undefined;
  }
}

/** A sender with a clock and a timer that the test moves. */
class Desk {
  now = 0;
  readonly sender: Sender;
  #look: (() => void) | undefined;

  constructor(options: Partial<SenderOptions> = {}) {
    this.sender = new Sender({
      now: () => this.now,
      every: (_ms, look) => {
        this.#look = look;
        return { [Symbol.dispose]: () => void (this.#look = undefined) };
      },
      ...options,
    });
  }

  get looking(): boolean {
    return this.#look !== undefined;
  }

  /** Lets time pass, second by second. */
  pass(seconds: number): void {
    for (let i = 0; i < seconds; i++) {
      this.now += 1000;
      this.#look?.();
    }
  }

  /** A stream with so many messages of so many bytes to send. */
  reader(size: number, count = 1, hooks: SendHooks = {}) {
    const stream = new SlowStream();
    const place = this.sender.attach(
      stream,
      () => count-- > 0 ? { pieces: [], length: size } : undefined,
      hooks,
    );
    place.wake();
    return { stream, place, add: (more: number) => void (count = Math.max(count, 0) + more) };
  }
}

Deno.test("sender: a message is asked for only when it will be written", async () => {
  const desk = new Desk({ budget: 100 });
  const first = desk.reader(100, 2);
  let asked = 0;
  const second = new SlowStream();
  desk.sender.attach(second, () => (asked++, { pieces: [], length: 10 })).wake();
  await settle();
  assertEquals([first.stream.begun, asked], [[100], 0]);
  first.stream.take();
  await settle();
  assertEquals([second.begun.length, asked], [1, 1]);
});

Deno.test("sender: what is on its way stays within the budget, and over it by one message at most", async () => {
  const desk = new Desk({ budget: 250 });
  const readers = Array.from({ length: 6 }, () => desk.reader(100));
  await settle();
  assertEquals(readers.map(({ stream }) => stream.busy), [true, true, true, false, false, false]);
  assertEquals(desk.sender.inFlight, 300);
  readers[0]!.stream.take(51); // 249 left: there is room
  await settle();
  assertEquals(readers.filter(({ stream }) => stream.busy).length, 4);
  for (let i = 0; i < readers.length; i++) {
    readers[i]!.stream.take();
    await settle();
    assert(desk.sender.inFlight < 350);
  }
  assertEquals(desk.sender.inFlight, 0);
});

Deno.test("sender: a message larger than the whole budget goes when nothing else is on its way", async () => {
  const desk = new Desk({ budget: 100 });
  const small = desk.reader(100);
  const huge = desk.reader(5000);
  await settle();
  assert(small.stream.busy && !huge.stream.busy);
  small.stream.take();
  await settle();
  assert(huge.stream.busy);
  huge.stream.take();
  await settle();
  assertEquals(desk.sender.inFlight, 0);
});

Deno.test("sender: peers take turns, however much one has to say", async () => {
  const desk = new Desk({ budget: 1 });
  const order: string[] = [];
  const places = ["a", "b", "c"].map((name) => {
    let left = 3;
    const stream = new SlowStream();
    const place = desk.sender.attach(stream, () => {
      if (left-- <= 0) return undefined;
      order.push(name);
      return { pieces: [], length: 10 };
    });
    return { stream, place };
  });
  for (const { place } of places) place.wake();
  for (let i = 0; i < 9; i++) {
    await settle();
    places.find(({ stream }) => stream.busy)!.stream.take();
  }
  assertEquals(order.join(""), "abcabcabc");
});

Deno.test("sender: a wake during a write is not lost, many wakes are one", async () => {
  const desk = new Desk();
  const reader = desk.reader(10);
  await settle();
  reader.add(1);
  for (let i = 0; i < 5; i++) reader.place.wake();
  await settle();
  assertEquals(reader.stream.begun, [10]);
  reader.stream.take();
  await settle();
  assertEquals(reader.stream.begun, [10, 10]);
});

Deno.test("sender: a wake with nothing to send costs nothing later", async () => {
  const desk = new Desk();
  const reader = desk.reader(10, 0);
  await settle();
  reader.add(1);
  await settle();
  assertEquals(reader.stream.begun, []);
  reader.place.wake();
  await settle();
  assertEquals(reader.stream.begun, [10]);
});

Deno.test("sender: a peer that takes nothing for a minute is cut, with a reason, and told of once", async () => {
  const desk = new Desk();
  const cuts: string[] = [];
  const reader = desk.reader(1000, 1, { onCut: (reason) => cuts.push(reason) });
  await settle();
  desk.pass(59);
  assertEquals(cuts, []);
  desk.pass(10);
  await settle();
  assertEquals(cuts, ["it took nothing for 60 s"]);
  assertEquals(reader.stream.failure, "it took nothing for 60 s");
  assertEquals(desk.sender.inFlight, 0);
});

Deno.test("sender: a slow peer that goes on taking is not cut", async () => {
  const desk = new Desk({ cutAfter: 10_000 });
  const reader = desk.reader(1000);
  await settle();
  for (let i = 0; i < 9; i++) {
    desk.pass(9);
    reader.stream.take(100);
  }
  assert(!reader.stream.signal.aborted);
  desk.pass(9);
  reader.stream.take();
  await settle();
  assertEquals([reader.stream.busy, desk.looking], [false, false]);
});

Deno.test("sender: stalled peers hold up others for a second, and the second time not at all", async () => {
  const desk = new Desk({ budget: 1_000_000 });
  const stalled = Array.from({ length: 5 }, () => desk.reader(1_000_000));
  const quick = desk.reader(500_000);
  const waited: number[] = [];
  for (let second = 0; second < 8 && !quick.stream.busy; second++) {
    await settle();
    waited.push(stalled.filter(({ stream }) => stream.busy).length);
    desk.pass(1);
  }
  assertEquals(waited, [1, 2, 3, 4, 5, 5]); // each was given its second
  quick.stream.take();
  for (const { stream, add, place } of stalled) {
    stream.take();
    add(1);
    place.wake();
  }
  quick.add(1);
  quick.place.wake();
  await settle();
  assert(quick.stream.busy && stalled.every(({ stream }) => stream.busy));
});

Deno.test("sender: a slow peer that has become quick counts in full again", async () => {
  const desk = new Desk({ budget: 100_000 });
  const reader = desk.reader(80_000, 3);
  await settle();
  desk.pass(2);
  reader.stream.take();
  await settle();
  assertEquals(desk.sender.inFlight, 65_536);
  reader.stream.take();
  await settle();
  assertEquals(desk.sender.inFlight, 80_000);
});

Deno.test("sender: a detached stream is not asked again, and its unfinished write still counts", async () => {
  const desk = new Desk();
  const reader = desk.reader(100, 5);
  await settle();
  reader.place[Symbol.dispose]();
  reader.place.wake();
  assertEquals(desk.sender.inFlight, 100);
  reader.stream.take();
  await settle();
  assertEquals([reader.stream.begun, desk.sender.inFlight], [[100], 0]);
});

Deno.test("sender: a stream that is over while it waits is passed over", async () => {
  const desk = new Desk({ budget: 1 });
  const [first, gone, last] = [desk.reader(10), desk.reader(10), desk.reader(10)];
  await settle();
  gone.stream.leave();
  first.stream.take();
  await settle();
  assertEquals([gone.stream.begun, last.stream.begun], [[], [10]]);
});

Deno.test("sender: a message that cannot be made ends its own stream alone", async () => {
  const desk = new Desk();
  const broken = new SlowStream();
  desk.sender.attach(broken, () => {
    throw new RangeError("too deep");
  }).wake();
  const fine = desk.reader(10);
  await settle();
  assertEquals(broken.ended, {
    code: "INTERNAL",
    message: "no response could be made: too deep",
  });
  assert(fine.stream.busy);
});

Deno.test("sender: bytes sent are told once a message is taken whole", async () => {
  const desk = new Desk();
  const sent: number[] = [];
  const reader = desk.reader(100, 2, { onSent: (bytes) => sent.push(bytes) });
  await settle();
  reader.stream.take(99);
  assertEquals(sent, []);
  reader.stream.take();
  await settle();
  assertEquals(sent, [100]);
});

Deno.test("sender: its timer runs only while something is written, and disposal stops everything", async () => {
  const desk = new Desk();
  const reader = desk.reader(10, 2);
  assert(!desk.looking);
  await settle();
  assert(desk.looking);
  desk.sender[Symbol.dispose]();
  assert(!desk.looking);
  reader.stream.take();
  reader.place.wake();
  await settle();
  assertEquals(reader.stream.begun, [10]);
});

Deno.test("sender: 5,000 streams woken together are all served, a few in each turn of the event loop", async () => {
  const sender = new Sender({ now: () => performance.now() });
  const asked = new Map<number, number>(); // by turn of the event loop
  let turn = 0;
  const places = Array.from({ length: 5000 }, () => {
    let due = true;
    return sender.attach(new FakeStream(), () => {
      if (!due) return undefined;
      due = false;
      asked.set(turn, (asked.get(turn) ?? 0) + 1);
      return { pieces: [], length: 0 };
    });
  });
  for (const place of places) place.wake();
  const served = () => [...asked.values()].reduce((sum, count) => sum + count, 0);
  while (served() < places.length && turn < 1000) {
    await new Promise((resolve) => setImmediate(resolve));
    turn++;
  }
  assertEquals(served(), places.length);
  assert(Math.max(...asked.values()) <= 128, "two turns of the sender at most");
  await settle();
  assertEquals(sender.inFlight, 0);
  sender[Symbol.dispose]();
});
