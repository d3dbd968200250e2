/**
 * HTTP/2 frames written by hand, for peers that no library would be.
 *
 * @module
 */
import { FrameFlag, FrameType, PREFACE } from "../../lib/transport/frames.ts";

export { FrameFlag, FrameType, PREFACE };

/** One frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Uint8Array {
  const out = new Uint8Array(9 + payload.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, (payload.length << 8) | type);
  out[4] = flags;
  view.setUint32(5, stream);
  out.set(payload, 9);
  return out;
}

/** Bytes one after the other. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** `count` bytes that are not all alike. */
export function bytes(count: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => (i * 31 + seed * 17) & 0xff);
}

export const settings = (payload: Uint8Array = new Uint8Array()) =>
  frame(FrameType.settings, 0, 0, payload);
export const settingsAck = () => frame(FrameType.settings, FrameFlag.ack, 0);
export const ping = (seed = 1) => frame(FrameType.ping, 0, 0, bytes(8, seed));
export const pingAck = (seed = 1) => frame(FrameType.ping, FrameFlag.ack, 0, bytes(8, seed));
export const reset = (stream: number) =>
  frame(FrameType.rstStream, 0, stream, Uint8Array.of(0, 0, 0, 8));
export const data = (stream: number, payload: Uint8Array, flags = 0) =>
  frame(FrameType.data, flags, stream, payload);
export const headers = (stream: number, block: Uint8Array, flags: number = FrameFlag.endHeaders) =>
  frame(FrameType.headers, flags, stream, block);
export const continuation = (stream: number, block: Uint8Array, flags = 0) =>
  frame(FrameType.continuation, flags, stream, block);

/** GOAWAY. */
export function goaway(lastStream: number, code: number, debug = ""): Uint8Array {
  const payload = new Uint8Array(8);
  new DataView(payload.buffer).setUint32(0, lastStream);
  new DataView(payload.buffer).setUint32(4, code);
  return frame(FrameType.goaway, 0, 0, concat(payload, new TextEncoder().encode(debug)));
}

/** A request for a gRPC method, as one header block without Huffman coding or indexing. */
export function grpcRequest(path: string): Uint8Array {
  const literal = (name: string, value: string) => {
    const text = new TextEncoder();
    return concat(
      Uint8Array.of(0, name.length),
      text.encode(name),
      Uint8Array.of(value.length),
      text.encode(value),
    );
  };
  return concat(
    Uint8Array.of(0x83, 0x86), // :method POST, :scheme http
    literal(":path", path),
    literal(":authority", "test"),
    literal("content-type", "application/grpc"),
    literal("te", "trailers"),
  );
}
