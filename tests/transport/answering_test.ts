import { assertEquals } from "@std/assert";
import { answering } from "../../lib/transport/answering.ts";
import type { EndStatus } from "../../lib/transport/push_stream.ts";
import { Sender } from "../../lib/transport/sender.ts";
import type { Message } from "../../lib/wire/compose.ts";
import { FakeStream, settle } from "./fakes.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** A stream whose writes are taken when the test says so. */
class SlowStream extends FakeStream {
  #taken: PromiseWithResolvers<void> | undefined;

  override write(message: Message): Promise<void> {
    void super.write(message);
    this.#taken = Promise.withResolvers<void>();
    return this.#taken.promise;
  }

  async take(): Promise<void> {
    this.#taken!.resolve();
    await settle();
  }
}

/** A handled stream; requests are answered in capitals, `!` ends the stream. */
function open(stream: FakeStream, most?: number) {
  let now = 0;
  const sender = new Sender({ now: () => now++ });
  const answered: string[] = [];
  const handler = answering({
    sender,
    largest: 10,
    ...(most === undefined ? {} : { most }),
    answer: (bytes): Uint8Array | EndStatus => {
      const text = decode(bytes);
      answered.push(text);
      if (text === "!") return { code: "INVALID_ARGUMENT", message: "no" };
      return encode(text.toUpperCase());
    },
  });
  handler.opened(stream);
  return {
    answered,
    halfClose: () => handler.halfClosed(stream),
    [Symbol.dispose]: () => sender[Symbol.dispose](),
  };
}

Deno.test("answering: one answer at a time, made when it can be written, in order", async () => {
  const stream = new SlowStream();
  using opened = open(stream);
  for (const text of ["a", "b", "c"]) stream.request(encode(text));
  await settle();
  assertEquals([opened.answered, stream.written.map(decode)], [["a"], ["A"]]);
  await stream.take();
  assertEquals(stream.written.map(decode), ["A", "B"]);
  opened.halfClose();
  assertEquals(stream.signal.aborted, false);
  await stream.take();
  assertEquals(stream.written.map(decode), ["A", "B", "C"]);
  await stream.take();
  assertEquals([stream.signal.aborted, stream.ended], [true, undefined]);
});

Deno.test("answering: a stream on which nothing is asked ends when its peer has nothing to ask", () => {
  const stream = new FakeStream();
  using opened = open(stream);
  opened.halfClose();
  assertEquals([stream.signal.aborted, stream.ended], [true, undefined]);
});

Deno.test("answering: too many requests, or one too large, end the stream with the bound", async () => {
  const many = new SlowStream();
  using _many = open(many, 2);
  for (const text of ["a", "b", "c", "d"]) many.request(encode(text));
  assertEquals(many.ended?.code, "RESOURCE_EXHAUSTED");
  const large = new FakeStream();
  using opened = open(large);
  large.request(encode("more than ten"));
  await settle();
  assertEquals([large.ended?.code, opened.answered], ["RESOURCE_EXHAUSTED", []]);
});

Deno.test("answering: an answer may be the end of the stream", async () => {
  const stream = new FakeStream();
  using opened = open(stream);
  for (const text of ["!", "a"]) stream.request(encode(text));
  await settle();
  assertEquals(stream.ended, { code: "INVALID_ARGUMENT", message: "no" });
  assertEquals([opened.answered, stream.written], [["!"], []]);
});
