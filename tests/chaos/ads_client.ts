/**
 * A small ADS client (state of the world) that takes ServiceEntries and ACKs every push, until its
 * server is gone. On grpc-js, with no bytes decoded but by the wire codecs.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import {
  discoveryRequestCodec,
  discoveryResponseCodec,
  mcpResourceCodec,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";
import { pause } from "../interop/lib/wait.ts";

/** What a push held: for each resource the label `revision` of its first endpoint. */
export type Held = ReadonlyMap<string, string>;

/** What a client does with what it gets. */
export interface AdsClientHooks {
  /** A push came; it is ACKed when this returns. */
  pushed(held: Held): void;
  /** The ACK of the push before was handed to the socket. */
  acked(): void;
  /** A stream ended with an error. */
  failed(message: string): void;
}

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const TYPE_URL = "networking.istio.io/v1/ServiceEntry";

/** A stream that took nothing for so long is opened anew: the runtime loses one now and then. Milliseconds. */
const PATIENCE = 3_000;

type Stream = grpc.ClientDuplexStream<Uint8Array, Uint8Array>;

/** Dials `address` again and again until the signal is aborted, every `retry` milliseconds. */
export async function runAdsClient(
  address: string,
  hooks: AdsClientHooks,
  { signal, retry = 20 }: { readonly signal: AbortSignal; readonly retry?: number },
): Promise<void> {
  while (!signal.aborted) {
    if (await canConnect(address)) await oneStream(address, hooks, signal);
    await pause(retry);
  }
}

/** Whether somebody listens: much cheaper to ask than a channel that has to back off. */
async function canConnect(address: string): Promise<boolean> {
  const [hostname, port] = address.split(":");
  try {
    (await Deno.connect({ hostname: hostname!, port: Number(port) })).close();
    return true;
  } catch {
    return false;
  }
}

async function oneStream(
  address: string,
  hooks: AdsClientHooks,
  signal: AbortSignal,
): Promise<void> {
  const client = new grpc.Client(address, grpc.credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_channelz": 0,
  });
  const stream = client.makeBidiStreamRequest<Uint8Array, Uint8Array>(METHOD, toBuffer, toBuffer);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let patience = setTimeout(end, PATIENCE);
  stream.on("data", (message) => {
    clearTimeout(patience);
    patience = setTimeout(end, PATIENCE);
    take(stream, message, hooks);
  });
  stream.on("error", (error) => {
    hooks.failed(error.message);
    end();
  });
  stream.on("end", end);
  signal.addEventListener("abort", () => end(), { once: true });
  request(stream, {});
  await ended;
  clearTimeout(patience);
  stream.cancel();
  client.close();
}

/** What grpc-js copies messages out of must be a Buffer. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function take(stream: Stream, message: Uint8Array, hooks: AdsClientHooks): void {
  const { versionInfo, nonce, resources } = discoveryResponseCodec.decode(message);
  hooks.pushed(
    new Map(resources.map(({ value }) => {
      const { metadata, body } = mcpResourceCodec.decode(value);
      const { endpoints } = serviceEntryCodec.decode(body!.value);
      return [metadata!.name, endpoints[0]?.labels["revision"] ?? ""];
    })),
  );
  request(stream, { versionInfo, responseNonce: nonce }, () => hooks.acked());
}

function request(
  stream: Stream,
  fields: { readonly versionInfo?: string; readonly responseNonce?: string },
  written?: () => void,
): void {
  const node = { id: "sidecar~10.0.0.1~crash.default~default.svc.cluster.local" };
  stream.write(discoveryRequestCodec.encode({ ...fields, node, typeUrl: TYPE_URL }), written);
}
