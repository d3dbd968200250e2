/**
 * Servers behind TLS, and dialling them as a target.
 *
 * @module
 */
import { assertEquals, assertRejects } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { DialError } from "../../lib/transport/dial.ts";
import { type DialTarget, dialTarget } from "../../lib/transport/dial_target.ts";
import { listen, type Listener } from "../../lib/transport/listener.ts";
import { PushServer } from "../../lib/transport/server.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { TlsServer } from "../../lib/transport/tls_server.ts";
import { type Pair, TempFolder } from "./certificates.ts";
import { bytes } from "./frames.ts";
import { messageOf, PATH } from "./serving.ts";
import { now, until } from "./sockets.ts";

/** A push server behind TLS. */
export class SecureServing implements AsyncDisposable {
  readonly streams: PushStream[] = [];
  readonly folder: TempFolder;
  readonly security: TlsServer;
  readonly #server: PushServer;
  readonly #listener: Listener;

  private constructor(
    folder: TempFolder,
    security: TlsServer,
    server: PushServer,
    listener: Listener,
  ) {
    this.folder = folder;
    this.security = security;
    this.#server = server;
    this.#listener = listener;
  }

  static async start(
    material: Partial<Pair> & { readonly ca?: string },
  ): Promise<SecureServing> {
    const folder = await (await TempFolder.create()).writeTls(material);
    const security = await TlsServer.open({
      files: { kind: "folder", folder: folder.path },
      poll: 20,
    });
    const server = new PushServer({ now });
    const listener = await listen({ host: "127.0.0.1", port: 0 }, server, {
      now,
      secure: security.secure,
    });
    const serving = new SecureServing(folder, security, server, listener);
    server.addStream(PATH, (stream) => {
      serving.streams.push(stream);
      stream.onRequest((request) => void stream.write(messageOf(request)));
    });
    return serving;
  }

  get port(): number {
    return this.#listener.address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
    await this.security[Symbol.asyncDispose]();
    await until(() => this.#server.connections === 0, "every connection is closed");
    await this.folder[Symbol.asyncDispose]();
  }
}

/** A TLS server of the runtime that only shakes hands. */
export class Secured implements AsyncDisposable {
  readonly #server: tls.Server;
  readonly sockets: tls.TLSSocket[] = [];

  private constructor(options: tls.TlsOptions) {
    this.#server = tls.createServer({ ALPNProtocols: ["h2"], ...options });
    this.#server.on("tlsClientError", () => {});
    this.#server.on("secureConnection", (socket) => {
      this.sockets.push(socket.on("error", () => {}));
    });
  }

  static async start(options: tls.TlsOptions): Promise<Secured> {
    const secured = new Secured(options);
    secured.#server.listen(0, "127.0.0.1");
    await once(secured.#server, "listening");
    return secured;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await until(() => this.sockets.every((socket) => socket.closed), "every socket is closed");
  }
}

/** Dials 127.0.0.1 as `sink.example`. */
export function dial(
  port: number,
  target: Partial<DialTarget> = {},
  signal: AbortSignal = AbortSignal.timeout(10_000),
): Promise<PushStream> {
  const whole = { host: "sink.example", port, headers: {}, ...target };
  const address = target.proxy === undefined ? { host: "127.0.0.1" } : {};
  return dialTarget(whole, address, PATH, { signal, now });
}

export async function reasonOf(attempt: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => attempt, DialError);
  return error.message;
}

/** Why there is no stream, or, where one was opened before the server had its say, why it ended. */
export async function fateOf(attempt: Promise<PushStream>): Promise<string> {
  try {
    const stream = await attempt;
    await until(() => stream.signal.aborted, "the stream is over");
    return stream.failure ?? "";
  } catch (error) {
    if (error instanceof DialError) return error.message;
    throw error;
  }
}

/** Says something on the stream and waits until it comes back. */
export async function echo(stream: PushStream, length = 300_000): Promise<void> {
  const answers: Uint8Array[] = [];
  stream.onRequest((answer) => answers.push(answer));
  await stream.write(messageOf(bytes(length)));
  await until(() => answers.length === 1, "the answer came");
  assertEquals(Uint8Array.from(answers[0]!), bytes(length));
}

export async function files(
  material: Partial<Pair> & { readonly ca?: string },
): Promise<{ readonly folder: TempFolder; readonly tls: NonNullable<DialTarget["tls"]> }> {
  const folder = await (await TempFolder.create()).writeTls(material);
  return { folder, tls: { files: { kind: "folder", folder: folder.path } } };
}
