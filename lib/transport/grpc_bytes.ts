/**
 * gRPC's calls as bytes: methods without a codec, metadata and status messages as plain data.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";

/** Bytes as grpc-js wants them. Shares memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A method whose requests and responses are bytes; `streams` on both sides or on none. */
export function rawMethod(
  path: string,
  streams: boolean,
): grpc.MethodDefinition<Uint8Array, Uint8Array> {
  const deserialize = (bytes: Uint8Array) => bytes;
  return {
    path,
    requestStream: streams,
    responseStream: streams,
    requestSerialize: asBuffer,
    requestDeserialize: deserialize,
    responseSerialize: asBuffer,
    responseDeserialize: deserialize,
  };
}

/** Metadata as plain data; binary values (keys in `-bin`) as base64. */
export function readMetadata(metadata: grpc.Metadata): Record<string, string[]> {
  const entries = Object.entries(metadata.toJSON());
  return Object.fromEntries(
    entries.map(([key, values]) => [
      key,
      values.map((value) => typeof value === "string" ? value : value.toString("base64")),
    ]),
  );
}

/** Plain data as metadata; binary values (keys in `-bin`) from base64. Throws where gRPC allows no such key or value. */
export function writeMetadata(values: Readonly<Record<string, string>>): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(values)) {
    metadata.set(key, key.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  }
  return metadata;
}

/** A status message travels in a header: bounded, and without lone surrogates, which cannot be encoded. */
export function presentable(message: string): string {
  return message.slice(0, 1000).toWellFormed();
}
