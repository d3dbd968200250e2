/**
 * The one place that reaches into grpc-js: its server with the HTTP/2 stream below each call, and the
 * gate below each stream. `createHttp2Server` is private (1.14.7); a test fails when it changes.
 *
 * @module
 */
import type { Http2Server, Http2Session, ServerHttp2Stream } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import type { Gate } from "./gate.ts";
import { tidyHeaders } from "./tidy_headers.ts";

/** What lies below a call. */
export interface Below {
  readonly stream: ServerHttp2Stream;
  readonly gate: Gate;
}

/** grpc-js has other insides than this version of Pinnace was made for. */
export class GrpcInternalsError extends Error {
  override readonly name = "GrpcInternalsError";
}

/** A grpc-js server that gets its connections from gates. */
export class HookedServer {
  readonly server: grpc.Server;
  readonly #injector: grpc.ConnectionInjector;
  readonly #gates = new WeakMap<Http2Session, Gate>();
  #injecting: Gate | undefined;
  #opening: ServerHttp2Stream | undefined;

  constructor(options: grpc.ServerOptions) {
    this.server = new grpc.Server(options);
    let hooked = false;
    const internals = this.server as unknown as {
      createHttp2Server?(credentials: grpc.ServerCredentials): Http2Server;
    };
    const create = internals.createHttp2Server?.bind(this.server);
    internals.createHttp2Server = (credentials) => {
      if (create === undefined) throw new GrpcInternalsError("grpc-js has no createHttp2Server");
      hooked = true;
      return this.#hook(create(credentials));
    };
    this.#injector = this.server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
    if (!hooked) throw new GrpcInternalsError("grpc-js makes its HTTP/2 server in another way");
  }

  /** Starts an HTTP/2 session on a gate whose preface is complete. */
  inject(gate: Gate): void {
    this.#injecting = gate;
    try {
      this.#injector.injectConnection(gate);
    } finally {
      this.#injecting = undefined;
    }
  }

  /** What lies below the call that is being opened; to be called in its handler, synchronously. */
  below(): Below {
    const stream = this.#opening;
    const gate = stream?.session && this.#gates.get(stream.session);
    if (stream === undefined || gate === undefined) {
      throw new GrpcInternalsError("grpc-js opens calls in another way");
    }
    return { stream, gate };
  }

  /** Forgets everything; connections must be closed before. */
  close(): void {
    this.#injector.destroy();
    this.server.forceShutdown();
  }

  /** Events come synchronously: the session with its connection, the call with its stream. */
  #hook(server: Http2Server): Http2Server {
    server.prependListener("session", (session) => {
      const gate = this.#injecting;
      if (gate === undefined) return;
      this.#gates.set(session, gate);
      // The runtime does not end every session whose transport is gone; its keepalive would hold it.
      gate.once("close", () => session.destroy());
    });
    server.prependListener("stream", (stream) => {
      this.#opening = stream as ServerHttp2Stream; // as `on` has it; the types of prependListener are older
      tidyHeaders(this.#opening);
    });
    server.on("stream", () => {
      this.#opening = undefined;
    });
    return server;
  }
}
