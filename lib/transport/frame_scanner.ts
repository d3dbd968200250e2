/**
 * Follows the frame boundaries of one HTTP/2 connection in both directions, however the bytes are
 * cut, and leaves out or refuses what must not reach the HTTP/2 library. Pure: bytes in, bytes out.
 *
 * @module
 */
import {
  DEFAULT_MAX_FRAME_SIZE,
  FRAME_HEADER_LENGTH,
  FrameFlag,
  FrameType,
  HeaderReader,
  MAX_FRAME_SIZE_SETTING,
  PREFACE,
} from "./frames.ts";
import {
  FRAME_LIMITS,
  type FrameLimits,
  FrameRules,
  type Side,
  type Violation,
  violation,
} from "./frame_rules.ts";

/** What a server says in GOAWAY (RFC 9113, section 6.8). */
export interface DrainNotice {
  /** HTTP/2 error code; 0 is a graceful stop. */
  readonly code: number;
  /** The last stream that the server takes care of. */
  readonly lastStream: number;
  /** Its debug data as text, at most {@link DEBUG_BYTES} bytes. */
  readonly debug: string;
}

/** What became of some inbound bytes. */
export interface Scanned {
  /** What may pass on, in order. */
  readonly pass: readonly Uint8Array[];
  /** How many frames were left out. */
  readonly dropped: number;
  /** Client only: the server wants to end the connection. Nothing after it passes. */
  readonly drain?: DrainNotice;
  /** The connection is to be ended; nothing passes any more. */
  readonly violation?: Violation;
}

/** How much of the debug data of a GOAWAY is kept. Bytes. */
export const DEBUG_BYTES = 128;

/** Scans one connection. */
export class FrameScanner {
  readonly #rules: FrameRules;
  readonly #header = new HeaderReader();
  readonly #outbound: OutboundScanner;
  #preface: number;
  #payload = 0;
  #mode: "pass" | "drop" | "goaway" = "pass";
  #goaway: number[] = [];
  #over: Pick<Scanned, "drain" | "violation"> | undefined;

  constructor(side: Side, limits: FrameLimits = FRAME_LIMITS) {
    this.#rules = new FrameRules(side, limits);
    this.#outbound = new OutboundScanner(this.#rules, side === "client" ? PREFACE.length : 0);
    this.#preface = side === "server" ? PREFACE.length : 0;
  }

  /** Whether the client's preface is still incomplete. Always false on the client's side. */
  get awaitsPreface(): boolean {
    return this.#preface > 0;
  }

  /** Takes note of bytes that we send. */
  outbound(chunk: Uint8Array): void {
    this.#outbound.scan(chunk);
  }

  /** Judges bytes that came. `now` in milliseconds. The bytes given back are views of `chunk` where possible. */
  inbound(chunk: Uint8Array, now: number): Scanned {
    const out = new Passing(chunk);
    if (this.#over === undefined) this.#read(chunk, now, out);
    return { pass: out.pieces, dropped: out.dropped, ...(this.#over ?? {}) };
  }

  #read(chunk: Uint8Array, now: number, out: Passing): void {
    let at = 0;
    if (this.#preface > 0) {
      at = this.#readPreface(chunk);
      if (this.#preface > 0) return;
      out.insert(PREFACE, at);
    }
    while (at < chunk.length) {
      const start = at;
      if (this.#payload > 0) {
        at += this.#readPayload(chunk, at);
        if (this.#mode !== "pass") out.skipTo(at);
      } else {
        at += this.#header.take(chunk, at);
        this.#readHeader(now, start, at, out);
      }
      if (this.#over !== undefined) return;
    }
    if (this.#header.held === 0) out.passUntil(at);
  }

  #readPreface(chunk: Uint8Array): number {
    const count = Math.min(this.#preface, chunk.length);
    const start = PREFACE.length - this.#preface;
    if (!chunk.subarray(0, count).every((byte, i) => byte === PREFACE[start + i])) {
      this.#over = { violation: violation("preface", "no HTTP/2 preface") };
      return 0;
    }
    this.#preface -= count;
    return count;
  }

  #readPayload(chunk: Uint8Array, at: number): number {
    const count = Math.min(this.#payload, chunk.length - at);
    this.#payload -= count;
    if (this.#mode === "goaway") {
      const missing = 8 + DEBUG_BYTES - this.#goaway.length;
      this.#goaway.push(...chunk.subarray(at, at + Math.min(count, missing)));
      if (this.#payload === 0) this.#over = { drain: readGoaway(this.#goaway) };
    }
    return count;
  }

  /** Takes the header that ends at `end`, of which the part from `start` on lies in this chunk. */
  #readHeader(now: number, start: number, end: number, out: Passing): void {
    const header = this.#header.read();
    if (header === undefined) { // cut: held back until it is known what it is
      out.passUntil(start);
      return;
    }
    const verdict = this.#rules.judge(header, now);
    if (typeof verdict === "object") {
      out.passUntil(start);
      this.#over = { violation: verdict };
      return;
    }
    this.#mode = verdict;
    this.#payload = header.length;
    if (verdict !== "pass") {
      out.passUntil(start);
      out.drop(end);
    } else if (end - start < FRAME_HEADER_LENGTH) {
      out.insert(this.#header.bytes, end); // its first part came with an earlier chunk
    }
  }
}

/** The parts of a chunk that may pass, in as few pieces as possible. */
class Passing {
  readonly pieces: Uint8Array[] = [];
  dropped = 0;
  readonly #chunk: Uint8Array;
  #from = 0;

  constructor(chunk: Uint8Array) {
    this.#chunk = chunk;
  }

  passUntil(at: number): void {
    if (at > this.#from) this.pieces.push(this.#chunk.subarray(this.#from, at));
    this.#from = at;
  }

  skipTo(at: number): void {
    this.#from = at;
  }

  drop(end: number): void {
    this.dropped++;
    this.#from = end;
  }

  /** Passes bytes in place of the chunk's up to `end`. */
  insert(bytes: Uint8Array, end: number): void {
    this.pieces.push(bytes);
    this.#from = end;
  }
}

/** Follows what we send: which PINGs and SETTINGS wait for an ACK, and what frame size we allow. */
class OutboundScanner {
  readonly #rules: FrameRules;
  readonly #header = new HeaderReader();
  #skip: number;
  #setting: number[] | undefined; // bytes of one entry of a SETTINGS frame

  constructor(rules: FrameRules, preface: number) {
    this.#rules = rules;
    this.#skip = preface;
  }

  scan(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const count = Math.min(this.#skip, chunk.length - at);
        if (this.#setting !== undefined) this.#readSettings(chunk.subarray(at, at + count));
        this.#skip -= count;
        at += count;
        continue;
      }
      at += this.#header.take(chunk, at);
      const header = this.#header.read();
      if (header === undefined) return;
      this.#rules.sent(header);
      this.#skip = header.length;
      const settings = header.type === FrameType.settings && (header.flags & FrameFlag.ack) === 0;
      this.#setting = settings ? [] : undefined;
    }
  }

  #readSettings(bytes: Uint8Array): void {
    const entry = this.#setting!;
    for (const byte of bytes) {
      if (entry.push(byte) < 6) continue;
      const [id, value] = [(entry[0]! << 8) | entry[1]!, uint32(entry, 2)];
      if (id === MAX_FRAME_SIZE_SETTING && value > DEFAULT_MAX_FRAME_SIZE) {
        this.#rules.allowFrameSize(value);
      }
      entry.length = 0;
    }
  }
}

function readGoaway(bytes: readonly number[]): DrainNotice {
  return {
    lastStream: uint32(bytes, 0) & 0x7fff_ffff,
    code: uint32(bytes, 4),
    debug: new TextDecoder().decode(Uint8Array.from(bytes.slice(8))),
  };
}

function uint32(bytes: readonly number[], at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>>
    0;
}
