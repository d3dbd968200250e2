/**
 * Channel credentials that put a gate below grpc-js's client: the road that its own TLS takes.
 *
 * @module
 */
import type { Socket } from "node:net";
import * as grpc from "@grpc/grpc-js";
import type { FrameLimits, Violation } from "./frame_rules.ts";
import type { DrainNotice } from "./frame_scanner.ts";
import { Gate } from "./gate.ts";

/** Told how connections fare. None of it may throw. */
export interface ChannelHooks {
  /** A connection stands; HTTP/2 begins. */
  connected?(gate: Gate): void;
  /** A connection came to nothing before HTTP/2 began; grpc-js may try another address. */
  failed?(error: unknown): void;
  /** The server said GOAWAY. The connection is closed, and grpc-js opens another for the next call. */
  drain?(notice: DrainNotice): void;
  /** The server broke the rules of HTTP/2; the connection is destroyed. */
  violation?(violation: Violation): void;
}

/** How a channel's connections are made. */
export interface GatedCredentialsOptions {
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  readonly limits?: FrameLimits;
  readonly hooks?: ChannelHooks;
  /** What lies between a fresh connection and HTTP/2: a proxy, TLS. Rejects where that fails. Absent: nothing. */
  readonly prepare?: (socket: Socket) => Promise<Socket>;
  /** Whether what `prepare` gives is secure. Default false. */
  readonly secure?: boolean;
}

type ConnectorOf = grpc.ChannelCredentials["_createSecureConnector"];

/** Credentials for channels: `new grpc.Client(address, gatedCredentials({ now }))`. */
export function gatedCredentials(options: GatedCredentialsOptions): grpc.ChannelCredentials {
  return new GatedCredentials(options);
}

class GatedCredentials extends grpc.ChannelCredentials {
  readonly #options: GatedCredentialsOptions;

  constructor(options: GatedCredentialsOptions) {
    super();
    this.#options = options;
  }

  override _isSecure(): boolean {
    return this.#options.secure ?? false;
  }

  /** Never shared: each channel has hooks of its own. */
  override _equals(other: grpc.ChannelCredentials): boolean {
    return other === this;
  }

  override compose(): never {
    throw new TypeError("call credentials must not travel in plaintext");
  }

  override _createSecureConnector(
    ...[, , callCredentials]: Parameters<ConnectorOf>
  ): ReturnType<ConnectorOf> {
    const { secure = false } = this.#options;
    return {
      connect: async (socket) => {
        const gate = this.#gate(await this.#prepare(socket));
        // grpc-js asks for a net.Socket and uses what a Duplex has
        return { socket: gate as unknown as Socket, secure };
      },
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials ?? grpc.credentials.createEmpty(),
      destroy: () => {},
    };
  }

  async #prepare(socket: Socket): Promise<Socket> {
    const { prepare, hooks } = this.#options;
    try {
      return prepare === undefined ? socket : await prepare(socket);
    } catch (error) {
      hooks?.failed?.(error);
      throw error;
    }
  }

  #gate(socket: Socket): Gate {
    const { now, limits, hooks } = this.#options;
    const gate = new Gate(socket, {
      side: "client",
      now,
      ...(limits === undefined ? {} : { limits }),
      hooks: {
        drain: (notice) => hooks?.drain?.(notice),
        violation: (violation) => hooks?.violation?.(violation),
      },
    });
    hooks?.connected?.(gate);
    return gate;
  }
}
