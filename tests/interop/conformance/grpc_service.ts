/**
 * The ConformanceService on grpc-js's own handlers, as Pinnace serves gRPC health: every method, with
 * headers, trailers and error details.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import {
  type Any,
  decode,
  detailsWith,
  encode,
  encodeResponse,
  type Header,
  requestAny,
  type RequestInfo,
  type RpcError,
  type StreamDefinition,
  type StreamRequest,
  type UnaryDefinition,
  type UnaryRequest,
} from "./messages.ts";

const SERVICE = "/connectrpc.conformance.v1.ConformanceService";

/** What all calls of grpc-js have. */
interface AnyCall {
  readonly metadata: grpc.Metadata;
  getDeadline(): grpc.Deadline;
  sendMetadata(metadata: grpc.Metadata): void;
}

type Raw = Uint8Array;

/** Definition of the service; every message as it is on the wire. */
export const definition: grpc.ServiceDefinition = {
  unary: method("Unary", false, false),
  clientStream: method("ClientStream", true, false),
  serverStream: method("ServerStream", false, true),
  bidiStream: method("BidiStream", true, true),
};

/** The methods. */
export const implementation: grpc.UntypedServiceImplementation = {
  unary(call: grpc.ServerUnaryCall<Raw, Raw>, done: grpc.sendUnaryData<Raw>) {
    const { responseDefinition } = decode<UnaryRequest>("UnaryRequest", call.request);
    answerOnce(call, responseDefinition, [requestAny("UnaryRequest", call.request)], done);
  },

  clientStream(call: grpc.ServerReadableStream<Raw, Raw>, done: grpc.sendUnaryData<Raw>) {
    const requests: Any[] = [];
    let asked: UnaryDefinition | undefined;
    call.on("data", (bytes: Raw) => {
      if (requests.length === 0) {
        asked = decode<UnaryRequest>("UnaryRequest", bytes).responseDefinition;
      }
      requests.push(requestAny("ClientStreamRequest", bytes));
    });
    call.on("end", () => void answerOnce(call, asked, requests, done));
  },

  async serverStream(call: grpc.ServerWritableStream<Raw, Raw>) {
    const requests = [requestAny("ServerStreamRequest", call.request)];
    const { responseDefinition } = decode<StreamRequest>("ServerStreamRequest", call.request);
    if (responseDefinition !== undefined) {
      call.sendMetadata(toMetadata(responseDefinition.responseHeaders));
    }
    await finishStream(call, responseDefinition, requests, 0);
  },

  bidiStream(call: grpc.ServerDuplexStream<Raw, Raw>) {
    const bidi = new BidiCall(call);
    let before = Promise.resolve();
    call.on("data", (bytes: Raw) => before = before.then(() => bidi.receive(bytes)));
    call.on("end", () => void before.then(() => bidi.finish()));
  },
};

/** A bidirectional call: responses in turn with the requests (full duplex) or after them. */
class BidiCall {
  readonly #call: grpc.ServerDuplexStream<Raw, Raw>;
  #asked: StreamDefinition | undefined;
  #requests: Any[] = [];
  #received = 0;
  #sent = 0;
  #finished = false;
  #fullDuplex = false;

  constructor(call: grpc.ServerDuplexStream<Raw, Raw>) {
    this.#call = call;
  }

  async receive(bytes: Raw): Promise<void> {
    if (this.#finished || this.#call.cancelled) return;
    this.#requests.push(requestAny("BidiStreamRequest", bytes));
    const request = decode<StreamRequest>("BidiStreamRequest", bytes);
    if (this.#received++ === 0) {
      this.#asked = request.responseDefinition;
      this.#fullDuplex = request.fullDuplex === true;
      if (this.#asked !== undefined) {
        this.#call.sendMetadata(toMetadata(this.#asked.responseHeaders));
      }
    }
    if (this.#fullDuplex) await this.#respond();
  }

  async finish(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    await finishStream(this.#call, this.#asked, this.#requests, this.#sent);
  }

  async #respond(): Promise<void> {
    const data = this.#asked?.responseData?.[this.#sent];
    if (data === undefined) return await this.finish();
    await delay(this.#asked?.responseDelayMs);
    const requests = this.#requests;
    this.#requests = [];
    this.#call.write(
      encodeResponse(data, this.#sent++ === 0 ? infoOf(this.#call, requests) : { requests }),
    );
  }
}

async function answerOnce(
  call: AnyCall,
  asked: UnaryDefinition | undefined,
  requests: readonly Any[],
  done: grpc.sendUnaryData<Raw>,
): Promise<void> {
  if (asked !== undefined) call.sendMetadata(toMetadata(asked.responseHeaders));
  await delay(asked?.responseDelayMs);
  const info = infoOf(call, requests);
  const trailers = toMetadata(asked?.responseTrailers);
  if (asked?.error !== undefined) done(toStatus(asked.error, info, trailers));
  else done(null, encodeResponse(asked?.responseData, info), trailers);
}

/** Sends the responses that are still due, then the status. */
async function finishStream(
  call: grpc.ServerWritableStream<Raw, Raw> | grpc.ServerDuplexStream<Raw, Raw>,
  asked: StreamDefinition | undefined,
  requests: readonly Any[],
  sent: number,
): Promise<void> {
  for (const data of asked?.responseData?.slice(sent) ?? []) {
    await delay(asked?.responseDelayMs);
    if (call.cancelled) return;
    call.write(encodeResponse(data, sent === 0 ? infoOf(call, requests) : undefined));
    sent++;
  }
  const trailers = toMetadata(asked?.responseTrailers);
  if (asked?.error === undefined) call.end(trailers);
  else {call.emit(
      "error",
      toStatus(asked.error, sent === 0 ? infoOf(call, requests) : undefined, trailers),
    );}
}

function infoOf(call: AnyCall, requests: readonly Any[]): RequestInfo {
  const headers = Object.entries(call.metadata.toJSON()).map(([name, values]): Header => ({
    name,
    value: values.map((value) => typeof value === "string" ? value : value.toString("base64")),
  }));
  const deadline = Number(call.getDeadline());
  return {
    requestHeaders: headers,
    requests,
    ...(Number.isFinite(deadline)
      ? { timeoutMs: Math.max(0, Math.round(deadline - Date.now())) }
      : {}),
  };
}

function toMetadata(headers: readonly Header[] = []): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const { name, value } of headers) {
    for (const one of value) {
      metadata.add(name, name.toLowerCase().endsWith("-bin") ? Buffer.from(one, "base64") : one);
    }
  }
  return metadata;
}

function toStatus(
  error: RpcError,
  info: RequestInfo | undefined,
  metadata: grpc.Metadata,
): grpc.StatusObject {
  const { code, message = "" } = error;
  const details = info === undefined ? error.details ?? [] : detailsWith(error, info);
  metadata.set(
    "grpc-status-details-bin",
    Buffer.from(encode("Status", { code, message, details })),
  );
  return { code, details: message, metadata };
}

function delay(ms = 0): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

function method(
  name: string,
  requestStream: boolean,
  responseStream: boolean,
): grpc.MethodDefinition<Raw, Raw> {
  const toBuffer = (bytes: Raw) => Buffer.from(bytes);
  const asItIs = (bytes: Raw) => bytes;
  return {
    path: `${SERVICE}/${name}`,
    requestStream,
    responseStream,
    requestSerialize: toBuffer,
    requestDeserialize: asItIs,
    responseSerialize: toBuffer,
    responseDeserialize: asItIs,
  };
}
