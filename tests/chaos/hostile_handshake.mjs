// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * Handshakes with a TLS port that go wrong in every way: node hostile_handshake.mjs --port P --seconds S
 * --seed N --tls FOLDER --strange FOLDER, with the certificate of a client that is let in, and of one
 * that another authority vouches for. Prints a JSON line at the end; exits 1 if the port stopped
 * accepting, or let someone in whom it should not.
 */
import fs from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import { frame, PREFACE, TYPE } from "./http2_frames.mjs";
import { push, RESOURCE_SINK } from "./mcp_messages.mjs";
import { grpcFrame, options, seeded, sleep } from "./random.mjs";

const PARALLEL = 16;
const REFUSED_MEANS_DOWN = 50;
const { port, seconds, seed, tls: folder, strange } = options({
  port: 0,
  seconds: 15,
  seed: 1,
  tls: "",
  strange: "",
});
const random = seeded(seed);
const end = Date.now() + seconds * 1000;
const counts = {};
const seen = { refused: 0, letIn: 0, turnedAway: 0 };

const pairOf = (folder) => ({
  cert: fs.readFileSync(`${folder}/tls.crt`),
  key: fs.readFileSync(`${folder}/tls.key`),
});
const ca = fs.readFileSync(`${folder}/ca.crt`);
const [known, unknown] = [pairOf(folder), pairOf(strange)];

const onError = (error) => {
  if (error?.code === "ECONNREFUSED") seen.refused++;
};

function plain() {
  const localAddress = `127.0.0.${2 + random.below(6)}`;
  const socket = net.connect({ port, host: "127.0.0.1", localAddress });
  return socket.on("error", onError);
}

function secure(more, socket = plain()) {
  return tls.connect({ ca, socket, host: "127.0.0.1", ALPNProtocols: ["h2"], ...more })
    .on("error", onError);
}

/** What a TLS client says first, as bytes; taken from our own, that talks to a wall. */
function clientHello() {
  return new Promise((resolve) => {
    const wall = net.createServer((socket) =>
      socket.once("data", (bytes) => {
        resolve(bytes);
        socket.destroy();
        wall.close();
      }).on("error", () => {})
    );
    wall.listen(0, "127.0.0.1", () => {
      tls.connect({ port: wall.address().port, host: "127.0.0.1", ALPNProtocols: ["h2"] })
        .on("error", () => {});
    });
  });
}
const HELLO = await clientHello();

/** A TLS record. */
const record = (type, body) =>
  Buffer.concat([Buffer.from([type, 3, 3, body.length >> 8, body.length & 255]), body]);

/** Whether a stream of ResourceSink is served on a connection that shows this. */
async function isServed(more) {
  const s = http2.connect(`https://127.0.0.1:${port}`, { createConnection: () => secure(more) });
  s.on("error", onError);
  const stream = s.request({
    ":method": "POST",
    ":path": RESOURCE_SINK,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const answer = new Promise((resolve) => {
    stream.on("data", () => resolve(true));
    stream.on("error", () => resolve(false)).on("close", () => resolve(false));
  });
  stream.write(grpcFrame(push({ collection: "$triggerCollection" })));
  const served = await Promise.race([answer, sleep(2000).then(() => false)]);
  s.destroy();
  return served;
}

async function mustNotServe(more) {
  if (await isServed(more)) seen.letIn++;
  else seen.turnedAway++;
}

async function then(socket, ms = 40) {
  await sleep(random.below(ms));
  if (socket instanceof tls.TLSSocket || random.chance(0.7)) socket.destroy();
  else socket.resetAndDestroy();
}

const ACTS = {
  async halfAHello() {
    const socket = plain();
    socket.write(HELLO.subarray(0, random.below(HELLO.length)));
    await then(socket, 300);
  },
  /** Longer than the port waits. */
  async halfAHelloAndSilence() {
    const socket = plain();
    socket.write(HELLO.subarray(0, 1 + random.below(HELLO.length - 1)));
    await Promise.race([sleep(7000), new Promise((resolve) => socket.on("close", resolve))]);
    socket.destroy();
  },
  async helloAndSilence() {
    const socket = plain();
    socket.write(HELLO);
    await then(socket, 500);
  },
  async helloByByte() {
    const socket = plain();
    for (let i = 0; i < 60 && !socket.destroyed; i++) {
      socket.write(HELLO.subarray(i, i + 1));
      await sleep(2);
    }
    await then(socket);
  },
  async helloTwice() {
    const socket = plain();
    socket.write(Buffer.concat([HELLO, HELLO]));
    await then(socket);
  },
  async changedHello() {
    const socket = plain();
    const bytes = Buffer.from(HELLO);
    for (let i = 0; i < 1 + random.below(8); i++) {
      bytes[random.below(bytes.length)] = random.below(256);
    }
    socket.write(bytes);
    await then(socket);
  },
  async records() {
    const socket = plain();
    for (let i = 0; i < 8 && !socket.destroyed; i++) {
      socket.write(record(20 + random.below(5), random.bytes(random.below(300))));
    }
    await then(socket);
  },
  /** What asks for another handshake, and alerts and key updates nobody can have meant, in the middle of a good one. */
  async recordsAfterTheHandshake() {
    const under = plain();
    const socket = secure(known, under);
    await Promise.race([
      new Promise((resolve) => socket.once("secureConnect", resolve)),
      sleep(500),
    ]);
    socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)]));
    await sleep(random.below(20));
    for (let i = 0; i < 4 && !under.destroyed; i++) {
      under.write(random.pick([
        HELLO,
        record(21, Buffer.from([2, random.below(100)])),
        record(22, Buffer.from([24, 0, 0, 1, 1])),
        record(22, Buffer.from([0, 0, 0, 0])),
        record(23, random.bytes(random.below(2000))),
      ]));
    }
    await then(socket);
  },
  async plaintext() {
    const socket = plain();
    socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)]));
    await then(socket);
  },
  async garbage() {
    const socket = plain();
    socket.write(random.bytes(random.below(2000)));
    await then(socket);
  },
  async garbageWithin() {
    const socket = secure(known);
    socket.write(random.bytes(random.below(2000)));
    await then(socket, 100);
  },
  async noAlpn() {
    const socket = secure({ ...known, ALPNProtocols: [] });
    socket.write(PREFACE);
    await then(socket, 100);
  },
  async otherAlpn() {
    await then(secure({ ...known, ALPNProtocols: ["http/1.1"] }), 100);
  },
  async oldVersion() {
    await then(secure({ ...known, maxVersion: "TLSv1.2", ciphers: "AES128-SHA" }), 100);
  },
  async renegotiation() {
    const socket = secure({ ...known, maxVersion: "TLSv1.2" });
    await Promise.race([
      new Promise((resolve) => socket.once("secureConnect", resolve)),
      sleep(500),
    ]);
    for (let i = 0; i < 5 && !socket.destroyed; i++) socket.renegotiate({}, () => {});
    await then(socket, 100);
  },
  otherAuthority: () => mustNotServe(unknown),
  noCertificate: () => mustNotServe({}),
  /** A good connection that vanishes, after a while or at once. */
  async vanish() {
    const socket = secure(known);
    if (random.chance(0.5)) socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)]));
    await then(socket, 80);
  },
};

const names = Object.keys(ACTS);
async function worker() {
  while (Date.now() < end && seen.refused < REFUSED_MEANS_DOWN) {
    const name = random.pick(names);
    counts[name] = (counts[name] ?? 0) + 1;
    await ACTS[name]();
  }
}
await Promise.all(Array.from({ length: PARALLEL }, worker));
const served = await isServed(known); // else nothing above would prove a thing
const actions = Object.values(counts).reduce((sum, n) => sum + n, 0);
console.log(JSON.stringify({ seed, actions, served, ...seen, counts }));
process.exit(served && seen.letIn === 0 && seen.refused < REFUSED_MEANS_DOWN ? 0 : 1);
