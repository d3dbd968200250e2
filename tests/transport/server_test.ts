import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { LARGEST_WRITE } from "../../lib/transport/pieces.ts";
import { type PushStream, StreamOverError } from "../../lib/transport/push_stream.ts";
import { CallError } from "../../lib/transport/server.ts";
import {
  bytes,
  concat,
  data,
  frame,
  FrameType,
  goaway,
  grpcRequest,
  headers,
  PREFACE,
  settings,
  settingsAck,
} from "./frames.ts";
import { Caller, messageOf, PATH, Serving } from "./serving.ts";
import { RawPeer, until } from "./sockets.ts";

/** A stream whose reader never opens its window again. */
function shutWindow(port: number) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const request = session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    te: "trailers",
  });
  request.on("error", () => {});
  request.pause();
  return { session, request };
}

/** Sends back what comes. */
function echo(stream: PushStream): void {
  stream.onRequest((request) => void stream.write(messageOf(request)));
}

Deno.test("server: requests and messages go through whole", async () => {
  await using serving = await Serving.start(echo);
  await using caller = new Caller(serving.port);
  const call = caller.call();
  for (const length of [1, 0, 300_000]) {
    const before = call.received.length;
    call.send(bytes(length));
    await until(() => call.received.length > before, "the echo came");
    assertEquals(call.received.at(-1)!.length, length);
  }
  assertEquals(Uint8Array.from(call.received.at(-1)!), bytes(300_000));
  call.raw.end();
  assertEquals(await call.ended(), { code: 0, details: "" });
  await until(() => serving.server.streams === 0, "the stream is forgotten");
});

Deno.test("server: a stream knows its peer and what it sent along", async () => {
  await using serving = await Serving.start(echo);
  await using caller = new Caller(serving.port);
  const metadata = new grpc.Metadata();
  metadata.add("x-site", "fra");
  metadata.add("x-site", "ams");
  metadata.set("token-bin", Buffer.from([0, 255, 3]));
  caller.call(PATH, metadata).send("x");
  await until(() => serving.streams.length === 1, "the stream is open");
  const { peer, path, metadata: seen } = serving.streams[0]!;
  assertEquals([path, peer.address, peer.identity], [PATH, "127.0.0.1", undefined]);
  assert(peer.port > 0 && peer.port !== serving.port);
  assertEquals(seen["x-site"], ["fra, ams"]);
  assertEquals(seen["token-bin"], ["AP8D"]);
});

Deno.test("server: requests are held back until someone wants them", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  caller.call().send("one").send("two").send("three");
  await until(() => serving.streams.length === 1, "the stream is open");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const seen: string[] = [];
  serving.streams[0]!.onRequest((request) => seen.push(new TextDecoder().decode(request)));
  await until(() => seen.length === 3, "all came");
  assertEquals(seen, ["one", "two", "three"]);
});

Deno.test("server: a method that is not served is UNIMPLEMENTED at once", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  const call = caller.call("/test.Service/Other"); // nothing is sent
  assertEquals((await call.ended()).code, grpc.status.UNIMPLEMENTED);
});

Deno.test("server: a message of many pieces arrives whole and is told of as it is taken", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  const call = caller.call();
  await until(() => serving.streams.length === 1, "the stream is open");
  const stream = serving.streams[0]!;
  const pieces = Array.from({ length: 5000 }, (_, i) => bytes(i % 1000, i));
  const message = messageOf(...pieces, bytes(500_000, 7));
  const taken: number[] = [];
  await stream.write(message, (count) => taken.push(count));
  assertEquals(taken.reduce((sum, count) => sum + count, 0), message.length + 5);
  assert(taken.every((count) => count <= LARGEST_WRITE));
  assertEquals(stream.progress.taken, message.length + 5);
  await until(() => call.received.length === 1, "it came");
  assertEquals(Uint8Array.from(call.received[0]!), concat(...message.pieces));
});

Deno.test("server: a slow reader gets several megabytes whole, and others do not wait for it", async () => {
  await using serving = await Serving.start();
  await using slow = new Caller(serving.port);
  await using quick = new Caller(serving.port);
  const behind = slow.call();
  behind.raw.pause();
  await until(() => serving.streams.length === 1, "the first is open");
  const ahead = quick.call();
  await until(() => serving.streams.length === 2, "the second is open");
  const message = messageOf(...Array.from({ length: 100 }, (_, i) => bytes(60_000, i)));
  const [first, second] = serving.streams as [PushStream, PushStream];
  const writing = first.write(message).then(() => first.write(messageOf(bytes(10))));
  for (let i = 0; i < 3; i++) await second.write(message);
  await until(() => ahead.received.length === 3, "the quick one has all");
  behind.raw.resume();
  await writing;
  await until(() => behind.received.length === 2, "the slow one has all");
  assertEquals(behind.received[0]!.length, message.length);
});

Deno.test("server: a reader whose window is shut takes a bounded part, and is cut", async () => {
  await using serving = await Serving.start();
  const { session, request } = shutWindow(serving.port);
  await until(() => serving.streams.length === 1, "the stream is open");
  const stream = serving.streams[0]!;
  const write = stream.write(messageOf(new Uint8Array(5_000_000)));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert(stream.progress.taken < 1_000_000, `taken: ${stream.progress.taken}`);
  stream.cut("it took nothing");
  await assertRejects(() => write, StreamOverError, "it took nothing");
  assert(stream.signal.aborted);
  assertEquals(stream.failure, "it took nothing");
  await until(() => request.closed || request.destroyed, "the peer sees it");
  assertEquals(request.rstCode, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  assert(!session.destroyed, "its connection stays");
  session.destroy();
});

Deno.test("server: a peer whose connection takes nothing loses it when it is cut", async () => {
  await using serving = await Serving.start();
  await using peer = new RawPeer(serving.port);
  const window = new Uint8Array(4).fill(0x7f);
  peer.socket.write(concat(
    PREFACE,
    settings(concat(Uint8Array.of(0, 4), window)),
    frame(FrameType.windowUpdate, 0, 0, Uint8Array.of(0x7f, 0, 0, 0)),
    headers(1, grpcRequest(PATH)),
  ));
  await until(() => serving.streams.length === 1, "the stream is open");
  peer.socket.pause();
  const stream = serving.streams[0]!;
  const write = stream.write(messageOf(new Uint8Array(40_000_000)));
  for (let last = -1; last !== stream.progress.taken;) {
    last = stream.progress.taken;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert(stream.progress.taken < 30_000_000, `taken: ${stream.progress.taken}`);
  stream.cut("it took nothing");
  await assertRejects(() => write, StreamOverError);
  await until(() => serving.server.connections === 0, "the connection is gone");
});

Deno.test("server: one write at a time", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  const call = caller.call();
  await until(() => serving.streams.length === 1, "the stream is open");
  const stream = serving.streams[0]!;
  const first = stream.write(messageOf(bytes(200_000)));
  await assertRejects(() => stream.write(messageOf(bytes(1))), TypeError, "unfinished");
  await first;
  await stream.write(messageOf(bytes(1)));
  await until(() => call.received.length === 2, "both came");
});

Deno.test("server: an end with a status finishes what is being written first", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  const call = caller.call();
  await until(() => serving.streams.length === 1, "the stream is open");
  const stream = serving.streams[0]!;
  const write = stream.write(messageOf(bytes(700_000)));
  stream.end({ code: "INVALID_ARGUMENT", message: "no node id: ünïcode \ud800 and % and\nlines" });
  assert(stream.signal.aborted);
  await assertRejects(() => stream.write(messageOf(bytes(1))), StreamOverError, "no node id");
  await write;
  const { code, details } = await call.ended();
  assertEquals(code, grpc.status.INVALID_ARGUMENT);
  assertMatch(details, /^no node id: ünïcode . and % and\nlines$/);
  assertEquals(call.received.map((message) => message.length), [700_000]);
  await until(() => serving.server.streams === 0, "the stream is forgotten");
});

Deno.test("server: a stream that the peer cancels is over, and so is what is being written", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  const call = caller.call();
  call.raw.pause();
  await until(() => serving.streams.length === 1, "the stream is open");
  const stream = serving.streams[0]!;
  const write = stream.write(messageOf(new Uint8Array(20_000_000)));
  call.raw.cancel();
  await assertRejects(() => write, StreamOverError, "the peer left");
  assertEquals([stream.signal.aborted, stream.failure], [true, undefined]);
  await until(() => serving.server.streams === 0, "the stream is forgotten");
});

Deno.test("server: a connection that breaks ends its streams", async () => {
  await using serving = await Serving.start();
  const peer = new RawPeer(serving.port);
  peer.socket.write(concat(PREFACE, settings(), headers(1, grpcRequest(PATH))));
  await until(() => serving.streams.length === 1, "the stream is open");
  const write = serving.streams[0]!.write(messageOf(new Uint8Array(5_000_000)));
  peer.socket.resetAndDestroy();
  await assertRejects(() => write, StreamOverError);
  await until(() => serving.server.connections === 0, "the connection is forgotten");
  assertEquals(serving.server.streams, 0);
});

Deno.test("server: a client's GOAWAY leaves its streams alone", async () => {
  await using serving = await Serving.start(echo);
  await using peer = new RawPeer(serving.port);
  peer.socket.write(concat(PREFACE, settings(), headers(1, grpcRequest(PATH)), goaway(0, 0)));
  await until(() => serving.streams.length === 1, "the stream is open");
  peer.socket.write(
    data(1, concat(Uint8Array.of(0, 0, 0, 0, 6), new TextEncoder().encode("heyhey"))),
  );
  await until(() => new TextDecoder().decode(peer.received).includes("heyhey"), "the echo came");
});

Deno.test("server: a request of 100 MB is refused with RESOURCE_EXHAUSTED, and the server lives", async () => {
  let requests = 0;
  await using serving = await Serving.start((stream) => stream.onRequest(() => void requests++));
  await using caller = new Caller(serving.port);
  const before = Deno.memoryUsage().rss;
  const call = caller.call().send(new Uint8Array(100_000_000));
  const { code, details } = await call.ended();
  assertEquals(code, grpc.status.RESOURCE_EXHAUSTED);
  assertMatch(details, /larger than max \(100000000 vs 16777216\)/);
  assertEquals(requests, 0);
  assert(Deno.memoryUsage().rss - before < 400_000_000, "what the client itself holds");
  const next = caller.call().send("x");
  await until(() => requests === 1, "the next is served");
  next.raw.cancel();
});

Deno.test("server: what is taken at most can be set", async () => {
  await using serving = await Serving.start(echo, { maxReceive: 1000 });
  await using caller = new Caller(serving.port);
  const call = caller.call().send(bytes(1000));
  await until(() => call.received.length === 1, "1,000 bytes pass");
  call.send(bytes(1001));
  assertEquals((await call.ended()).code, grpc.status.RESOURCE_EXHAUSTED);
});

/** Sends one message as it is, flag and encoding included; gives the status. */
async function sendRaw(port: number, encoding: string, flag: number, body: Uint8Array) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  try {
    const request = session.request({
      ":method": "POST",
      ":path": PATH,
      "content-type": "application/grpc",
      "grpc-encoding": encoding,
      te: "trailers",
    });
    request.on("error", () => {});
    let status: string | undefined;
    for (const event of ["response", "trailers"]) {
      request.on(event, (block: http2.IncomingHttpHeaders) => {
        status ??= block["grpc-status"] as string | undefined;
      });
    }
    const received: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => received.push(chunk));
    const head = new Uint8Array(5);
    head[0] = flag;
    new DataView(head.buffer).setUint32(1, body.length);
    request.write(concat(head, body));
    await until(() => status !== undefined || received.length > 0, "an answer");
    return status === undefined ? concat(...received).subarray(5) : Number(status);
  } finally {
    session.destroy();
  }
}

Deno.test("server: a compressed request is read, or refused with a clear status", async () => {
  await using serving = await Serving.start(echo, { maxReceive: 100_000 });
  const { port } = serving;
  assertEquals(await sendRaw(port, "gzip", 1, gzipSync(bytes(5000))), bytes(5000));
  const { INTERNAL, UNIMPLEMENTED, RESOURCE_EXHAUSTED } = grpc.status;
  assertEquals(await sendRaw(port, "gzip", 1, bytes(100)), INTERNAL);
  assertEquals(await sendRaw(port, "snappy", 1, bytes(100)), UNIMPLEMENTED);
  const bomb = gzipSync(new Uint8Array(50_000_000));
  assert(bomb.length < 100_000);
  assertEquals(await sendRaw(port, "gzip", 1, bomb), RESOURCE_EXHAUSTED);
  assertEquals(await sendRaw(port, "gzip", 1, gzipSync(bytes(10))), bytes(10));
});

Deno.test("server: a request that cannot be handled ends its stream and nothing else", async () => {
  await using serving = await Serving.start((stream) => {
    stream.onRequest((request) => {
      if (request.length === 0) throw new RangeError("out of range");
      void stream.write(messageOf(request));
    });
  });
  await using caller = new Caller(serving.port);
  const fine = caller.call().send("x");
  const broken = caller.call().send("");
  const { code, details } = await broken.ended();
  assertEquals(code, grpc.status.INTERNAL);
  assertMatch(details, /out of range/);
  await until(() => fine.received.length === 1, "the other goes on");
  fine.send("y");
  await until(() => fine.received.length === 2, "and on");
});

Deno.test("server: streams of one connection have a cap", async () => {
  await using serving = await Serving.start(() => {}, { maxStreams: 2 });
  const session = http2.connect(`http://127.0.0.1:${serving.port}`);
  session.on("error", () => {});
  await until(() => session.remoteSettings?.maxConcurrentStreams === 2, "the cap is announced");
  session.destroy();
});

Deno.test("server: a peer that gives no sign of life is dropped, one that does is kept", async () => {
  await using serving = await Serving.start(() => {}, {
    keepaliveTime: 50,
    keepaliveTimeout: 150,
  });
  await using caller = new Caller(serving.port);
  const alive = caller.call();
  await using silent = new RawPeer(serving.port);
  silent.socket.write(concat(PREFACE, settings(), settingsAck(), headers(1, grpcRequest(PATH))));
  await until(() => serving.streams.length === 2, "both are open");
  await until(() => silent.closed, "the silent one is dropped");
  await until(() => serving.server.connections === 1, "and forgotten");
  await new Promise((resolve) => setTimeout(resolve, 300));
  assertEquals(alive.status, undefined);
  assertEquals(serving.server.streams, 1);
});

Deno.test("server: a client may ping often, with and without streams", async () => {
  const said: string[] = [];
  await using serving = await Serving.start(echo, {
    hooks: { violation: ({ reason }) => void said.push(reason) },
  });
  const session = http2.connect(`http://127.0.0.1:${serving.port}`);
  session.on("error", () => {});
  for (let i = 0; i < 15; i++) {
    await new Promise((resolve) => session.ping(resolve));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert(!session.destroyed);
  assertEquals(said, []);
  session.destroy();
});

Deno.test("server: a peer that leaves its half of an ended stream open does not keep it", async () => {
  await using serving = await Serving.start((stream) => {
    stream.end({ code: "UNAUTHENTICATED", message: "who are you" });
  });
  const session = http2.connect(`http://127.0.0.1:${serving.port}`);
  session.on("error", () => {});
  const request = session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    te: "trailers",
  });
  request.on("error", () => {}).resume();
  await until(() => serving.streams.length === 1, "the stream is open");
  await until(() => serving.server.streams === 0, "the stream is closed");
  assert(!session.destroyed);
  session.destroy();
});

Deno.test("server: draining ends every stream with UNAVAILABLE, then every connection", async () => {
  await using serving = await Serving.start();
  await using caller = new Caller(serving.port);
  await using idle = new RawPeer(serving.port);
  idle.socket.write(concat(PREFACE, settings()));
  const call = caller.call();
  await until(() => serving.streams.length === 1, "the stream is open");
  const begun = performance.now();
  await serving.server.drain(5000);
  assert(performance.now() - begun < 2000, "nobody has to be waited for");
  assertEquals(await call.ended(), { code: grpc.status.UNAVAILABLE, details: "shutting down" });
  assertEquals([serving.server.connections, serving.server.streams], [0, 0]);
  await until(() => idle.closed, "who has no stream is let go too");
  await using late = new RawPeer(serving.port);
  late.socket.write(concat(PREFACE, settings()));
  await until(() => late.closed, "nobody else is let in");
});

Deno.test("server: draining waits for a slow reader until the deadline and no longer", async () => {
  await using serving = await Serving.start();
  const { session } = shutWindow(serving.port);
  await until(() => serving.streams.length === 1, "the stream is open");
  const write = assertRejects(
    () => serving.streams[0]!.write(messageOf(new Uint8Array(5_000_000))),
    StreamOverError,
    "shutting down",
  );
  const begun = performance.now();
  await serving.server.drain(300);
  const took = performance.now() - begun;
  assert(took >= 250 && took < 1500, `took ${took} ms`);
  await write;
  await until(() => serving.server.connections === 0, "every connection is closed");
  session.destroy();
});

Deno.test("server: unary methods answer, or fail with their status", async () => {
  await using serving = await Serving.start();
  serving.server.addUnary("/test.Service/Unary", (request) => {
    if (request.length === 0) throw new CallError("NOT_FOUND", "nothing there");
    if (request.length === 1) throw new RangeError("a secret");
    return Promise.resolve(concat(request, request));
  });
  await using caller = new Caller(serving.port);
  const path = "/test.Service/Unary";
  assertEquals(Uint8Array.from(await caller.unary(path, bytes(3))), concat(bytes(3), bytes(3)));
  await assertRejects(() => caller.unary(path, bytes(0)), Error, "5 NOT_FOUND: nothing there");
  await assertRejects(() => caller.unary(path, bytes(1)), Error, "13 INTERNAL: internal error");
});

Deno.test("server: services of grpc-js's own kind are served as they are", async () => {
  await using serving = await Serving.start();
  const path = "/test.Health/Check";
  const codec = (bytes: Uint8Array) => Buffer.from(bytes);
  serving.server.addService({
    Check: {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: codec,
      requestDeserialize: (bytes: Uint8Array) => bytes.length,
      responseSerialize: (count: number) => Buffer.from([count]),
      responseDeserialize: codec,
    },
  }, {
    Check: (call: grpc.ServerUnaryCall<number, number>, done: grpc.sendUnaryData<number>) =>
      done(null, call.request + 1),
  });
  await using caller = new Caller(serving.port);
  assertEquals(Uint8Array.from(await caller.unary(path, bytes(6))), Uint8Array.of(7));
});
