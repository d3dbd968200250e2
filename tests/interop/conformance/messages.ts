/**
 * The messages of the gRPC conformance suite, encoded and decoded.
 *
 * @module
 */
import protobuf from "protobufjs";

/** `google.protobuf.Any`. */
export interface Any {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Header or trailer; a value of a `-bin` name is base64. */
export interface Header {
  readonly name: string;
  readonly value: readonly string[];
}

/** The error that a request asks for. */
export interface RpcError {
  readonly code: number;
  readonly message?: string;
  readonly details?: readonly Any[];
}

/** What a request asks of a method with one response. */
export interface UnaryDefinition {
  readonly responseHeaders?: readonly Header[];
  readonly responseTrailers?: readonly Header[];
  readonly responseDelayMs?: number;
  readonly responseData?: Uint8Array;
  readonly error?: RpcError;
}

/** What a request asks of a method with a stream of responses. */
export interface StreamDefinition extends Omit<UnaryDefinition, "responseData"> {
  readonly responseData?: readonly Uint8Array[];
}

/** A request of a method with one response. */
export interface UnaryRequest {
  readonly responseDefinition?: UnaryDefinition;
}

/** A request of a method with a stream of responses. */
export interface StreamRequest {
  readonly responseDefinition?: StreamDefinition;
  readonly fullDuplex?: boolean;
}

/** What came with the call, echoed. */
export interface RequestInfo {
  readonly requestHeaders?: readonly Header[];
  readonly timeoutMs?: number;
  readonly requests: readonly Any[];
}

/** What starts the server under test. */
export interface ServerCompatRequest {
  readonly useTls?: boolean;
  readonly messageReceiveLimit?: number;
}

const PACKAGE = "connectrpc.conformance.v1";

const root = protobuf.parse(
  await Deno.readTextFile(new URL("conformance.proto", import.meta.url)),
).root;

/** Decodes a message of the suite; fields that are absent are absent. */
export function decode<T>(type: string, bytes: Uint8Array): T {
  const message = root.lookupType(`${PACKAGE}.${type}`);
  return message.toObject(message.decode(bytes), { longs: Number }) as T;
}

/** Encodes a message of the suite. */
export function encode(type: string, value: object): Uint8Array {
  const message = root.lookupType(`${PACKAGE}.${type}`);
  return message.encode(message.fromObject(value)).finish();
}

/** A request as it came, as an Any under its own name. */
export function requestAny(type: string, bytes: Uint8Array): Any {
  return { typeUrl: `type.googleapis.com/${PACKAGE}.${type}`, value: bytes };
}

/** A response that holds `data`, and what came with the call where `info` is given. */
export function encodeResponse(
  data: Uint8Array | undefined,
  info: RequestInfo | undefined,
): Uint8Array {
  return encode("Response", {
    payload: {
      ...(data === undefined ? {} : { data }),
      ...(info === undefined ? {} : { requestInfo: info }),
    },
  });
}

/** An error's details with what came with the call added. */
export function detailsWith(error: RpcError, info: RequestInfo): readonly Any[] {
  return [...error.details ?? [], {
    typeUrl: `type.googleapis.com/${PACKAGE}.ConformancePayload.RequestInfo`,
    value: encode("RequestInfo", info),
  }];
}
