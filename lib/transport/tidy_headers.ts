/**
 * What grpc-js (1.14.7) writes into headers and trailers otherwise than gRPC's HTTP/2 mapping asks for,
 * put right below it: a `grpc-message` beside status OK, and padded base64 in `-bin` values.
 *
 * @module
 */
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";

/** From here on, what the stream sends as headers or trailers is tidied. */
export function tidyHeaders(stream: ServerHttp2Stream): void {
  const sendTrailers = stream.sendTrailers.bind(stream);
  stream.sendTrailers = (trailers) => sendTrailers(tidied(trailers));
  const respond = stream.respond.bind(stream);
  stream.respond = (headers, options) =>
    respond(headers === undefined ? headers : tidied(headers as OutgoingHttpHeaders), options);
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
