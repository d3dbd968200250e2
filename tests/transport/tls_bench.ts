/**
 * A port behind TLS, and what its clients see.
 *
 * @module
 */
import net from "node:net";
import tls from "node:tls";
import type { Gate } from "../../lib/transport/gate.ts";
import { listen, type Listener, type ListenOptions } from "../../lib/transport/listener.ts";
import {
  type TlsProblem,
  TlsServer,
  type TlsServerOptions,
} from "../../lib/transport/tls_server.ts";
import { Authority, type Pair, TempFolder } from "./certificates.ts";
import { PREFACE } from "./frames.ts";
import { now, until } from "./sockets.ts";

/** Vouches for everybody in these tests. */
export const authority = await Authority.create("Test Authority");

/** Vouches for nobody. */
export const stranger = await Authority.create("Other Authority");

globalThis.addEventListener("unload", () => {
  void authority[Symbol.asyncDispose]();
  void stranger[Symbol.asyncDispose]();
});

/** What the port shows. */
export const server = await authority.issue({ names: "DNS:localhost" });

/** What a client shows. */
export const client = await authority.issue({
  names: "URI:spiffe://example.org/ns/edge/sa/fra, DNS:Edge.example",
});

/** The files of a port that asks its clients for certificates. */
export const mutual = { ...server, ca: authority.cert };

/** A listener with TLS whose connections go nowhere, and everything it said. */
export class Bench implements AsyncDisposable {
  readonly said: string[] = [];
  readonly gates: Gate[] = [];
  readonly problems: (TlsProblem | undefined)[] = [];
  rotations = 0;
  readonly folder: TempFolder;
  readonly security: TlsServer;
  readonly #listener: Listener;

  private constructor(folder: TempFolder, security: TlsServer, listener: Listener) {
    this.folder = folder;
    this.security = security;
    this.#listener = listener;
  }

  static async open(
    material: Partial<Pair> & { readonly ca?: string },
    options: Partial<TlsServerOptions & ListenOptions> = {},
  ): Promise<Bench> {
    const folder = await (await TempFolder.create()).writeTls(material);
    const later: { bench?: Bench } = {};
    const security = await TlsServer.open({
      files: { kind: "folder", folder: folder.path },
      poll: 20,
      settle: 100,
      onProblem: (problem) => later.bench?.problems.push(problem),
      onRotated: () => later.bench && later.bench.rotations++,
      ...options,
    });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, {
      inject: (gate) => void later.bench?.gates.push(gate),
    }, {
      now,
      secure: security.secure,
      hooks: {
        refused: (reason, _, detail) => void later.bench?.said.push(`${reason}: ${detail}`),
        violation: ({ reason }) => void later.bench?.said.push(`violation ${reason}`),
      },
      ...options,
    });
    return later.bench = new Bench(folder, security, listener);
  }

  get port(): number {
    return this.#listener.address.port;
  }

  /** A client that sends the preface once its handshake is done. */
  dial(options: tls.ConnectionOptions = {}): Client {
    return new Client(this.port, authority.cert, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.security[Symbol.asyncDispose]();
    for (const gate of this.gates) gate.destroy();
    await until(() => this.gates.every((gate) => gate.closed), "every gate is closed");
    await this.folder[Symbol.asyncDispose]();
  }
}

/** A TLS client. */
export class Client implements AsyncDisposable {
  readonly socket: tls.TLSSocket;
  received = "";
  error = "";
  closed = false;

  constructor(port: number, ca: string, options: tls.ConnectionOptions) {
    const raw = net.connect({ port, host: "127.0.0.1" });
    raw.on("error", () => {});
    this.socket = tls.connect({
      socket: raw,
      servername: "localhost",
      ca,
      ALPNProtocols: ["h2"],
      ...options,
    });
    this.socket.once("secureConnect", () => this.socket.write(PREFACE));
    this.socket.on("data", (data) => this.received += data.toString("latin1"));
    this.socket.on("error", (error) => this.error = error.message);
    this.socket.on("close", () => this.closed = true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await until(() => this.closed, "the client is closed");
  }
}
