// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * A server that answers well and then fails in every way: node hostile_sink.mjs --port P --seed N
 * [--answer mcp|ads]. It is a ResourceSink, or with `ads` a server to pull from; then it may also begin
 * badly. Speaks raw frames, so that it can also send what no library would. Prints a JSON line a session
 * when the session is over: how it failed, when, and whether the other side could see it.
 */
import net from "node:net";
import {
  frame,
  literal,
  PREFACE,
  randomSettings,
  requestHeaders,
  responseHeaders,
  TYPE,
} from "./http2_frames.mjs";
import { field, resource, SERVICE_ENTRIES, serviceEntry } from "./mcp_messages.mjs";
import { grpcFrame, options, seeded } from "./random.mjs";

const { port, seed, answer } = options({ port: 0, seed: 1, answer: "mcp" });
const random = seeded(seed);
/** RequestResources{collection}. */
const REQUEST = grpcFrame(field(2, SERVICE_ENTRIES));

const TYPE_URL = "networking.istio.io/v1alpha3/ServiceEntry";
const RESOURCE = "type.googleapis.com/istio.mcp.v1alpha1.Resource";
let nonces = 0;

/** A DiscoveryResponse; of the versions differ, whatever else is the same. */
function response({ name = "hostile/pulled", type = TYPE_URL, nonce = `n${++nonces}` } = {}) {
  const entry = serviceEntry("pulled.hostile.example.com", "192.0.2.9", `r${random.below(1e9)}`);
  const any = Buffer.concat([field(1, RESOURCE), field(2, resource(name, entry))]);
  return grpcFrame(Buffer.concat([
    field(1, `v${nonces}`),
    field(2, any),
    field(4, type),
    field(5, nonce),
  ]));
}

const trailers = (status) =>
  Buffer.concat([literal("grpc-status", String(status)), literal("grpc-message", "on purpose")]);

/** Ways to fail. `visible`: whether an attentive peer sees it without asking. */
const FAILURES = {
  close: { visible: true, act: (s) => s.socket.end() },
  vanish: { visible: true, act: (s) => s.socket.destroy() },
  resetSocket: { visible: true, act: (s) => s.socket.resetAndDestroy() },
  goaway: { visible: true, act: (s) => s.send(TYPE.goaway, 0, 0, goaway(2 ** 31 - 1, 0)) },
  goawayError: { visible: true, act: (s) => s.send(TYPE.goaway, 0, 0, goaway(0, 2)) },
  goawayTwice: {
    visible: true,
    act: (s) => {
      s.send(TYPE.goaway, 0, 0, goaway(2 ** 31 - 1, 0));
      s.send(TYPE.goaway, 0, 0, goaway(s.stream, 0));
    },
  },
  trailers: { visible: true, act: (s) => s.send(TYPE.headers, 5, s.stream, trailers(14)) },
  trailersOk: { visible: true, act: (s) => s.send(TYPE.headers, 5, s.stream, trailers(0)) },
  resetStream: {
    visible: true,
    act: (s) => s.send(TYPE.reset, 0, s.stream, Buffer.from([0, 0, 0, 2])),
  },
  push: {
    visible: true,
    act: (s) =>
      s.send(
        TYPE.push,
        4,
        s.stream,
        Buffer.concat([Buffer.from([0, 0, 0, 2]), requestHeaders("/x")]),
      ),
  },
  unaskedAcks: {
    visible: false,
    act: (s) => {
      for (let i = 0; i < 5; i++) {
        s.send(TYPE.ping, 1, 0, random.bytes(8));
        s.send(TYPE.settings, 1, 0);
      }
    },
  },
  silence: { visible: false, act: () => {} },
  frames: { visible: false, act: (s) => fuzz(s) },
};

/** Ways of a server that is pulled from. */
const PULLED_FAILURES = {
  ...FAILURES,
  bytes: { visible: true, act: (s) => s.socket.write(random.bytes(2000)) },
  garbage: { visible: true, act: (s) => s.message(grpcFrame(random.bytes(1 + random.below(200)))) },
  hugePrefix: { visible: true, act: (s) => s.message(Buffer.from([0, 255, 255, 255, 255, 1, 2])) },
  huge: { visible: true, act: (s) => s.many(4000, () => Buffer.alloc(16_000, 1)) },
  endless: { visible: true, act: (s) => s.many(4000, () => response()) },
  endlessFrames: { visible: true, act: (s) => s.many(4000, () => Buffer.alloc(0)) },
  sameNonce: { visible: false, act: (s) => s.many(20, () => response({ nonce: "same" })) },
  noNonce: { visible: false, act: (s) => s.many(3, () => response({ nonce: "" })) },
  otherTypes: { visible: false, act: (s) => s.many(50, () => response({ type: `x/${nonces}` })) },
  badNames: {
    visible: false,
    act: (s) =>
      s.many(3, () => response({ name: random.pick(["a\u0000b", "../x", "site-1/x", ""]) })),
  },
  neverEnding: { visible: false, act: (s) => s.message(Buffer.from([0, 0, 0, 255, 255, 1, 2])) },
};

/** Ways of a server to begin. */
const BEGINNINGS = {
  mute: { visible: false, act: (s) => s.socket.pause() },
  http1: { visible: true, act: (s) => s.socket.write("HTTP/1.1 200 OK\r\n\r\nhello") },
  noise: { visible: true, act: (s) => s.socket.write(random.bytes(500)) },
  hangUp: { visible: true, act: (s) => s.socket.destroy() },
  goawayFirst: {
    visible: true,
    act: (s) => {
      s.send(TYPE.settings, 0, 0);
      s.send(TYPE.goaway, 0, 0, goaway(0, random.below(14)));
    },
  },
};

function goaway(last, code) {
  const body = Buffer.alloc(8);
  body.writeUInt32BE(last, 0);
  body.writeUInt32BE(code, 4);
  return body;
}

/** Random frames for a while; then the socket is closed, which is visible. */
function fuzz(session) {
  let left = 5 + random.below(60);
  const timer = setInterval(() => {
    if (session.socket.destroyed) return clearInterval(timer);
    if (left-- > 0) return session.socket.write(randomFrame(session.stream));
    clearInterval(timer);
    session.failed("frames", true);
    if (random.chance(0.5)) session.socket.destroy();
    else session.socket.resetAndDestroy();
  }, 2);
}

function randomFrame(stream) {
  const some = () => random.pick([0, stream, stream + 2, stream + 4, 2, 7]);
  return random.pick([
    () => frame(TYPE.headers, 4, some(), responseHeaders()),
    () =>
      frame(
        TYPE.data,
        random.chance(0.2) ? 1 : 0,
        some(),
        random.chance(0.7)
          ? grpcFrame(random.bytes(random.below(50)))
          : random.bytes(random.below(50)),
      ),
    () => frame(TYPE.reset, 0, some(), Buffer.from([0, 0, 0, random.below(14)])),
    () => frame(TYPE.window, 0, some(), Buffer.from([0, ...random.bytes(3)])),
    () => frame(TYPE.settings, random.below(2), 0, randomSettings(random, random.below(2))),
    () => frame(TYPE.ping, random.below(2), 0, random.bytes(8)),
    () => frame(TYPE.goaway, 0, 0, goaway(random.below(8), random.below(14))),
    () => frame(TYPE.headers, 5, some(), trailers(random.below(17))),
    () => frame(TYPE.continuation, 4, some(), random.bytes(random.below(20))),
    () => frame(10 + random.below(200), random.below(256), some(), random.bytes(random.below(40))),
  ])();
}

class Session {
  stream = 1;
  #inbound = Buffer.alloc(0);
  #preface = PREFACE.length;
  #answered = false;
  #failure;

  constructor(socket) {
    this.socket = socket;
    this.openedAt = Date.now();
    console.log(JSON.stringify({ opened: this.openedAt }));
    socket.on("error", () => {});
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("close", () => this.#report());
    if (answer === "ads" && random.chance(0.25)) this.#fail(BEGINNINGS);
    else this.send(TYPE.settings, 0, 0);
  }

  send(type, flags, stream, body) {
    if (!this.socket.destroyed) this.socket.write(frame(type, flags, stream, body));
  }

  /** A piece of the stream's data. */
  message(bytes) {
    this.send(TYPE.data, 0, this.stream, bytes);
  }

  /** So many pieces, as fast as the other side takes them. */
  async many(count, make) {
    for (let i = 0; i < count && !this.socket.destroyed; i++) {
      this.message(make());
      if (!this.socket.writableNeedDrain) continue;
      await new Promise((resolve) => this.socket.once("drain", resolve).once("close", resolve));
    }
  }

  failed(how, visible) {
    this.#failure = { how, visible, failedAt: Date.now() };
    console.log(JSON.stringify({ fails: how, visible, at: Date.now() }));
    // What nobody need notice must come to an end, or there would be no other session.
    if (answer === "ads" && !visible && how !== "mute") {
      setTimeout(() => this.socket.destroy(), 1500);
    }
  }

  /** Follows the client's frames as far as needed: SETTINGS and PING get their ACKs, a message its answer. */
  #receive(chunk) {
    this.#inbound = Buffer.concat([this.#inbound, chunk]);
    if (this.#preface > 0) {
      if (this.#inbound.length < this.#preface) return;
      this.#inbound = this.#inbound.subarray(this.#preface);
      this.#preface = 0;
    }
    while (this.#inbound.length >= 9) {
      const length = this.#inbound.readUIntBE(0, 3);
      if (this.#inbound.length < 9 + length) return;
      const [type, flags] = [this.#inbound[3], this.#inbound[4]];
      const stream = this.#inbound.readUInt32BE(5) & 0x7fffffff;
      const body = this.#inbound.subarray(9, 9 + length);
      this.#inbound = this.#inbound.subarray(9 + length);
      if (this.#failure === undefined) this.#take(type, flags, stream, body);
    }
  }

  #take(type, flags, stream, body) {
    if (type === TYPE.settings && (flags & 1) === 0) this.send(TYPE.settings, 1, 0);
    if (type === TYPE.ping && (flags & 1) === 0) this.send(TYPE.ping, 1, 0, body);
    if (type !== TYPE.data || this.#answered) return;
    this.#answered = true;
    this.stream = stream;
    this.send(TYPE.headers, 4, stream, responseHeaders());
    this.message(answer === "ads" ? response() : REQUEST);
    const failures = answer === "ads" ? PULLED_FAILURES : FAILURES;
    setTimeout(() => this.#fail(failures), 20 + random.below(300));
  }

  #fail(failures) {
    const how = random.pick(Object.keys(failures));
    this.failed(how, failures[how].visible);
    failures[how].act(this);
  }

  #report() {
    const { openedAt } = this;
    console.log(
      JSON.stringify({
        openedAt,
        answered: this.#answered,
        closedAt: Date.now(),
        ...this.#failure,
      }),
    );
  }
}

net.createServer((socket) => new Session(socket)).listen(port, "127.0.0.1");
process.on("uncaughtException", (error) => console.error(String(error)));
