/**
 * Telling a client that speaks HTTP/2 why it is turned away, before there is a session.
 *
 * @module
 */
import type { Socket } from "node:net";
import { FRAME_HEADER_LENGTH, FrameType } from "./frames.ts";
import { presentable } from "./grpc_bytes.ts";

/** INADEQUATE_SECURITY (RFC 9113, section 7). */
const INADEQUATE_SECURITY = 0xc;

/** How long the client may take to read it and leave. Milliseconds. */
const PATIENCE = 500;

/**
 * Sends a GOAWAY with the message as its debug data, ends our side and waits a moment for the client
 * to leave: a connection closed with something unread would take the message away. No SETTINGS go
 * before it, for with them gRPC clients take the connection for a good one and come back at once,
 * without any back-off. Does not reject; the socket is to be destroyed then.
 */
export async function farewell(socket: Socket, message: string): Promise<void> {
  const debug = new TextEncoder().encode(presentable(message));
  const payload = new Uint8Array(8 + debug.length);
  new DataView(payload.buffer).setUint32(4, INADEQUATE_SECURITY);
  payload.set(debug, 8);
  const frames = [
    ...header(FrameType.goaway, payload.length),
    ...payload,
  ];
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE);
    const left = () => {
      clearTimeout(timer);
      resolve();
    };
    socket.once("close", left).once("end", left);
    socket.resume();
    socket.end(Uint8Array.from(frames));
  });
}

/** A frame of the connection, without flags. */
function header(type: number, length: number): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEADER_LENGTH);
  bytes.set([length >> 16, (length >> 8) & 0xff, length & 0xff, type]);
  return bytes;
}
