import { assertEquals } from "@std/assert";
import { listen } from "../../lib/transport/listener.ts";
import { PushServer } from "../../lib/transport/server.ts";
import { tidied } from "../../lib/transport/tidy_headers.ts";
import { concat, FrameFlag, FrameType, grpcRequest, headers, PREFACE, settings } from "./frames.ts";
import { now, RawPeer, until } from "./sockets.ts";

Deno.test("tidy headers: status OK travels without a message", () => {
  assertEquals(tidied({ "grpc-status": 0, "grpc-message": "OK", x: "y" }), {
    "grpc-status": 0,
    x: "y",
  });
});

Deno.test("tidy headers: the message of an error stays", () => {
  const trailers = { "grpc-status": 3, "grpc-message": "no%20such%20type" };
  assertEquals(tidied(trailers), trailers);
});

Deno.test("tidy headers: binary values are base64 without padding, others are left alone", () => {
  assertEquals(tidied({ "a-bin": "YQ==", "b-bin": ["YWI=", "YWJj"], c: "YQ==" }), {
    "a-bin": "YQ",
    "b-bin": ["YWI", "YWJj"],
    c: "YQ==",
  });
});

Deno.test("tidy headers: a status that grpc-js found no number for is an unsupported media type", () => {
  assertEquals(tidied({ ":status": undefined }), { ":status": 415 });
  assertEquals(tidied({ ":status": 200 }), { ":status": 200 });
});

Deno.test("tidy headers: a stream that is gone before grpc-js sees it is left unanswered", async () => {
  await using server = new PushServer({ now });
  await using listener = await listen({ host: "127.0.0.1", port: 0 }, server, { now });
  // No such method, so that grpc-js answers by itself. Opened twice is a connection error, which takes
  // the first with it; whether that happens before grpc-js's turn is a matter of luck, so many try.
  const request = headers(1, grpcRequest("/no.such/Method"), FrameFlag.endHeaders | END_STREAM);
  for (let round = 0; round < 10; round++) {
    const peers = Array.from({ length: 20 }, () => new RawPeer(listener.address.port));
    for (const { socket } of peers) socket.write(concat(PREFACE, settings(), request, request));
    await until(() => peers.every((peer) => peer.closed), "each connection is ended");
  }
  await using peer = new RawPeer(listener.address.port);
  peer.socket.write(concat(PREFACE, settings(), request));
  await until(() => streamsAnswered(peer.received).length > 0, "the server lives");
});

const END_STREAM = 1;

/** The streams that HEADERS came for. */
function streamsAnswered(bytes: Uint8Array): number[] {
  const streams: number[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    if (view.getUint8(3) === FrameType.headers) streams.push(view.getUint32(5));
    at += 9 + (view.getUint32(0) >>> 8);
  }
  return streams;
}
