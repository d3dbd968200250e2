import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Buffer } from "node:buffer";
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { LARGEST_WRITE } from "../../lib/transport/pieces.ts";
import { type PushStream, StreamOverError } from "../../lib/transport/push_stream.ts";
import { CallError } from "../../lib/transport/server.ts";
import { bytes, concat, data, goaway, grpcRequest, headers, PREFACE, settings } from "./frames.ts";
import { Caller, messageOf, PATH, Serving } from "./serving.ts";
import { RawPeer, until } from "./sockets.ts";

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

Deno.test("server: a stream that was ended delivers no further requests, even while it still writes", async () => {
  let requests = 0;
  await using serving = await Serving.start((stream) => {
    stream.onRequest(() => {
      requests++;
      stream.write(messageOf(bytes(1_000_000))).catch(() => {}); // more than the window
      stream.end({ code: "INVALID_ARGUMENT", message: "not that" });
    });
  });
  await using peer = new RawPeer(serving.port);
  const message = concat(Uint8Array.of(0, 0, 0, 0, 1), bytes(1));
  peer.socket.write(concat(PREFACE, settings(), headers(1, grpcRequest(PATH)), data(1, message)));
  await until(() => requests === 1, "the request came");
  peer.socket.write(concat(data(1, message), data(1, message)));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertEquals([requests, serving.server.streams], [1, 1]);
});

Deno.test("server: streams of one connection have a cap", async () => {
  await using serving = await Serving.start(() => {}, { maxStreams: 2 });
  const session = http2.connect(`http://127.0.0.1:${serving.port}`);
  session.on("error", () => {});
  await until(() => session.remoteSettings?.maxConcurrentStreams === 2, "the cap is announced");
  session.destroy();
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
