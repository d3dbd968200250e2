/**
 * A bidirectional stream that carries messages of ready bytes, whoever dialled. What services and
 * dial-out work with; gRPC and HTTP/2 stay behind it.
 *
 * @module
 */
import type { Message } from "../wire/compose.ts";
import type { PeerIdentity } from "./gate.ts";

/** gRPC status codes, by name. */
export const STATUS_CODES = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** Name of a gRPC status code. */
export type StatusName = keyof typeof STATUS_CODES;

/** How a stream ends. */
export interface EndStatus {
  readonly code: StatusName;
  /** For the person at the other end. */
  readonly message: string;
}

/** Who is at the other end. */
export interface Peer {
  /** IP address. */
  readonly address: string;
  readonly port: number;
  /** Who it proved to be; absent in plaintext. */
  readonly identity?: PeerIdentity;
  /** `listen` address that it dialled, as configured; absent where we dialled. */
  readonly listener?: string;
}

/** How writing goes. */
export interface Progress {
  /** Bytes of messages that the transport took, over the life of the stream. */
  readonly taken: number;
  /** When it last took any, or a write began. Milliseconds of the transport's clock. */
  readonly at: number;
}

/** A live stream. */
export interface PushStream {
  /** The gRPC method, `/package.Service/Method`. */
  readonly path: string;
  readonly peer: Peer;
  /** What the caller sent along; binary values as base64. */
  readonly metadata: Readonly<Record<string, readonly string[]>>;
  /** Aborted when the stream is over, whatever the cause. */
  readonly signal: AbortSignal;
  /** Why the stream is over; absent while it lives and where the peer simply left. */
  readonly failure: string | undefined;
  readonly progress: Progress;
  /** Takes each message of the peer from here on. Until then they are held back. Set once. */
  onRequest(callback: (bytes: Uint8Array) => void): void;
  /**
   * Writes one message. Resolves when the transport took all of it, rejects with a
   * {@link StreamOverError} when the stream is over before. At most one may be unfinished.
   * `taken` is told of each part that the transport took.
   */
  write(message: Message, taken?: (bytes: number) => void): Promise<void>;
  /** Ends the stream, after what is being written. Without a status: OK. */
  end(status?: EndStatus): void;
  /** Ends the stream at once, whatever is unfinished, since the peer does not take it. */
  cut(reason: string): void;
}

/** The stream is over, so nothing can be written to it. */
export class StreamOverError extends Error {
  override readonly name = "StreamOverError";
}
