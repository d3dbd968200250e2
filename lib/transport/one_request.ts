/**
 * Methods that take one request, whether they give one response or many: on the wire they are streams
 * like all others.
 *
 * @module
 */
import type { EndStatus, PushStream } from "./push_stream.ts";

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
