// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * A ResourceSink that answers well and then fails in every way: node hostile_sink.mjs --port P --seed N.
 * Speaks raw frames, so that it can also send what no library would. Prints a JSON line a session when
 * the session is over: how it failed, when, and whether the other side could see it.
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
import { grpcFrame, options, seeded } from "./random.mjs";

const { port, seed } = options({ port: 0, seed: 1 });
const random = seeded(seed);
const COLLECTION = "istio/networking/v1alpha3/serviceentries";
/** RequestResources{collection}. */
const REQUEST = grpcFrame(Buffer.from([0x12, COLLECTION.length, ...Buffer.from(COLLECTION)]));

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
    this.send(TYPE.settings, 0, 0);
  }

  send(type, flags, stream, body) {
    if (!this.socket.destroyed) this.socket.write(frame(type, flags, stream, body));
  }

  failed(how, visible) {
    this.#failure = { how, visible, failedAt: Date.now() };
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
    this.send(TYPE.data, 0, stream, REQUEST);
    setTimeout(() => this.#fail(), 20 + random.below(300));
  }

  #fail() {
    const how = random.pick(Object.keys(FAILURES));
    this.failed(how, FAILURES[how].visible);
    FAILURES[how].act(this);
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
