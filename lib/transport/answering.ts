/**
 * Streams on which each request is answered with one response, in order.
 *
 * @module
 */
import { type StreamHandler, tooLarge } from "./one_request.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import type { Attachment, Sender } from "./sender.ts";

/** How requests are answered. */
export interface AnsweringOptions {
  /** Answers go with all else that the process sends, in turn and within its budget. */
  readonly sender: Sender;
  /** Answers a request, or says how the stream is to end. Called when the answer can be written. */
  readonly answer: (request: Uint8Array, stream: PushStream) => Uint8Array | EndStatus;
  /** The largest request. Bytes. */
  readonly largest: number;
  /** Requests that may wait for their answers. Default: 100. */
  readonly most?: number;
}

/** Handles one stream. Once the peer has closed its side, what it asked is answered and the stream ends. */
export function answering(options: AnsweringOptions): StreamHandler {
  const { sender, answer, largest, most = 100 } = options;
  const waiting: Uint8Array[] = [];
  let finishing = false;
  const next = (stream: PushStream) => {
    const request = waiting.shift();
    if (request === undefined) return undefined;
    const answered = answer(request, stream);
    if (!(answered instanceof Uint8Array)) return void stream.end(answered);
    return { pieces: [answered], length: answered.length };
  };
  const finish = (stream: PushStream) => {
    if (finishing && waiting.length === 0) stream.end();
  };
  return {
    opened: (stream) => {
      const place: Attachment = sender.attach(stream, () => next(stream), {
        onSent: () => finish(stream),
      });
      stream.onRequest((request) => {
        if (request.length > largest) return stream.end(tooLarge(request.length, largest));
        if (waiting.length >= most) return stream.end(tooMany(most));
        waiting.push(request);
        place.wake();
      });
      stream.signal.addEventListener("abort", () => {
        waiting.length = 0;
        place[Symbol.dispose]();
      }, { once: true });
    },
    halfClosed: (stream) => {
      finishing = true;
      finish(stream);
    },
  };
}

function tooMany(most: number): EndStatus {
  return {
    code: "RESOURCE_EXHAUSTED",
    message: `more than ${most} requests wait on one stream; read the answers to those before`,
  };
}
