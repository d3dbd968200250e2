/**
 * The gRPC server: bidirectional streams of ready bytes, written in shared pieces below grpc-js's
 * copying serializer, on connections that gates hand in.
 *
 * @module
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import type { Gate } from "./gate.ts";
import { presentable, rawMethod, readMetadata } from "./grpc_bytes.ts";
import { HookedServer } from "./hooked_server.ts";
import { type CallOptions, oneRequest, type StreamHandler } from "./one_request.ts";
import { PieceStream, type Wire } from "./piece_stream.ts";
import {
  type EndStatus,
  type Peer,
  type PushStream,
  STATUS_CODES,
  type StatusName,
} from "./push_stream.ts";

/** How a server is made. Times in milliseconds. */
export interface PushServerOptions {
  /** Only differences count. */
  readonly now: () => number;
  /** Largest request. Bytes. Default 16 MiB. */
  readonly maxReceive?: number;
  /** Streams of one connection. Default 1000. */
  readonly maxStreams?: number;
  /** How often an idle connection is asked for a sign of life. Default 30 s. */
  readonly keepaliveTime?: number;
  /** How long it has for that. Default 20 s. */
  readonly keepaliveTimeout?: number;
}

/** Takes a request, gives the response; throws {@link CallError} for any other status than OK. */
export type UnaryHandler = (request: Uint8Array) => Promise<Uint8Array>;

/** A unary call ends with this status. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: StatusName;

  constructor(code: StatusName, message: string) {
    super(message);
    this.code = code;
  }
}

/** Serves methods on the connections it is handed. Disposing it ends them all at once. */
export class PushServer implements AsyncDisposable {
  readonly #hooked: HookedServer;
  readonly #now: () => number;
  readonly #gates = new Map<Gate, Set<PieceStream>>();
  readonly #paths = new Set<string>();
  #draining = false;

  constructor(options: PushServerOptions) {
    this.#now = options.now;
    this.#hooked = new HookedServer({
      "grpc.enable_channelz": 0,
      "grpc.max_receive_message_length": options.maxReceive ?? 16 * 1024 * 1024,
      "grpc.max_concurrent_streams": options.maxStreams ?? 1000,
      "grpc.keepalive_time_ms": options.keepaliveTime ?? 30_000,
      "grpc.keepalive_timeout_ms": options.keepaliveTimeout ?? 20_000,
    });
  }

  /** Number of connections. */
  get connections(): number {
    return this.#gates.size;
  }

  /** The methods served, `/package.Service/Method` each, in the order of their names. */
  get paths(): readonly string[] {
    return [...this.#paths].sort();
  }

  /** Number of live streams. */
  get streams(): number {
    let count = 0;
    for (const streams of this.#gates.values()) count += streams.size;
    return count;
  }

  /** Serves a method (`/package.Service/Method`) whose both sides are streams of raw messages; they end when the peer closes its side. */
  addStream(path: string, opened: (stream: PushStream) => void): void {
    this.addHandler(path, () => ({ opened, halfClosed: (stream) => stream.end() }));
  }

  /** Serves a method by handlers, one made for each stream. */
  addHandler(path: string, handler: () => StreamHandler): void {
    this.#paths.add(path);
    const opened = (call: Call) => this.#open(path, call, handler());
    this.#hooked.server.addService({ [path]: rawMethod(path, true) }, { [path]: opened });
  }

  /**
   * Serves a method that takes one request, of `largest` bytes, and gives any number of responses.
   * `called` gets the request once the peer has closed its side, and ends the stream itself. With
   * `whileDraining` calls are taken until the connection closes; they must end at once then.
   */
  addCall(
    path: string,
    called: (stream: PushStream, request: Uint8Array) => void,
    { whileDraining = false, largest }: CallOptions = {},
  ): void {
    this.addHandler(path, () => ({ ...oneRequest(path, called, largest), whileDraining }));
  }

  /** Serves a method with one raw request and one raw response. Not `listed`: it is no part of {@link paths}, since it only says why not. */
  addUnary(path: string, handler: UnaryHandler, { listed = true } = {}): void {
    const answer = async (request: Uint8Array) => await handler(request); // throwing included
    const unary: grpc.handleUnaryCall<Uint8Array, Uint8Array> = (call, callback) => {
      answer(call.request).then(
        (response) => callback(null, response),
        (error) => callback(unaryError(error)),
      );
    };
    if (listed) this.#paths.add(path);
    this.#hooked.server.addService({ [path]: rawMethod(path, false) }, { [path]: unary });
  }

  /** Serves a service of grpc-js's own kind. */
  addService(
    definition: grpc.ServiceDefinition,
    implementation: grpc.UntypedServiceImplementation,
  ): void {
    for (const { path } of Object.values(definition)) this.#paths.add(path);
    this.#hooked.server.addService(definition, implementation);
  }

  /** Takes over a connection whose preface is complete. */
  inject(gate: Gate): void {
    if (this.#draining) {
      gate.destroy();
      return;
    }
    this.#gates.set(gate, new Set());
    gate.once("close", () => this.#lost(gate));
    this.#hooked.inject(gate);
  }

  /**
   * Ends every stream with UNAVAILABLE and waits until they are gone, at most `deadline`
   * milliseconds; then closes every connection. No GOAWAY is sent: some clients stop for ever at one.
   */
  async drain(deadline: number): Promise<void> {
    this.#draining = true;
    const status: EndStatus = { code: "UNAVAILABLE", message: "shutting down" };
    for (const stream of this.#live()) stream.end(status);
    const until = this.#now() + deadline;
    while (this.streams > 0 && this.#now() < until) await pause(10);
    for (const gate of this.#gates.keys()) gate.end();
    while (this.#gates.size > 0 && this.#now() < until) await pause(10);
    await this[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#draining = true;
    for (const stream of this.#live()) stream.closed("shutting down");
    for (const gate of this.#gates.keys()) gate.destroy();
    this.#hooked.close();
    return Promise.resolve();
  }

  #live(): PieceStream[] {
    return [...this.#gates.values()].flatMap((streams) => [...streams]);
  }

  /** The runtime does not close every stream of a connection that is lost, so we do. */
  #lost(gate: Gate): void {
    for (const stream of this.#gates.get(gate) ?? []) stream.closed();
    this.#gates.delete(gate);
  }

  #open(
    path: string,
    call: Call,
    { opened, halfClosed, whileDraining = false }: StreamHandler,
  ): void {
    const { stream: http2, gate } = this.#hooked.below();
    const siblings = this.#gates.get(gate);
    if (siblings === undefined) return void http2.close(constants.NGHTTP2_CANCEL); // it is lost
    const wire = new ServerWire(call, http2, gate);
    const stream = new PieceStream(wire, {
      path,
      peer: peerOf(gate),
      metadata: readMetadata(call.metadata),
      now: this.#now,
    });
    siblings.add(stream);
    let release: ReturnType<typeof setTimeout> | undefined;
    http2.once("close", () => {
      clearTimeout(release);
      siblings.delete(stream);
      stream.closed(refusalOf(http2));
    });
    call.once("cancelled", () => { // also when its trailers are sent
      stream.closed(refusalOf(http2));
      if (!http2.closed) release = setTimeout(() => wire.release(), RELEASE_AFTER);
    });
    call.once("end", () => halfClosed(stream));
    if (this.#draining && !whileDraining) {
      stream.end({ code: "UNAVAILABLE", message: "shutting down" });
    } else opened(stream);
  }
}

/** How long a peer may take to close its side of a stream that we ended. Milliseconds. */
const RELEASE_AFTER = 1000;

type Call = grpc.ServerDuplexStream<Uint8Array, Uint8Array>;

/** Writes straight to the HTTP/2 stream; grpc-js keeps headers, trailers and everything inbound. */
class ServerWire implements Wire {
  readonly #call: Call;
  readonly #http2: ServerHttp2Stream;
  readonly #gate: Gate;

  constructor(call: Call, http2: ServerHttp2Stream, gate: Gate) {
    this.#call = call;
    this.#http2 = http2;
    this.#gate = gate;
  }

  get writable(): boolean {
    const { destroyed, closed, writableEnded } = this.#http2;
    return !destroyed && !closed && !writableEnded;
  }

  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    this.#gate.whenRoom(() => {
      if (!this.writable) return; // the stream is closed, as its owner hears
      if (!this.#http2.headersSent) this.#call.sendMetadata(new grpc.Metadata());
      this.#http2.write(bytes, done);
    });
  }

  receive(request: (bytes: Uint8Array) => void): void {
    this.#call.on("data", request);
  }

  end(status: EndStatus | undefined): void {
    if (status === undefined) this.#call.end();
    else {
      this.#call.emit("error", {
        code: STATUS_CODES[status.code],
        details: presentable(status.message),
      });
    }
  }

  breaksOff(): boolean {
    return false; // the status comes after the message
  }

  /** Closes what is left of a stream that is over: some peers never close their side. */
  release(): void {
    if (!this.#http2.destroyed) this.#http2.close(constants.NGHTTP2_NO_ERROR);
  }

  /** Where not even the connection takes anything, resetting the stream would wait in vain. */
  cut(): void {
    if (this.#gate.blocked) this.#gate.destroy();
    else if (!this.#http2.destroyed) this.#http2.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

function peerOf(gate: Gate): Peer {
  const { remoteAddress = "", remotePort = 0, identity, listener } = gate;
  return {
    address: remoteAddress,
    port: remotePort,
    ...(identity === undefined ? {} : { identity }),
    ...(listener === undefined ? {} : { listener }),
  };
}

/** Why grpc-js ended a call on its own, where it did: a message beyond the limit, a frame that is none. */
function refusalOf({ sentTrailers, sentHeaders }: ServerHttp2Stream): string | undefined {
  const sent = sentTrailers ?? sentHeaders ?? {};
  if (Number(sent["grpc-status"] ?? 0) === 0) return undefined;
  return decodeURI(String(sent["grpc-message"] ?? ""));
}

function unaryError(error: unknown): Partial<grpc.StatusObject> {
  if (error instanceof CallError) {
    return { code: STATUS_CODES[error.code], details: presentable(error.message) };
  }
  return { code: grpc.status.INTERNAL, details: "internal error" };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
