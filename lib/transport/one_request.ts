/**
 * Methods that take one request, whether they give one response or many: on the wire they are streams
 * like all others.
 *
 * @module
 */
import type { Message } from "../wire/compose.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import type { Sender } from "./sender.ts";

/** What becomes of the streams of a method. */
export interface StreamHandler {
  readonly opened: (stream: PushStream) => void;
  /** The peer says that it sends nothing more. */
  readonly halfClosed: (stream: PushStream) => void;
  /** Whether streams are opened while the server lets nobody else in. Default: false. */
  readonly whileDraining?: boolean;
}

/** Holds one call of the method `path` to exactly one request, and hands that on once it is all. */
export function oneRequest(
  path: string,
  called: (stream: PushStream, request: Uint8Array) => void,
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
        if (request === undefined) request = bytes;
        else stream.end(wrong("were more"));
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

/** Gives the one response of a call and ends it. */
export function answer(stream: PushStream, response: Uint8Array): void {
  stream.write({ pieces: [response], length: response.length }).catch(() => {}); // the caller left
  stream.end();
}

/**
 * Gives the one response of a call in its turn with the sender, and ends it; or ends it with a status.
 * `make` is called when what it returns will be written.
 */
export function answerInTurn(
  stream: PushStream,
  sender: Sender,
  make: () => Message | EndStatus,
): void {
  const next = () => {
    const made = make();
    if ("pieces" in made) return made;
    stream.end(made);
    return undefined;
  };
  sender.attach(stream, next, { onSent: () => stream.end() }).wake();
}
