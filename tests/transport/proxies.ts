/**
 * HTTP CONNECT proxies for tests: one that works, and servers that answer what the test says.
 *
 * @module
 */
import { once } from "node:events";
import net from "node:net";
import { until } from "./sockets.ts";

/** What a proxy does with the head of a request; gives whether the connection is to be made. */
export type Answer = (head: string, socket: net.Socket) => boolean | void;

/** A proxy that connects to the port asked for on 127.0.0.1, whatever the name. */
export class TestProxy implements AsyncDisposable {
  /** Heads of the requests. */
  readonly heads: string[] = [];
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;
  port = 0;

  private constructor(answer: Answer) {
    this.#server = net.createServer((socket) => this.#serve(socket, answer));
  }

  static async start(answer: Answer = () => true): Promise<TestProxy> {
    const proxy = new TestProxy(answer);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.port = (proxy.#server.address() as net.AddressInfo).port;
    return proxy;
  }

  /** Connections that are open, on either side. */
  get open(): number {
    return [...this.#sockets].filter((socket) => !socket.closed).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await until(() => this.open === 0, "every connection of the proxy is closed");
  }

  #serve(socket: net.Socket, answer: Answer): void {
    this.#sockets.add(socket.on("error", () => {}));
    let head = "";
    const take = (chunk: Uint8Array) => {
      head += new TextDecoder("latin1").decode(chunk);
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", take);
      this.heads.push(head);
      if (answer(head, socket) === true) this.#connect(head, socket);
      else socket.resume();
    };
    socket.on("data", take);
  }

  #connect(head: string, socket: net.Socket): void {
    const port = Number(/^CONNECT \S+:(\d+) /.exec(head)![1]);
    const onward = net.connect({ host: "127.0.0.1", port });
    this.#sockets.add(onward.on("error", () => socket.destroy()));
    onward.on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
    // What the other side says first goes out with the head of the answer, in one piece.
    const begin = (first: Uint8Array) => {
      onward.off("data", begin);
      clearTimeout(timer);
      const ok = new TextEncoder().encode("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.write(Uint8Array.from([...ok, ...first]));
      onward.pipe(socket);
      socket.pipe(onward);
    };
    const timer = setTimeout(() => begin(new Uint8Array()), 20);
    onward.on("data", begin);
  }
}
