// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * Clients that behave as badly as HTTP/2 lets them: node abuse.mjs --port P --path M --seconds S --seed N.
 * Prints a JSON line at the end; exits 1 if the server stopped accepting.
 */
import http2 from "node:http2";
import net from "node:net";
import { PREFACE } from "./http2_frames.mjs";
import { grpcFrame, options, seeded, sleep } from "./random.mjs";

const PARALLEL = 24;
const REFUSED_MEANS_DOWN = 50;
const { port, path, seconds, seed } = options({
  port: 0,
  path: "/t.T/Stream",
  seconds: 15,
  seed: 1,
});
const random = seeded(seed);
const end = Date.now() + seconds * 1000;
let refused = 0;
const counts = {};
const message = grpcFrame(Buffer.from("x"));

const onError = (error) => {
  if (error?.code === "ECONNREFUSED") refused++;
};
process.on("uncaughtException", onError);

function session() {
  const s = http2.connect(`http://127.0.0.1:${port}`);
  s.on("error", onError);
  return s;
}

function connected(s) {
  return new Promise((resolve) => s.once("connect", resolve).once("error", resolve));
}

function open(s, headers = {}) {
  const stream = s.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

function openMany(s, count) {
  return Array.from({ length: count }, () => {
    const stream = open(s);
    stream.resume();
    stream.write(message);
    return stream;
  });
}

function raw(...chunks) {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", onError);
  for (const chunk of chunks) socket.write(chunk);
  return socket;
}

const ACTS = {
  async ordinary() {
    const s = session();
    const [stream] = openMany(s, 1);
    for (let i = 0; i < 5; i++) {
      stream.write(message);
      await sleep(random.below(30));
    }
    stream.end();
    await sleep(50);
    s.close();
  },
  async vanishWithOpenStreams() {
    const s = session();
    openMany(s, 5);
    await sleep(random.below(120));
    s.destroy();
  },
  async goawayWithOpenStreams() {
    const s = session();
    openMany(s, 4);
    await sleep(random.below(80));
    s.goaway(random.below(3), 0);
    await sleep(random.below(60));
    s.destroy();
  },
  async cancel() {
    const s = session();
    for (const stream of openMany(s, 8)) setTimeout(() => stream.close(8), random.below(60));
    await sleep(100);
    s.close();
  },
  async rapidReset() {
    const s = session();
    for (let i = 0; i < 60; i++) open(s).close(8);
    await sleep(50);
    s.destroy();
  },
  async readNothing() {
    const s = session();
    const stream = open(s);
    stream.pause();
    stream.write(message);
    await sleep(600);
    s.destroy();
  },
  async halfAMessage() {
    const s = session();
    const stream = open(s);
    stream.resume();
    stream.write(grpcFrame(Buffer.alloc(1000)).subarray(0, 5));
    await sleep(random.below(40));
    stream.end();
    await sleep(30);
    s.close();
  },
  async hugeLengthPrefix() {
    const s = session();
    const stream = open(s);
    stream.resume();
    stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    await sleep(60);
    s.close();
  },
  async garbageAfterPreface() {
    const socket = raw(PREFACE, random.bytes(random.below(500)));
    await sleep(30);
    socket.destroy();
  },
  async garbage() {
    const socket = raw(random.bytes(random.below(500)));
    await sleep(30);
    socket.destroy();
  },
  async settingsFlood() {
    const s = session();
    await connected(s);
    for (let i = 0; i < 20; i++) s.settings({ initialWindowSize: 1000 + random.below(70000) });
    openMany(s, 1);
    await sleep(60);
    s.destroy();
  },
  async pings() {
    const s = session();
    await connected(s);
    for (let i = 0; i < 8; i++) s.ping(() => {});
    await sleep(40);
    s.close();
  },
  async resetSocket() {
    const socket = raw();
    await sleep(5);
    socket.resetAndDestroy();
  },
  async unknownMethod() {
    const s = session();
    const stream = open(s, { ":path": "/nope/Nope" });
    stream.resume();
    stream.end();
    await sleep(30);
    s.close();
  },
  async plainGet() {
    const s = session();
    const stream = s.request({ ":method": "GET", ":path": "/" });
    stream.on("error", () => {});
    stream.resume();
    stream.end();
    await sleep(30);
    s.close();
  },
};

const names = Object.keys(ACTS);
async function worker() {
  while (Date.now() < end && refused < REFUSED_MEANS_DOWN) {
    const name = random.pick(names);
    counts[name] = (counts[name] ?? 0) + 1;
    try {
      await ACTS[name]();
    } catch (error) {
      onError(error);
    }
  }
}
await Promise.all(Array.from({ length: PARALLEL }, worker));
const actions = Object.values(counts).reduce((sum, n) => sum + n, 0);
console.log(JSON.stringify({ seed, actions, refused, counts }));
process.exit(refused >= REFUSED_MEANS_DOWN ? 1 : 0);
