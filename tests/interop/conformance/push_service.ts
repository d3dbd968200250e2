/**
 * The ConformanceService on the streams that pushes travel on, written in pieces below grpc-js. These
 * carry messages and a status, no headers, trailers or details of their own, and are over when the
 * peer has closed its side.
 *
 * @module
 */
import { CallError, type PushServer } from "../../../lib/transport/server.ts";
import {
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

/** Adds the unary and the bidirectional method to a server. */
export function addPushService(server: PushServer): void {
  server.addUnary(`${SERVICE}/Unary`, async (bytes) => {
    const asked = decode<UnaryRequest>("UnaryRequest", bytes).responseDefinition;
    await delay(asked?.responseDelayMs);
    if (asked?.error !== undefined) {
      throw new CallError(codeOf(asked.error), asked.error.message ?? "");
    }
    return encodeResponse(asked?.responseData, { requests: [requestAny("UnaryRequest", bytes)] });
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
    this.#stream.end(
      error === undefined ? undefined : { code: codeOf(error), message: error.message ?? "" },
    );
  }
}

function codeOf(error: RpcError): StatusName {
  const found = Object.entries(STATUS_CODES).find(([, code]) => code === error.code);
  return found?.[0] as StatusName | undefined ?? "UNKNOWN";
}

function delay(ms = 0): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
