/**
 * The ConformanceService on the streams that pushes travel on, written in pieces below grpc-js. These
 * carry messages and a status, no headers, trailers or details of their own, and are over when the
 * peer has closed its side.
 *
 * @module
 */
import { answer } from "../../../lib/transport/one_request.ts";
import type { PushServer } from "../../../lib/transport/server.ts";
import {
  type EndStatus,
  type PushStream,
  STATUS_CODES,
  type StatusName,
} from "../../../lib/transport/push_stream.ts";
import {
  type Any,
  decode,
  encodeResponse,
  type Header,
  requestAny,
  type RpcError,
  type StreamDefinition,
  type StreamRequest,
  type UnaryRequest,
} from "./messages.ts";

const SERVICE = "/connectrpc.conformance.v1.ConformanceService";

/** Adds the unary method, that with a stream of responses and that with streams both ways to a server. */
export function addPushService(server: PushServer): void {
  server.addCall(`${SERVICE}/Unary`, async (stream, bytes) => {
    const asked = decode<UnaryRequest>("UnaryRequest", bytes).responseDefinition;
    await delay(asked?.responseDelayMs);
    if (asked?.error !== undefined) return stream.end(statusOf(asked.error));
    const info = { requests: [requestAny("UnaryRequest", bytes)] };
    answer(stream, encodeResponse(asked?.responseData, info));
  });
  server.addCall(`${SERVICE}/ServerStream`, async (stream, bytes) => {
    const asked = decode<StreamRequest>("ServerStreamRequest", bytes).responseDefinition;
    const info = { requests: [requestAny("ServerStreamRequest", bytes)] };
    for (const [sent, data] of (asked?.responseData ?? []).entries()) {
      await delay(asked?.responseDelayMs);
      if (stream.signal.aborted) return;
      const response = encodeResponse(data, sent === 0 ? info : undefined);
      await stream.write({ pieces: [response], length: response.length });
    }
    stream.end(asked?.error === undefined ? undefined : statusOf(asked.error));
  });
  server.addStream(`${SERVICE}/BidiStream`, (stream) => {
    const call = new BidiCall(stream);
    let before = Promise.resolve();
    stream.onRequest((bytes) => {
      before = before.then(() => call.receive(bytes)).catch((error) => {
        if (!stream.signal.aborted) throw error;
      });
    });
  });
}

/** One bidirectional call: a response to each request, as long as responses are left; then the status. */
class BidiCall {
  readonly #stream: PushStream;
  #asked: StreamDefinition | undefined;
  #requests: Any[] = [];
  #received = 0;
  #sent = 0;

  constructor(stream: PushStream) {
    this.#stream = stream;
  }

  async receive(bytes: Uint8Array): Promise<void> {
    const request = decode<StreamRequest>("BidiStreamRequest", bytes);
    this.#requests.push(requestAny("BidiStreamRequest", bytes));
    if (this.#received++ === 0) this.#asked = request.responseDefinition;
    const data = this.#asked?.responseData?.[this.#sent];
    if (data === undefined) return this.#end();
    await delay(this.#asked?.responseDelayMs);
    const response = encodeResponse(data, this.#info());
    // In two pieces, as pushes are.
    const cut = response.length >> 1;
    const pieces = [response.subarray(0, cut), response.subarray(cut)];
    await this.#stream.write({ pieces, length: response.length });
    this.#requests = [];
    this.#sent++;
  }

  #info() {
    const { metadata } = this.#stream;
    const requestHeaders = Object.entries(metadata).map(([name, value]): Header => ({
      name,
      value,
    }));
    return { requests: this.#requests, ...(this.#sent === 0 ? { requestHeaders } : {}) };
  }

  #end(): void {
    const error = this.#asked?.error;
    this.#stream.end(error === undefined ? undefined : statusOf(error));
  }
}

function statusOf(error: RpcError): EndStatus {
  return { code: codeOf(error), message: error.message ?? "" };
}

function codeOf(error: RpcError): StatusName {
  const found = Object.entries(STATUS_CODES).find(([, code]) => code === error.code);
  return found?.[0] as StatusName | undefined ?? "UNKNOWN";
}

function delay(ms = 0): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
