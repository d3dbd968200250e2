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
}

type ConnectorOf = grpc.ChannelCredentials["_createSecureConnector"];

/** Credentials for plaintext channels: `new grpc.Client(address, gatedCredentials({ now }))`. */
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
    return false;
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
    const { now, limits, hooks } = this.#options;
    return {
      connect: (socket) => {
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
        // grpc-js asks for a net.Socket and uses what a Duplex has
        return Promise.resolve({ socket: gate as unknown as Socket, secure: false });
      },
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials ?? grpc.credentials.createEmpty(),
      destroy: () => {},
    };
  }
}
