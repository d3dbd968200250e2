/**
 * The gate: a Duplex between a socket and an HTTP/2 session. No byte reaches the runtime's HTTP/2 but
 * through it, since some well-formed frames crash or hang that (ADR 1); and it is where abuse ends.
 *
 * @module
 */
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import type { Socket } from "node:net";
import { type FrameLimits, type Side, type Violation, violation } from "./frame_rules.ts";
import { type DrainNotice, FrameScanner } from "./frame_scanner.ts";

/** Who the peer proved to be: the names of its verified certificate. Absent where it showed none. */
export interface PeerIdentity {
  /** URIs (SPIFFE). */
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
}

/** What a gate tells. None of it may throw. */
export interface GateHooks {
  /** Server only: the preface is complete; the session is to be made now. */
  preface?(gate: Gate): void;
  /** Client only: the server wants to end the connection; the gate closes it at once. */
  drain?(notice: DrainNotice): void;
  /** The peer broke the rules; the gate destroys the connection. */
  violation?(violation: Violation): void;
}

/** How a gate is made. */
export interface GateOptions {
  readonly side: Side;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  readonly limits?: FrameLimits;
  readonly identity?: PeerIdentity;
  /** `listen` address that was dialled, as configured. */
  readonly listener?: string;
  readonly hooks?: GateHooks;
}

/** The transport of an HTTP/2 session. It lives as long as its socket: each destroys the other. */
export class Gate extends Duplex {
  /** Who the peer proved to be, if it did. */
  readonly identity: PeerIdentity | undefined;
  /** `listen` address that was dialled, as configured; undefined where we dialled. */
  readonly listener: string | undefined;
  readonly #socket: Socket;
  readonly #scanner: FrameScanner;
  readonly #now: () => number;
  readonly #hooks: GateHooks;
  readonly #waiting: (() => void)[] = []; // for room
  #written: ((error?: Error | null) => void) | undefined; // of a write that waits for the socket
  #drained = false;
  #gathering = false;

  constructor(socket: Socket, options: GateOptions) {
    super({ allowHalfOpen: false, writableHighWaterMark: ROOM });
    this.#socket = socket;
    this.#scanner = new FrameScanner(options.side, options.limits);
    this.#now = options.now;
    this.#hooks = options.hooks ?? {};
    this.identity = options.identity;
    this.listener = options.listener;
    this.on("drain", () => this.#giveRoom());
    this.on("close", () => {
      for (const callback of this.#waiting.splice(0)) callback();
    });
    this.on("error", () => {}); // whoever uses the gate hears of it by "close"; else it would be uncaught
    socket.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    socket.on("end", () => this.#end());
    socket.on("drain", () => this.#settleWrite());
    socket.on("error", (error) => this.destroy(options.side === "client" ? error : undefined));
    socket.on("close", () => this.destroy());
  }

  /** Whether the client has not sent its whole preface yet. */
  get awaitsPreface(): boolean {
    return this.#scanner.awaitsPreface;
  }

  /** Whether bytes wait for a peer that takes none. */
  get blocked(): boolean {
    return this.#written !== undefined;
  }

  /**
   * Calls back as soon as the peer has taken enough for more to be written, or the gate is closed; at
   * once where that is so. The runtime's HTTP/2 pays no heed to a transport that is full, so whoever
   * writes a lot has to ask here before each piece. Those who wait get their turns one after the other.
   */
  whenRoom(callback: () => void): void {
    if (this.#waiting.length === 0 && !this.writableNeedDrain) return callback();
    if (this.destroyed) return callback();
    this.#waiting.push(callback);
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  get localPort(): number | undefined {
    return this.#socket.localPort;
  }

  /** As `net.Socket`: HTTP/2 sessions call these on their transport. */
  setNoDelay(on = true): this {
    this.#socket.setNoDelay(on);
    return this;
  }

  setKeepAlive(on = false, delay = 0): this {
    this.#socket.setKeepAlive(on, delay);
    return this;
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    if (!this.#drained) this.#socket.resume();
  }

  override _write(
    chunk: Uint8Array,
    _encoding: string,
    callback: (error?: Error | null) => void,
  ): void {
    this.#scanner.outbound(chunk);
    this.#gather();
    if (this.#socket.destroyed || this.#socket.write(chunk)) callback();
    else this.#written = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end(() => callback());
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#settleWrite();
    this.#socket.destroy();
    callback(error);
  }

  /** HTTP/2 writes frame by frame; what it writes in one go becomes one write of the socket. */
  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#socket.cork();
    queueMicrotask(() => {
      this.#gathering = false;
      this.#socket.uncork();
    });
  }

  #receive(chunk: Uint8Array): void {
    if (this.destroyed) return;
    if (this.writableLength > MOST_UNREAD) {
      return this.#expel(violation("unread", `${this.writableLength} bytes of answers unread`));
    }
    const before = this.#scanner.awaitsPreface;
    const { pass, drain, violation: wrong } = this.#scanner.inbound(chunk, this.#now());
    if (wrong !== undefined) return this.#expel(wrong);
    if (before && !this.#scanner.awaitsPreface) this.#hooks.preface?.(this);
    let room = true;
    for (const piece of pass) room = this.push(piece);
    if (drain !== undefined) this.#drain(drain);
    else if (!room) this.#socket.pause();
  }

  #expel(violation: Violation): void {
    this.#hooks.violation?.(violation);
    this.destroy();
  }

  #drain(notice: DrainNotice): void {
    this.#drained = true;
    this.#socket.pause();
    this.#hooks.drain?.(notice);
    setTimeout(() => this.destroy(), DRAIN_GRACE);
  }

  #end(): void {
    if (!this.destroyed) this.push(null);
  }

  /** What one writes reaches the gate a little later, so the next is asked to write only then. */
  #giveRoom(): void {
    if (this.writableNeedDrain) return; // "drain" comes again
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#giveRoom());
  }

  #settleWrite(): void {
    const callback = this.#written;
    this.#written = undefined;
    callback?.();
  }
}

/** How much may wait for the socket before {@link Gate.whenRoom} makes writers wait. Bytes. */
const ROOM = 262_144;

/** A peer that asks for more while so much waits for it does not mean to read. Bytes. */
const MOST_UNREAD = 16_777_216;

/** How long what came before a GOAWAY may take to reach its streams. Milliseconds. */
const DRAIN_GRACE = 5;
