/**
 * Peers of a running Pinnace: one stream each, one collection, every push ACKed.
 *
 * @module
 */
import { dialStream } from "../../lib/transport/dial.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import {
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  discoveryRequestCodec,
  discoveryResponseCodec,
  mcpResourceCodec,
  requestResourcesCodec,
  resourcesCodec,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";
import { until } from "../interop/lib/wait.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const COLLECTION = "istio/networking/v1alpha3/serviceentries";
const TYPE_URL = "networking.istio.io/v1/ServiceEntry";

/** What a peer holds: the addresses of its endpoints, by `namespace/name`. */
export type Held = Map<string, string[]>;

interface Speech {
  readonly path: string;
  request(nonce: string, version: string): Uint8Array;
  take(bytes: Uint8Array, held: Held): { nonce: string; version: string };
}

function put(held: Held, bytes: Uint8Array): void {
  const { metadata, body } = mcpResourceCodec.decode(bytes);
  const { endpoints } = serviceEntryCodec.decode(body!.value);
  held.set(metadata!.name, endpoints.map(({ address }) => address));
}

/** The ways to speak to Pinnace. */
export const SPEECHES: Readonly<Record<"sotw" | "delta" | "mcp", Speech>> = {
  sotw: {
    path: `${ADS}/StreamAggregatedResources`,
    request: (responseNonce, versionInfo) =>
      discoveryRequestCodec.encode({
        node: { id: "smoke" },
        typeUrl: TYPE_URL,
        responseNonce,
        versionInfo,
      }),
    take(bytes, held) {
      const { resources, nonce, versionInfo } = discoveryResponseCodec.decode(bytes);
      held.clear();
      for (const { value } of resources) put(held, value);
      return { nonce, version: versionInfo };
    },
  },
  delta: {
    path: `${ADS}/DeltaAggregatedResources`,
    request: (responseNonce) =>
      deltaDiscoveryRequestCodec.encode({
        node: { id: "smoke" },
        typeUrl: TYPE_URL,
        responseNonce,
      }),
    take(bytes, held) {
      const { resources, removedResources, nonce } = deltaDiscoveryResponseCodec.decode(bytes);
      for (const { resource } of resources) put(held, resource!.value);
      for (const name of removedResources) held.delete(name);
      return { nonce, version: "" };
    },
  },
  mcp: {
    path: "/istio.mcp.v1alpha1.ResourceSource/EstablishResourceStream",
    request: (responseNonce) =>
      requestResourcesCodec.encode({
        sinkNode: { id: "smoke" },
        collection: COLLECTION,
        responseNonce,
      }),
    take(bytes, held) {
      const { resources, nonce } = resourcesCodec.decode(bytes);
      held.clear();
      for (const resource of resources) put(held, mcpResourceCodec.encode(resource));
      return { nonce, version: "" };
    },
  },
};

/** A peer with one stream. Disposing it ends the stream. */
export class Peer implements Disposable {
  readonly held: Held = new Map();
  readonly #stream: PushStream;

  private constructor(stream: PushStream, speech: Speech) {
    this.#stream = stream;
    stream.onRequest((bytes) => {
      const { nonce, version } = speech.take(bytes, this.held);
      send(stream, speech.request(nonce, version));
    });
    send(stream, speech.request("", ""));
  }

  /** Opens a stream to `host:port` and asks for all ServiceEntries. */
  static async open(address: string, speech: Speech): Promise<Peer> {
    return new Peer(await openStream(address, speech.path), speech);
  }

  /** Why the stream is over, once it is. */
  get over(): string | undefined {
    return this.#stream.signal.aborted ? this.#stream.failure ?? "the peer left" : undefined;
  }

  /** Waits until it holds exactly these names with these endpoint addresses. */
  async holds(expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const wanted = JSON.stringify(Object.entries(expected).sort());
    await until(`a peer holds ${wanted}`, () => {
      const actual = JSON.stringify([...this.held].sort());
      if (actual !== wanted) throw new Error(`it holds ${actual}`);
      return true;
    }, { deadline: 20_000 });
  }

  [Symbol.dispose](): void {
    this.#stream.end();
  }
}

/** A stream to a method, for what no well-behaved peer does. */
export function openStream(address: string, path: string): Promise<PushStream> {
  const at = address.lastIndexOf(":");
  return dialStream({ host: address.slice(0, at), port: Number(address.slice(at + 1)) }, path, {
    metadata: {},
    signal: AbortSignal.timeout(60_000),
    now: () => performance.now(),
    maxReceive: 256 * 1024 * 1024, // peers that take whatever comes, as today's istiod does
  });
}

/** Sends one message; that the stream is over shows elsewhere. */
export function send(stream: PushStream, bytes: Uint8Array): void {
  stream.write({ pieces: [bytes], length: bytes.length }).catch(() => {});
}
