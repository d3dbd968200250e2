import { assert, assertEquals, assertRejects } from "@std/assert";
import http2 from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { type PushStream, StreamOverError } from "../../lib/transport/push_stream.ts";
import {
  bytes,
  concat,
  frame,
  FrameType,
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
