import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import { DialError, dialStream } from "../../lib/transport/dial.ts";
import { LARGEST_WRITE } from "../../lib/transport/pieces.ts";
import { type PushStream, StreamOverError } from "../../lib/transport/push_stream.ts";
import {
  bytes,
  concat,
  data,
  frame,
  FrameType,
  goaway,
  pingAck,
  settings,
  settingsAck,
} from "./frames.ts";
import { messageOf, PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

/** Dials a loopback port. */
function dial(
  port: number,
  options: Partial<Parameters<typeof dialStream>[2]> = {},
): Promise<PushStream> {
  return dialStream({ host: "127.0.0.1", port }, PATH, {
    metadata: {},
    signal: new AbortController().signal,
    now,
    ...options,
  });
}

/** A server that speaks HTTP/2 by hand: answers the preface with `hello`, and every later chunk with `then`. */
class RawServer implements AsyncDisposable {
  readonly sockets: net.Socket[] = [];
  readonly #server = net.createServer();
  port = 0;

  static async start(hello: Uint8Array): Promise<RawServer> {
    const raw = new RawServer();
    raw.#server.on("connection", (socket) => {
      raw.sockets.push(socket);
      socket.on("error", () => {}).on("data", () => {});
      socket.write(hello);
    });
    raw.#server.listen(0, "127.0.0.1");
    await once(raw.#server, "listening");
    raw.port = (raw.#server.address() as net.AddressInfo).port;
    return raw;
  }

  async [Symbol.asyncDispose]() {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await until(() => this.sockets.every((socket) => socket.closed), "every socket is closed");
  }
}

Deno.test("dial: a stream carries messages both ways, in pieces, whole", async () => {
  const received: Uint8Array[] = [];
  await using serving = await Serving.start((stream) => {
    stream.onRequest((request) => {
      received.push(request);
      void stream.write(messageOf(request.subarray(0, 100_000)));
    });
  });
  const stream = await dial(serving.port);
  assertEquals([stream.path, stream.peer], [PATH, { address: "127.0.0.1", port: serving.port }]);
  const answers: Uint8Array[] = [];
  stream.onRequest((answer) => answers.push(answer));
  const pieces = Array.from({ length: 300 }, (_, i) => bytes(i * 40, i));
  const message = messageOf(...pieces, bytes(700_000));
  const taken: number[] = [];
  await stream.write(message, (count) => taken.push(count));
  assert(taken.every((count) => count <= LARGEST_WRITE));
  assertEquals(taken.reduce((sum, count) => sum + count, 0), message.length + 5);
  await until(() => answers.length === 1, "the answer came");
  await stream.write(messageOf(bytes(3)));
  await until(() => answers.length === 2, "both answers came");
  assertEquals(Uint8Array.from(received[0]!), concat(...message.pieces));
  assertEquals(Uint8Array.from(answers[0]!), concat(...message.pieces).subarray(0, 100_000));
  assertEquals(Uint8Array.from(answers[1]!), bytes(3));
  stream.end();
  await until(() => serving.server.connections === 0, "the connection is closed");
  assertEquals(stream.failure, undefined);
});

Deno.test("dial: headers go along, binary ones too", async () => {
  await using serving = await Serving.start();
  const stream = await dial(serving.port, {
    metadata: { authorization: "Bearer x", "trace-bin": "AP8D" },
  });
  await until(() => serving.streams.length === 1, "the stream is open");
  const { metadata } = serving.streams[0]!;
  assertEquals(metadata["authorization"], ["Bearer x"]);
  assertEquals(metadata["trace-bin"], ["AP8D"]);
  stream.cut("enough");
});

Deno.test("dial: a header that cannot be sent is refused, not dropped", async () => {
  const error = await assertRejects(
    () => dial(1, { metadata: { "x-name": "Ünïcode\n" } }),
    DialError,
    "these headers cannot be sent",
  );
  assert(error.cause instanceof Error);
});

Deno.test("dial: a port where nobody listens is said at once", async () => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await assertRejects(() => dial(port), DialError, `connect ECONNREFUSED 127.0.0.1:${port}`);
});

Deno.test("dial: a server that does not speak is waited for until the signal, and let go", async () => {
  await using mute = await RawServer.start(new Uint8Array());
  const signal = AbortSignal.timeout(100);
  const error = await assertRejects(() => dial(mute.port, { signal }));
  assertEquals((error as Error).name, "TimeoutError");
  await until(() => mute.sockets[0]!.closed, "the connection is closed");
});

Deno.test("dial: a server that speaks something else is refused", async () => {
  await using other = await RawServer.start(
    new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n"),
  );
  await assertRejects(() => dial(other.port), DialError, "the peer does not speak HTTP/2");
});

Deno.test("dial: an aborted signal ends the attempt before it begins", async () => {
  const signal = AbortSignal.abort(new Error("not now"));
  await assertRejects(() => dial(1, { signal }), Error, "not now");
});

Deno.test("dial: a signal ends the stream that came of the attempt", async () => {
  await using serving = await Serving.start();
  const abort = new AbortController();
  const stream = await dial(serving.port, { signal: abort.signal });
  await until(() => serving.streams.length === 1, "the stream is open");
  abort.abort();
  assert(stream.signal.aborted);
  await assertRejects(() => stream.write(messageOf(bytes(1))), StreamOverError);
  await until(() => serving.server.connections === 0, "the connection is closed");
});

Deno.test("dial: the status of the server is the failure of the stream", async () => {
  await using serving = await Serving.start((stream) => {
    stream.end({ code: "UNAUTHENTICATED", message: "no token" });
  });
  const stream = await dial(serving.port);
  await until(() => stream.signal.aborted, "the stream is over");
  assertEquals(stream.failure, "UNAUTHENTICATED: no token");
  await until(() => serving.server.connections === 0, "the connection is closed");
});

Deno.test("dial: a method that is not served ends the stream with that reason", async () => {
  await using serving = await Serving.start();
  const stream = await dialStream(
    { host: "127.0.0.1", port: serving.port },
    "/test.Service/Other",
    { metadata: {}, signal: new AbortController().signal, now },
  );
  await until(() => stream.signal.aborted, "the stream is over");
  assertMatch(stream.failure!, /^UNIMPLEMENTED: .*\/test\.Service\/Other$/);
});

Deno.test("dial: a server that ends the stream in order leaves no failure", async () => {
  await using serving = await Serving.start((stream) => stream.end());
  const stream = await dial(serving.port);
  await until(() => stream.signal.aborted, "the stream is over");
  assertEquals(stream.failure, undefined);
});

const HELLO = concat(settings(), settingsAck());

Deno.test("dial: GOAWAY ends the stream with what the server said, and the connection with it", async () => {
  await using raw = await RawServer.start(HELLO);
  const stream = await dial(raw.port);
  raw.sockets[0]!.write(goaway(0, 11, "too_many_pings"));
  await until(() => stream.signal.aborted, "the stream is over");
  assertEquals(stream.failure, "the peer is going away (GOAWAY, code 11: too_many_pings)");
  await until(() => raw.sockets[0]!.closed, "the connection is closed");
  const again = await dial(raw.port);
  assertEquals(raw.sockets.length, 2);
  again.cut("enough");
});

Deno.test("dial: ACKs that nobody asked for do no harm; a broken rule ends the stream with its reason", async () => {
  await using raw = await RawServer.start(HELLO);
  const stream = await dial(raw.port);
  raw.sockets[0]!.write(concat(pingAck(), settingsAck(), pingAck(), settingsAck()));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert(!stream.signal.aborted);
  raw.sockets[0]!.write(frame(FrameType.pushPromise, 4, 1, bytes(30)));
  await until(() => stream.signal.aborted, "the stream is over");
  assertEquals(stream.failure, "the peer broke the rules of HTTP/2: PUSH_PROMISE");
});

Deno.test("dial: a connection that breaks ends the stream and what is being written", async () => {
  await using raw = await RawServer.start(HELLO);
  const stream = await dial(raw.port);
  const write = stream.write(messageOf(bytes(300_000))); // more than the window
  await new Promise((resolve) => setTimeout(resolve, 50));
  raw.sockets[0]!.resetAndDestroy();
  await assertRejects(() => write, StreamOverError);
  assert(stream.failure !== undefined);
});

Deno.test("dial: a server that takes nothing takes a bounded part, and can be cut", async () => {
  const huge = frame(FrameType.windowUpdate, 0, 0, Uint8Array.of(0x7f, 0, 0, 0));
  const window = settings(Uint8Array.of(0, 4, 0x7f, 0xff, 0xff, 0xff));
  await using raw = await RawServer.start(concat(window, settingsAck(), huge));
  const stream = await dial(raw.port);
  raw.sockets[0]!.pause();
  const write = stream.write(messageOf(new Uint8Array(60_000_000)));
  for (let last = -1; last !== stream.progress.taken;) {
    last = stream.progress.taken;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert(stream.progress.taken < 30_000_000, `taken: ${stream.progress.taken}`);
  stream.cut("it took nothing");
  await assertRejects(() => write, StreamOverError, "it took nothing");
  assertEquals(stream.failure, "it took nothing");
});

Deno.test("dial: a stream is ended at once, also in the middle of a write that goes nowhere", async () => {
  for (const how of ["signal", "end"] as const) {
    await using raw = await RawServer.start(HELLO);
    const abort = new AbortController();
    const stream = await dial(raw.port, { signal: abort.signal });
    const write = assertRejects(
      () => stream.write(messageOf(bytes(300_000))), // more than the window
      StreamOverError,
      "enough",
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (how === "end") stream.end({ code: "CANCELLED", message: "enough" });
    else abort.abort(new Error("enough"));
    await write;
    await until(() => raw.sockets[0]!.closed, "the connection is closed");
  }
});

Deno.test("dial: a message larger than allowed ends the stream", async () => {
  await using serving = await Serving.start((stream) => void stream.write(messageOf(bytes(2000))));
  const stream = await dial(serving.port, { maxReceive: 1000 });
  stream.onRequest(() => {});
  await until(() => stream.signal.aborted, "the stream is over");
  assertMatch(stream.failure!, /^RESOURCE_EXHAUSTED: .*2000 vs 1000/);
});

Deno.test("dial: data before headers does not hang or crash", async () => {
  await using raw = await RawServer.start(HELLO);
  const stream = await dial(raw.port);
  stream.onRequest(() => {});
  raw.sockets[0]!.write(data(1, concat(Uint8Array.of(0, 0, 0, 0, 3), bytes(3))));
  await new Promise((resolve) => setTimeout(resolve, 50));
  raw.sockets[0]!.destroy();
  await until(() => stream.signal.aborted, "the stream is over");
});
