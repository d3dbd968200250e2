import { assert, assertEquals } from "@std/assert";
import { dialStream, type Ping } from "../../lib/transport/dial.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { Relay } from "./relay.ts";
import { messageOf, PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

function dial(port: number, ping: Ping): Promise<PushStream> {
  return dialStream({ host: "127.0.0.1", port }, PATH, {
    metadata: {},
    signal: new AbortController().signal,
    now,
    ping,
  });
}

Deno.test("dial: a path that goes black is noticed, though neither side has anything to say", async () => {
  await using serving = await Serving.start((stream) =>
    stream.onRequest((request) => void stream.write(messageOf(request)))
  );
  await using relay = await Relay.start(serving.port);
  const stream = await dial(relay.port, { every: 100, within: 2000 });
  await stream.write(messageOf(new Uint8Array(3)));
  await until(() => relay.pings >= 3, "signs of life are asked for");
  assertEquals(stream.signal.aborted, false);
  relay.black = true;
  await until(() => stream.signal.aborted, "it is noticed");
  assertEquals(stream.failure, "the server gave no sign of life within 2 s of being asked");
});

Deno.test("dial: a server that is alive and says nothing is left alone", async () => {
  await using serving = await Serving.start((stream) => stream.onRequest(() => {}));
  await using relay = await Relay.start(serving.port);
  const stream = await dial(relay.port, { every: 50, within: 2000 });
  await until(() => relay.pings >= 10, "it was asked again and again");
  assert(!stream.signal.aborted);
  stream.end({ code: "CANCELLED", message: "enough" });
});
