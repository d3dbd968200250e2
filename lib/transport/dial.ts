/**
 * Dial-out: one bidirectional stream on a channel of its own.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import type { NetConnectOpts, Socket } from "node:net";
import { formatHostPort } from "../model/host_port.ts";
import { type ClientTlsMaterial, explainTls, secureClient } from "./client_tls.ts";
import { connectThrough, type Proxy } from "./connect_proxy.ts";
import { gatedCredentials } from "./credentials.ts";
import { drainReason, failureOf, violationReason } from "./dial_failure.ts";
import type { FrameLimits } from "./frame_rules.ts";
import type { Gate } from "./gate.ts";
import { asBuffer, readMetadata, writeMetadata } from "./grpc_bytes.ts";
import { ClientWire, CLOSING } from "./dial_wire.ts";
import { PieceStream } from "./piece_stream.ts";
import type { PushStream } from "./push_stream.ts";
import { connectTcp } from "./tcp.ts";
import { unframedClient } from "./unframed_client.ts";

/** Where to dial. */
export interface DialAddress {
  /** IP address or name; one channel dials one of the addresses behind a name. */
  readonly host: string;
  readonly port: number;
}

/** How to dial. */
export interface DialOptions {
  /** Sent along with the call; binary values (keys in `-bin`) as base64. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Ends the attempt, or the stream that came of it. */
  readonly signal: AbortSignal;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Largest message of the peer. Bytes. Default 16 MiB. */
  readonly maxReceive?: number;
  readonly limits?: FrameLimits;
  /** Default: every 310 s, within 60 s. A server that gives none has failed. */
  readonly ping?: Ping;
  /** Whom we mean: what the server is told as `:authority`. Default: the address. */
  readonly authority?: DialAddress;
  /** Absent: plaintext. */
  readonly tls?: ClientTlsMaterial;
  /** Dialled in place of the address, and asked for a connection to it. */
  readonly proxy?: Proxy;
}

/** A stream could not be opened. The message says why. */
export class DialError extends Error {
  override readonly name = "DialError";
}

/** How a connection is asked for signs of life. Milliseconds. */
export interface Ping {
  /** How long after the last one. */
  readonly every: number;
  /** How long the server has for it. */
  readonly within: number;
}

/**
 * Go servers end connections of those who ask more often than every 5 minutes; and on a slow path the
 * question, or the sign, waits behind whatever is under way.
 */
const PING: Ping = { every: 310_000, within: 60_000 };

/**
 * Opens a stream. Resolves when the connection stands and the call is on its way (a server need not
 * answer before it was spoken to). Rejects with a {@link DialError}, or with the signal's reason.
 */
export async function dialStream(
  address: DialAddress,
  path: string,
  options: DialOptions,
): Promise<PushStream> {
  options.signal.throwIfAborted();
  const call = new DialledCall(address, path, options);
  const abort = () => call.abort(options.signal.reason);
  options.signal.addEventListener("abort", abort, { once: true });
  call.whenClosed(() => options.signal.removeEventListener("abort", abort));
  return await call.opened;
}

/** A call from its first connection attempt to its end. */
class DialledCall {
  /** Settles when the stream can be used, or never will. */
  readonly opened: Promise<PushStream>;
  readonly #address: DialAddress;
  readonly #options: DialOptions;
  /** Aborted when it is over. */
  readonly #ending = new AbortController();
  readonly #client: grpc.Client;
  readonly #call: grpc.ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly #closed: (() => void)[] = [];
  readonly #opening = Promise.withResolvers<PushStream>();
  #stream: PieceStream | undefined;
  #gate: Gate | undefined;
  #reason: string | undefined;
  #over = false;
  /** Whether there ever was a connection. */
  #reached = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(address: DialAddress, path: string, options: DialOptions) {
    this.#address = address;
    this.#options = options;
    this.opened = this.#opening.promise;
    const metadata = readableMetadata(options.metadata);
    const { host, port } = options.proxy ?? address;
    const authority = options.authority ?? address;
    const connect = (address: NetConnectOpts) => connectTcp(address, this.#ending.signal);
    this.#client = unframedClient(formatHostPort(host, port), this.#credentials(), connect, {
      "grpc.max_receive_message_length": options.maxReceive ?? 16 * 1024 * 1024,
      "grpc.default_authority": formatHostPort(authority.host, authority.port),
      "grpc.keepalive_time_ms": this.#ping.every,
      "grpc.keepalive_timeout_ms": this.#ping.within,
    });
    const identity = (bytes: Uint8Array) => bytes;
    this.#call = this.#client.makeBidiStreamRequest(path, asBuffer, identity, metadata);
    this.#call.on("error", () => {}); // "status" follows
    this.#call.once("status", (status) => this.#end(status));
    this.#awaitReady(path);
  }

  get #ping(): Ping {
    return this.#options.ping ?? PING;
  }

  whenClosed(callback: () => void): void {
    if (this.#over) callback();
    else this.#closed.push(callback);
  }

  abort(reason: unknown): void {
    this.#opening.reject(reason);
    if (this.#stream === undefined) this.#shut(undefined);
    else {
      const message = reason instanceof Error ? reason.message : "ended from our side";
      this.#stream.end({ code: "CANCELLED", message });
    }
  }

  #credentials(): grpc.ChannelCredentials {
    const { now, limits, tls } = this.#options;
    return gatedCredentials({
      now,
      ...(limits === undefined ? {} : { limits }),
      prepare: (socket) => this.#prepare(socket),
      secure: tls !== undefined,
      hooks: {
        connected: (gate) => {
          this.#gate = gate;
          this.#reason = undefined; // of another address
        },
        failed: (error) => {
          this.#reason = error instanceof Error ? error.message : String(error);
        },
        drain: (notice) => {
          this.#reason = drainReason(notice);
        },
        violation: (violation) => {
          this.#reason = violationReason(violation);
        },
      },
    });
  }

  /** What lies between the connection and HTTP/2. Whatever waits here ends with the call. */
  async #prepare(socket: Socket): Promise<Socket> {
    const { proxy, tls } = this.#options;
    const { signal } = this.#ending;
    this.#reached = true;
    if (signal.aborted) {
      socket.destroy(); // nobody wants it any more
      throw signal.reason;
    }
    if (proxy !== undefined) await connectThrough(socket, this.#address, proxy, signal);
    if (tls === undefined) return socket;
    const secured = await secureClient(socket, tls, signal);
    secured.once("error", (error) => {
      this.#reason ??= explainTls(error, tls);
    });
    return secured;
  }

  #awaitReady(path: string): void {
    const channel = this.#client.getChannel();
    const look = () => {
      if (this.#over) return;
      const state = channel.getConnectivityState(true);
      if (state === grpc.connectivityState.READY) return this.#open(path);
      channel.watchConnectivityState(state, Infinity, look);
    };
    look();
  }

  #open(path: string): void {
    const { host, port } = this.#address;
    const wire = new ClientWire(this.#call, {
      over: () => this.#over,
      whenRoom: (callback) => this.#gate === undefined ? callback() : this.#gate.whenRoom(callback),
      shut: (after) => this.#shutAfter(after),
    });
    this.#stream = new PieceStream(wire, {
      path,
      peer: { address: this.#options.proxy ? host : this.#gate?.remoteAddress ?? host, port },
      metadata: readMetadata(writeMetadata(this.#options.metadata)),
      now: this.#options.now,
    });
    this.#opening.resolve(this.#stream);
  }

  #end(status: grpc.StatusObject): void {
    const failure = this.#reason ?? this.#silent(status) ?? this.#refusedAfterTls() ??
      this.#failureOf(status);
    this.#opening.reject(new DialError(failure ?? "the peer ended the stream at once"));
    this.#shut(failure);
  }

  #failureOf(status: grpc.StatusObject): string | undefined {
    const failure = failureOf(status);
    const unreached = this.#options.proxy !== undefined && !this.#reached;
    return failure !== undefined && unreached ? `the proxy is not reached: ${failure}` : failure;
  }

  /** What grpc-js says of a lost connection while ours stands: its ping was not answered. */
  #silent({ details }: grpc.StatusObject): string | undefined {
    if (details !== "Connection dropped" || this.#gate?.destroyed !== false) return undefined;
    return `the server gave no sign of life within ${this.#ping.within / 1000} s of being asked`;
  }

  /** A server may refuse our certificate without a word: it closes the connection before it says anything. */
  #refusedAfterTls(): string | undefined {
    const { tls } = this.#options;
    if (tls === undefined || this.#gate === undefined || this.#stream !== undefined) {
      return undefined;
    }
    return tls.cert === undefined
      ? "the server closed the connection after the TLS handshake; it may want a client certificate"
      : "the server closed the connection after the TLS handshake; it may not accept our certificate";
  }

  #shutAfter(ms: number): void {
    if (ms === 0) this.#shut(undefined);
    else if (!this.#over) this.#timer = setTimeout(() => this.#shut(undefined), ms);
  }

  #shut(failure: string | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#ending.abort(new Error("the dial is over"));
    clearTimeout(this.#timer);
    this.#stream?.closed(failure);
    this.#call.cancel();
    this.#client.close();
    const gate = this.#gate;
    if (gate !== undefined && !gate.destroyed) {
      const timer = setTimeout(() => gate.destroy(), CLOSING);
      gate.once("close", () => clearTimeout(timer));
    }
    for (const callback of this.#closed) callback();
  }
}

function readableMetadata(values: Readonly<Record<string, string>>): grpc.Metadata {
  try {
    return writeMetadata(values);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DialError(`these headers cannot be sent: ${why}`, { cause });
  }
}
