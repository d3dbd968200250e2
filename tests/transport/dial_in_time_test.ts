import { assertEquals, assertRejects } from "@std/assert";
import { dialInTime } from "../../lib/transport/dial_in_time.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";

/** An attempt that pays no heed to its signal; it comes to what the test says. */
function attempt(signal = new AbortController().signal) {
  const clock = new FakeClock();
  const opening = Promise.withResolvers<PushStream>();
  let given: AbortSignal | undefined;
  const dialled = dialInTime((signal) => {
    given = signal;
    return opening.promise;
  }, { deadline: 5000, clock, signal });
  dialled.catch(() => {});
  return { clock, opening, dialled, given: () => given! };
}

Deno.test("dial in time: an attempt that hangs is given up, and what comes of it later is ended", async () => {
  const { clock, opening, dialled } = attempt();
  await clock.pass(5000);
  await assertRejects(() => dialled, Error, "no connection within 5 s");
  const stream = new FakeStream();
  opening.resolve(stream);
  await settle();
  assertEquals(stream.signal.aborted, true);
});

Deno.test("dial in time: whoever ends it need not wait for the attempt", async () => {
  const abort = new AbortController();
  const { dialled } = attempt(abort.signal);
  abort.abort(new Error("enough"));
  await assertRejects(() => dialled, Error, "enough");
});

Deno.test("dial in time: the deadline is nothing to a stream that was opened before it", async () => {
  const { clock, opening, dialled, given } = attempt();
  const stream = new FakeStream();
  opening.resolve(stream);
  assertEquals(await dialled, stream);
  await clock.pass(60_000);
  assertEquals([given().aborted, stream.signal.aborted], [false, false]);
});
