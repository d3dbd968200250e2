/**
 * HTTP/2 frames as far as the gate looks at them (RFC 9113, sections 4 and 6).
 *
 * @module
 */

/** Bytes of a frame header: length (3), type (1), flags (1), stream (4). */
export const FRAME_HEADER_LENGTH = 9;

/** What a client sends before its first frame (RFC 9113, section 3.4). */
export const PREFACE: Uint8Array = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Frame types. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags; `ack` and `endStream` share a bit and never a frame type. */
export const FrameFlag = { ack: 1, endStream: 1, endHeaders: 4 } as const;

/** Identifier of `SETTINGS_MAX_FRAME_SIZE`. */
export const MAX_FRAME_SIZE_SETTING = 5;

/** `SETTINGS_MAX_FRAME_SIZE` until told otherwise. Bytes. */
export const DEFAULT_MAX_FRAME_SIZE = 16_384;

/** A frame header. */
export interface FrameHeader {
  /** Length of the payload. Bytes. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  /** 0: the connection. */
  readonly stream: number;
}

/** Collects the nine bytes of a frame header, however they come. */
export class HeaderReader {
  readonly #bytes = new Uint8Array(FRAME_HEADER_LENGTH);
  #length = 0;

  /** How many bytes of an unfinished header are held. */
  get held(): number {
    return this.#length;
  }

  /** A copy of the bytes of the header last read. */
  get bytes(): Uint8Array {
    return this.#bytes.slice();
  }

  /** Takes bytes of `chunk` from `at`; gives how many, at most what is missing. */
  take(chunk: Uint8Array, at: number): number {
    const count = Math.min(FRAME_HEADER_LENGTH - this.#length, chunk.length - at);
    for (let i = 0; i < count; i++) this.#bytes[this.#length + i] = chunk[at + i]!;
    this.#length += count;
    return count;
  }

  /** The header, once complete; reading it makes room for the next. */
  read(): FrameHeader | undefined {
    if (this.#length < FRAME_HEADER_LENGTH) return undefined;
    this.#length = 0;
    const b = this.#bytes;
    return {
      length: (b[0]! << 16) | (b[1]! << 8) | b[2]!,
      type: b[3]!,
      flags: b[4]!,
      stream: ((b[5]! & 0x7f) << 24) | (b[6]! << 16) | (b[7]! << 8) | b[8]!,
    };
  }
}
