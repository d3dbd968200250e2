/**
 * What grpc-js (1.14.7) does with headers and trailers otherwise than it should, put right below it: a
 * `grpc-message` beside status OK, padded base64 in `-bin` values, and answers to streams that are gone.
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

/** The same without a message for OK, and with unpadded base64. */
export function tidied(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const out: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name === "grpc-message" && Number(headers["grpc-status"]) === 0) continue;
    out[name] = name.endsWith("-bin") ? unpadded(value) : value;
  }
  return out;
}

function unpadded(value: OutgoingHttpHeaders[string]): OutgoingHttpHeaders[string] {
  if (typeof value === "string") return value.replace(/=+$/, "");
  return Array.isArray(value) ? value.map((one) => one.replace(/=+$/, "")) : value;
}
