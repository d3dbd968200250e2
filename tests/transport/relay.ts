/**
 * A path between a client and a server that can be cut without either of them being told.
 *
 * @module
 */
import { once } from "node:events";
import net from "node:net";
import { until } from "./sockets.ts";

/** Between a client and a server: passes everything on until it goes black, and then nothing, without a word. */
export class Relay implements AsyncDisposable {
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
