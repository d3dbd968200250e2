// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * A structured HTTP/2 frame fuzzer: a valid start, then random frames of every type, flag, stream and
 * length, some cut in two. node frame_fuzz.mjs --port P --path M --seconds S --seed N.
 * Prints a JSON line at the end; exits 1 if the server stopped accepting.
 */
import net from "node:net";
import { frame, PREFACE, randomSettings, requestHeaders, TYPE } from "./http2_frames.mjs";
import { grpcFrame, options, seeded, sleep } from "./random.mjs";

const PARALLEL = 12;
const REFUSED_MEANS_DOWN = 20;
const { port, path, seconds, seed } = options({
  port: 0,
  path: "/t.T/Stream",
  seconds: 15,
  seed: 1,
});
const random = seeded(seed);
const end = Date.now() + seconds * 1000;
const totals = { connections: 0, frames: 0, refused: 0 };
const HEADERS = requestHeaders(path);

/** Makes frames of one connection; `next` is its next unused stream. */
function makers(state) {
  const some = () =>
    Math.max(0, random.pick([0, 1, state.next, state.next - 2, 2, 3, 2 ** 31 - 1]));
  const opened = () => {
    const id = state.next;
    state.next += 2;
    return id;
  };
  return [
    () => frame(TYPE.headers, 4 | random.below(2), opened(), HEADERS),
    () =>
      frame(
        TYPE.data,
        random.below(2) | (random.chance(0.1) ? 8 : 0),
        some(),
        random.chance(0.7)
          ? grpcFrame(Buffer.alloc(random.below(50)))
          : random.bytes(random.below(80)),
      ),
    () => frame(TYPE.reset, 0, some(), Buffer.from([0, 0, 0, random.below(14)])),
    () =>
      frame(
        TYPE.window,
        0,
        some(),
        Buffer.from([random.chance(0.3) ? 127 : 0, ...random.bytes(3)]),
      ),
    () => frame(TYPE.settings, random.below(2), 0, randomSettings(random, random.below(4))),
    () =>
      frame(
        TYPE.ping,
        random.below(2),
        random.chance(0.8) ? 0 : some(),
        random.bytes(random.chance(0.8) ? 8 : random.below(12)),
      ),
    () => frame(TYPE.priority, 0, some(), random.bytes(random.chance(0.8) ? 5 : random.below(8))),
    () =>
      frame(TYPE.goaway, 0, random.chance(0.7) ? 0 : some(), random.bytes(8 + random.below(10))),
    () =>
      frame(
        TYPE.continuation,
        random.below(2) * 4,
        some(),
        random.chance(0.5) ? HEADERS : random.bytes(random.below(30)),
      ),
    () => frame(TYPE.push, 4, some(), random.bytes(4 + random.below(20))),
    () =>
      frame(
        TYPE.headers,
        random.below(256),
        random.chance(0.5) ? opened() : some(),
        random.chance(0.5) ? HEADERS : random.bytes(random.below(60)),
      ),
    () => frame(10 + random.below(200), random.below(256), some(), random.bytes(random.below(60))),
    () => {
      const id = opened();
      return Buffer.concat([
        frame(TYPE.headers, 4, id, HEADERS),
        frame(TYPE.reset, 0, id, Buffer.from([0, 0, 0, 8])),
      ]);
    },
    () => {
      const id = opened();
      return Buffer.concat([
        frame(TYPE.headers, 0, id, HEADERS.subarray(0, 10)),
        frame(TYPE.continuation, 4, id, HEADERS.subarray(10)),
      ]);
    },
  ];
}

async function feed(socket, over) {
  totals.connections++;
  socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0), frame(TYPE.settings, 1, 0)]));
  const make = makers({ next: 1 });
  const count = 5 + random.below(60);
  for (let i = 0; i < count && !over(); i++) {
    const bytes = random.pick(make)();
    totals.frames++;
    if (random.chance(0.25)) {
      socket.write(bytes.subarray(0, 3));
      await sleep(1);
      socket.write(bytes.subarray(3));
    } else socket.write(bytes);
    if (random.chance(0.15)) await sleep(random.below(8));
  }
  const ending = random.below(4);
  if (ending < 2) await sleep(random.below(30));
  else if (ending === 2) socket.resetAndDestroy();
}

function connection() {
  return new Promise((resolve) => {
    let done = false;
    const socket = net.connect(port, "127.0.0.1");
    const finish = () => {
      if (done) return;
      done = true;
      socket.destroy();
      resolve();
    };
    socket.on("data", () => {});
    socket.on("close", finish);
    socket.on("error", (error) => {
      if (error.code === "ECONNREFUSED") totals.refused++;
      finish();
    });
    setTimeout(finish, 300 + random.below(500));
    socket.on("connect", () => feed(socket, () => done).then(finish, finish));
  });
}

await Promise.all(Array.from({ length: PARALLEL }, async () => {
  while (Date.now() < end && totals.refused < REFUSED_MEANS_DOWN) await connection();
}));
console.log(JSON.stringify({ seed, ...totals }));
process.exit(totals.refused >= REFUSED_MEANS_DOWN ? 1 : 0);
