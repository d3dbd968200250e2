/**
 * Loopback sockets for tests, and waiting with a limit.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import net from "node:net";

/** Both ends of a connection over loopback; disposing it destroys them. */
export interface SocketPair extends AsyncDisposable {
  /** The end that accepted. */
  readonly near: net.Socket;
  /** The end that connected. */
  readonly far: net.Socket;
}

/** Connects two sockets. The far end may be half-open, as a peer's may. */
export async function socketPair(): Promise<SocketPair> {
  const server = net.createServer({ allowHalfOpen: false });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const far = net.connect({
    port: (server.address() as net.AddressInfo).port,
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  const [near] = await once(server, "connection") as [net.Socket];
  for (const socket of [near, far]) socket.on("error", () => {});
  if (far.connecting) await once(far, "connect");
  server.close();
  return {
    near,
    far,
    async [Symbol.asyncDispose]() {
      near.destroy();
      far.destroy();
      await until(() => near.closed && far.closed, "both ends are closed");
    },
  };
}

/** A raw connection to a port; what comes is collected. */
export class RawPeer implements AsyncDisposable {
  readonly socket: net.Socket;
  readonly #chunks: Buffer[] = [];
  closed = false;

  constructor(port: number, host = "127.0.0.1") {
    this.socket = net.connect({ port, host, allowHalfOpen: true });
    this.socket.on("data", (chunk: Buffer) => this.#chunks.push(chunk));
    this.socket.on("error", () => {});
    this.socket.on("end", () => this.socket.end());
    this.socket.on("close", () => {
      this.closed = true;
    });
  }

  get received(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  async [Symbol.asyncDispose]() {
    this.socket.destroy();
    await until(() => this.closed, "the socket is closed");
  }
}

/** Waits until something holds; throws after 5 seconds. */
export async function until(holds: () => boolean, what: string, limit = 5000): Promise<void> {
  const end = performance.now() + limit;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Milliseconds of a clock that never steps. */
export function now(): number {
  return performance.now();
}
