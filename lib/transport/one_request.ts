/**
 * Methods that take one request, whether they give one response or many: on the wire they are streams
 * like all others.
 *
 * @module
 */
import type { Message } from "../wire/compose.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import type { Attachment, Sender } from "./sender.ts";

/** What becomes of the streams of a method. */
export interface StreamHandler {
  readonly opened: (stream: PushStream) => void;
  /** The peer says that it sends nothing more. */
  readonly halfClosed: (stream: PushStream) => void;
  /** Whether streams are opened while the server lets nobody else in. Default: false. */
  readonly whileDraining?: boolean;
}

/** How a method with one request is served. */
export interface CallOptions {
  /** Default: false. */
  readonly whileDraining?: boolean;
  /** The largest request. Bytes; default 4 MiB. */
  readonly largest?: number;
}

/** The largest request of such a method, where nothing else is said: as gRPC itself has it. Bytes. */
const LARGEST = 4 * 1024 * 1024;

/** Holds one call of the method `path` to exactly one request, of at most `largest` bytes, and hands that on once it is all. */
export function oneRequest(
  path: string,
  called: (stream: PushStream, request: Uint8Array) => void,
  largest: number = LARGEST,
): StreamHandler {
  // What gRPC says of a wrong number of requests.
  const wrong = (many: string): EndStatus => ({
    code: "UNIMPLEMENTED",
    message: `${path} takes exactly one request; there ${many}`,
  });
  let request: Uint8Array | undefined;
  return {
    opened: (stream) =>
      stream.onRequest((bytes) => {
        if (bytes.length > largest) return stream.end(tooLarge(bytes.length, largest));
        if (request !== undefined) return stream.end(wrong("were more"));
        request = bytes;
      }),
    halfClosed: (stream) => {
      if (stream.signal.aborted) return;
      if (request === undefined) return stream.end(wrong("was none"));
      try {
        called(stream, request);
      } catch (error) { // ends one call, not the process
        const why = error instanceof Error ? error.message : String(error);
        stream.end({ code: "INTERNAL", message: `the request could not be handled: ${why}` });
      }
    },
  };
}

/** How a stream ends whose peer sends more at once than is kept. Bytes. */
export function tooLarge(length: number, largest: number): EndStatus {
  return {
    code: "RESOURCE_EXHAUSTED",
    message: `a request of ${length} bytes; at most ${largest} are taken here`,
  };
}

/** Gives the one response of a call and ends it. */
export function answer(stream: PushStream, response: Uint8Array): void {
  stream.write({ pieces: [response], length: response.length }).catch(() => {}); // the caller left
  stream.end();
}

/**
 * Gives the one response of a call in its turn with the sender, and ends it; or ends it with a status.
 * `make` is called when what it returns will be written; where there is nothing yet it is called again
 * once the attachment that this gives was woken.
 */
export function answerInTurn(
  stream: PushStream,
  sender: Sender,
  make: () => Message | EndStatus | undefined,
): Attachment {
  const next = () => {
    const made = make();
    if (made === undefined || "pieces" in made) return made;
    stream.end(made);
    return undefined;
  };
  const attachment = sender.attach(stream, next, { onSent: () => stream.end() });
  attachment.wake();
  return attachment;
}
