import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { secureClient } from "../../lib/transport/client_tls.ts";
import { shakeHands } from "../../lib/transport/server_handshake.ts";
import { Authority } from "./certificates.ts";
import { bytes } from "./frames.ts";
import { until } from "./sockets.ts";

const authority = await Authority.create("Test Authority");
globalThis.addEventListener("unload", () => void authority[Symbol.asyncDispose]());
const server = await authority.issue({ names: "DNS:localhost" });
const material = { ca: authority.cert, serverName: "localhost" };

/** Both ends of a connection, secured as a listener and a dial-out do it. */
class Pair implements AsyncDisposable {
  readonly raw: readonly [net.Socket, net.Socket];
  readonly near: net.Socket;
  readonly far: net.Socket;

  private constructor(raw: readonly [net.Socket, net.Socket], near: net.Socket, far: net.Socket) {
    this.raw = raw;
    this.near = near;
    this.far = far;
  }

  static async open(): Promise<Pair> {
    const listener = net.createServer();
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const out = net.connect({
      host: "127.0.0.1",
      port: (listener.address() as net.AddressInfo).port,
    });
    const [into] = await once(listener, "connection") as [net.Socket];
    listener.close();
    const policy = { certificate: "require", allow: [], now: Date.now } as const;
    const [{ socket: near }, far] = await Promise.all([
      shakeHands(into.on("error", () => {}), server, policy),
      secureClient(out.on("error", () => {}), material, AbortSignal.timeout(5000)),
    ]);
    return new Pair([into, out], near, far);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.near.destroy();
    this.far.destroy();
    for (const socket of this.raw) socket.destroy();
    await until(() => this.raw.every(({ closed }) => closed), "both ends are closed");
  }
}

const LARGE = 16 * 1024 * 1024;

for (const side of ["listener", "dial-out"]) {
  Deno.test(`tls: a ${side} that is paused reads no more, and goes on where it stopped`, async () => {
    await using pair = await Pair.open();
    const [reader, writer] = side === "listener" ? [pair.near, pair.far] : [pair.far, pair.near];
    const raw = pair.raw[side === "listener" ? 0 : 1];
    const sent = bytes(LARGE, 7);
    const hash = createHash("sha256");
    let received = 0;
    let holding = true;
    reader.on("data", (chunk: Uint8Array) => {
      hash.update(chunk);
      received += chunk.length;
      if (holding) reader.pause();
    });
    writer.write(sent);
    await settled(() => raw.bytesRead);
    assert(raw.bytesRead < LARGE / 4, `${raw.bytesRead} bytes were read`);
    for (let turn = 0; turn < 10; turn++) { // a little at a time
      const before = received;
      reader.resume();
      await until(() => received > before, "it goes on");
    }
    holding = false;
    reader.resume();
    await until(() => received === LARGE, "all came", 20_000);
    assertEquals(hash.digest("hex"), createHash("sha256").update(sent).digest("hex"));
  });
}

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
    "no more is read",
    20_000,
  );
}
