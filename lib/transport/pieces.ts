/**
 * Messages as gRPC frames in pieces of bounded size. The runtime keeps, for the life of a stream, the
 * capacity of the largest write it ever made; so no write is large. Many tiny pieces become few writes.
 *
 * @module
 */
import type { Message } from "../wire/compose.ts";

/** The largest single write. Bytes. */
export const LARGEST_WRITE = 65_536;

/** From this size on a piece is written as it is rather than copied together with its neighbours. Bytes. */
const WORTH_ITS_OWN_WRITE = 16_384;

/** The compression flag and length in front of a gRPC message. Bytes. */
export const GRPC_HEAD = 5;

/** A message as gRPC puts it on the wire: its head, then its bytes, in writes of at most {@link LARGEST_WRITE} bytes. */
export function* grpcWrites(message: Message): Generator<Uint8Array, void> {
  const head = new Uint8Array(GRPC_HEAD);
  new DataView(head.buffer).setUint32(1, message.length);
  let small: Uint8Array[] = [head];
  let size = GRPC_HEAD;
  for (const piece of message.pieces) {
    for (let at = 0; at < piece.length; at += LARGEST_WRITE) {
      const part = piece.subarray(at, at + LARGEST_WRITE);
      if (size + part.length > LARGEST_WRITE || part.length >= WORTH_ITS_OWN_WRITE) {
        if (size > 0) yield join(small, size);
        [small, size] = [[], 0];
      }
      if (part.length >= WORTH_ITS_OWN_WRITE) yield part;
      else {
        small.push(part);
        size += part.length;
      }
    }
  }
  if (size > 0) yield join(small, size);
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
