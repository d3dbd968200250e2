/**
 * What grpc-js (1.14.7) does with headers and trailers otherwise than it should, put right below it: a
 * `grpc-message` beside status OK, padded base64 in `-bin` values, an HTTP status named by a constant that
 * Deno (2.9) lacks, and answers to streams that are gone.
 *
 * @module
 */
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";

/**
 * From here on, what the stream sends as headers or trailers is tidied; and nothing is sent once it is
 * destroyed. A peer that opens a stream and resets it at once can have it destroyed before grpc-js sees
 * it, and grpc-js answers all the same: `respond` would throw where nobody catches, and end the process.
 */
export function tidyHeaders(stream: ServerHttp2Stream): void {
  const sendTrailers = stream.sendTrailers.bind(stream);
  stream.sendTrailers = (trailers) => {
    if (!stream.destroyed) sendTrailers(tidied(trailers));
  };
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) => {
    if (stream.destroyed) return;
    respond(headers === undefined ? headers : tidied(headers as OutgoingHttpHeaders), options);
  };
}

/** grpc-js's answer to what is no gRPC request: unsupported media type. */
const NO_GRPC = 415;

/** The same without a message for OK, with unpadded base64, and with the status that was meant. */
export function tidied(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name === "grpc-message" && Number(headers["grpc-status"]) === 0) continue;
    if (name === ":status" && value === undefined) out[name] = NO_GRPC;
    else out[name] = name.endsWith("-bin") ? unpadded(value) : value;
  }
  return out;
}

function unpadded(value: OutgoingHttpHeaders[string]): OutgoingHttpHeaders[string] {
  if (typeof value === "string") return value.replace(/=+$/, "");
  return Array.isArray(value) ? value.map((one) => one.replace(/=+$/, "")) : value;
}
