/**
 * A push server on a loopback port, and ordinary grpc-js clients for it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import { listen, type Listener, type ListenOptions } from "../../lib/transport/listener.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { PushServer, type PushServerOptions } from "../../lib/transport/server.ts";
import type { Message } from "../../lib/wire/compose.ts";
import { now, until } from "./sockets.ts";

/** The method that {@link Serving} serves. */
export const PATH = "/test.Service/Stream";

/** A server with one streaming method; every stream opened is kept. */
export class Serving implements AsyncDisposable {
  readonly server: PushServer;
  readonly streams: PushStream[] = [];
  readonly listener: Listener;

  private constructor(server: PushServer, listener: Listener, streams: PushStream[]) {
    this.server = server;
    this.listener = listener;
    this.streams = streams;
  }

  static async start(
    opened: (stream: PushStream) => void = () => {},
    options: Partial<PushServerOptions & Pick<ListenOptions, "limits" | "hooks">> = {},
  ): Promise<Serving> {
    const server = new PushServer({ now, ...options });
    const streams: PushStream[] = [];
    server.addStream(PATH, (stream) => {
      streams.push(stream);
      opened(stream);
    });
    const { limits, hooks } = options;
    const listener = await listen({ host: "127.0.0.1", port: 0 }, server, {
      now,
      ...(limits === undefined ? {} : { limits }),
      ...(hooks === undefined ? {} : { hooks }),
    });
    return new Serving(server, listener, streams);
  }

  get port(): number {
    return this.listener.address.port;
  }

  async [Symbol.asyncDispose]() {
    await this.listener[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await until(() => this.server.connections === 0, "every connection is closed");
  }
}

/** An ordinary client. */
export class Caller implements AsyncDisposable {
  readonly client: grpc.Client;

  constructor(port: number, options: grpc.ClientOptions = {}) {
    this.client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.max_receive_message_length": -1,
      ...options,
    });
  }

  /** Opens a stream. */
  call(path = PATH, metadata = new grpc.Metadata()): Call {
    return new Call(this.client.makeBidiStreamRequest(path, buffer, buffer, metadata));
  }

  /** A call with one request and one response. */
  unary(path: string, request: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.client.makeUnaryRequest(path, buffer, buffer, request, (error, response) => {
        if (error === null) resolve(response!);
        else reject(error);
      });
    });
  }

  [Symbol.asyncDispose]() {
    this.client.close();
    return Promise.resolve();
  }
}

/** A stream as its client sees it. */
export class Call {
  readonly raw: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly received: Uint8Array[] = [];
  /** How it ended. */
  status: { readonly code: number; readonly details: string } | undefined;

  constructor(raw: grpc.ClientDuplexStream<Uint8Array, Uint8Array>) {
    this.raw = raw;
    raw.on("error", () => {}); // "status" says the same
    raw.on("status", ({ code, details }) => {
      this.status = { code, details };
    });
    raw.on("data", (message: Uint8Array) => this.received.push(message));
  }

  send(message: Uint8Array | string): this {
    this.raw.write(typeof message === "string" ? new TextEncoder().encode(message) : message);
    return this;
  }

  async ended(): Promise<{ readonly code: number; readonly details: string }> {
    await until(() => this.status !== undefined, "the call has ended", 10_000);
    return this.status!;
  }
}

/** A message of these pieces. */
export function messageOf(...pieces: readonly Uint8Array[]): Message {
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

function buffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}
