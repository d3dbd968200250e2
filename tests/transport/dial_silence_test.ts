import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import { dialStream, type Ping } from "../../lib/transport/dial.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { messageOf, PATH, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

/** Between a client and a server: passes everything on until it goes black, and then nothing, without a word. */
class Relay implements AsyncDisposable {
  black = false;
  /** HTTP/2 PINGs of the client that came here, ACKs not among them. */
  pings = 0;
  port = 0;
  readonly #sockets: net.Socket[] = [];
  readonly #server: net.Server;

  private constructor(to: number) {
    this.#server = net.createServer((near) => {
      const far = net.connect(to, "127.0.0.1");
      for (const [from, into] of [[near, far], [far, near]] as const) {
        this.#sockets.push(from);
        from.on("error", () => {}).on("close", () => this.black || into.destroy());
        from.on("data", (chunk: Uint8Array) => {
          // One is 8 bytes of a frame of type 6 on stream 0; this client writes it by itself.
          if (from === near && chunk.length === 17 && chunk[3] === 6 && chunk[4] === 0) {
            this.pings++;
          }
          if (!this.black) into.write(chunk);
        });
      }
    });
  }

  static async start(to: number): Promise<Relay> {
    const relay = new Relay(to);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    relay.port = (relay.#server.address() as net.AddressInfo).port;
    return relay;
  }

  async [Symbol.asyncDispose]() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await until(() => this.#sockets.every((socket) => socket.closed), "every socket is closed");
  }
}

function dial(port: number, ping: Ping): Promise<PushStream> {
  return dialStream({ host: "127.0.0.1", port }, PATH, {
    metadata: {},
    signal: new AbortController().signal,
    now,
    ping,
  });
}

Deno.test("dial: a path that goes black is noticed, though neither side has anything to say", async () => {
  await using serving = await Serving.start((stream) =>
    stream.onRequest((request) => void stream.write(messageOf(request)))
  );
  await using relay = await Relay.start(serving.port);
  const stream = await dial(relay.port, { every: 100, within: 400 });
  await stream.write(messageOf(new Uint8Array(3)));
  await until(() => relay.pings >= 3, "signs of life are asked for");
  assertEquals(stream.signal.aborted, false);
  relay.black = true;
  await until(() => stream.signal.aborted, "it is noticed");
  assertEquals(stream.failure, "the server gave no sign of life within 0.4 s of being asked");
});

Deno.test("dial: a server that is alive and says nothing is left alone", async () => {
  await using serving = await Serving.start((stream) => stream.onRequest(() => {}));
  await using relay = await Relay.start(serving.port);
  const stream = await dial(relay.port, { every: 50, within: 2000 });
  await until(() => relay.pings >= 10, "it was asked again and again");
  assert(!stream.signal.aborted);
  stream.end({ code: "CANCELLED", message: "enough" });
});
