import { assert } from "@std/assert";
import net from "node:net";
import tls from "node:tls";
import { holdBack } from "../../lib/transport/hold_back.ts";
import { Authority } from "./certificates.ts";
import {
  bytes,
  concat,
  frame,
  FrameType,
  grpcRequest,
  headers,
  PREFACE,
  settings,
} from "./frames.ts";
import { SecureServing } from "./secure_serving.ts";
import { messageOf, PATH } from "./serving.ts";
import { until } from "./sockets.ts";

const authority = await Authority.create("Test Authority");
globalThis.addEventListener("unload", () => void authority[Symbol.asyncDispose]());
const server = await authority.issue({ names: "DNS:localhost" });

Deno.test("tls: a client that takes nothing takes a bounded part, goes on when it reads, and can be cut", async () => {
  await using serving = await SecureServing.start(server);
  const raw = net.connect({ port: serving.port, host: "127.0.0.1" });
  const socket = tls.connect({
    socket: raw.on("error", () => {}),
    servername: "localhost",
    ca: authority.cert,
    ALPNProtocols: ["h2"],
  });
  let received = 0;
  const count = (chunk: Uint8Array) => received += chunk.length;
  socket.on("error", () => {});
  const widest = settings(Uint8Array.of(0, 4, 0x7f, 0xff, 0xff, 0xff));
  const huge = frame(FrameType.windowUpdate, 0, 0, Uint8Array.of(0x7f, 0, 0, 0));
  socket.write(concat(PREFACE, widest, huge, headers(1, grpcRequest(PATH))));
  await until(() => serving.streams.length === 1, "the stream is open");
  holdBack(socket, raw);
  socket.pause();
  const stream = serving.streams[0]!;
  const total = 64 * 1024 * 1024;
  const writing = stream.write(messageOf(...Array.from({ length: 64 }, () => bytes(1024 * 1024))));
  writing.catch(() => {});
  await settled(() => stream.progress.taken);
  const taken = stream.progress.taken;
  assert(taken < total / 2, `${taken} bytes taken`);
  socket.on("data", count).resume();
  await until(() => received > taken + 4 * 1024 * 1024, "it goes on", 20_000);
  socket.off("data", count).pause();
  stream.cut("takes nothing");
  await until(() => stream.signal.aborted, "cut");
  socket.destroy();
  await until(() => raw.closed, "closed");
});

/** Waits until a number stays the same for a while. */
async function settled(value: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  await until(
    () => {
      same = value() === last ? same + 1 : 0;
      last = value();
      return last > 0 && same > 40;
    },
    "no more is taken",
    20_000,
  );
}
