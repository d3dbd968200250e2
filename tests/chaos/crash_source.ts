/**
 * A source that dials a ResourceSink again and again, and pushes another revision of its set at each
 * ACK: the first of them in full, or, where the sink holds some already, only what changed.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as grpc from "@grpc/grpc-js";
import {
  type RequestResources,
  requestResourcesCodec,
  resourcesCodec,
  serviceEntryCodec,
} from "../../lib/wire/messages.ts";
import { pause } from "../interop/lib/wait.ts";

const METHOD = "/istio.mcp.v1alpha1.ResourceSink/EstablishResourceStream";
const COLLECTION = "istio/networking/v1alpha3/serviceentries";
const TRIGGER = "$triggerCollection";

/** A stream on which nothing happened for so long is opened anew. Milliseconds. */
const PATIENCE = 3_000;

/** Names of the resources of a revision: their number changes with it, so that a mixture of two is seen. */
export function namesOf(source: string, revision: number): string[] {
  return Array.from({ length: 20 + revision % 5 }, (_, i) => `${source}/service-${i}`);
}

/** What a source does with what it is told. */
export interface CrashSourceHooks {
  /** Gives the next revision, which is about to be pushed. */
  next(): number;
  /** This revision was ACKed. */
  acked(revision: number): void;
  /** The sink says what it holds: names with revisions, as they were told; undefined: it asks for all. */
  asked(held: ReadonlyMap<string, string> | undefined): void;
  /** A push was refused, or the stream ended with an error. */
  failed(message: string): void;
}

type Stream = grpc.ClientDuplexStream<Uint8Array, Uint8Array>;

/** Pushes as the source `name` until the signal is aborted. */
export async function runCrashSource(
  name: string,
  { address, hooks, signal }: {
    readonly address: string;
    readonly hooks: CrashSourceHooks;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    if (await canConnect(address)) await new Pushing(name, hooks).run(address, signal);
    await pause(20);
  }
}

class Pushing {
  readonly #name: string;
  readonly #hooks: CrashSourceHooks;
  /** What the sink holds, as far as it said or ACKed. */
  #held = new Map<string, string>();
  #pending: { readonly nonce: string; readonly revision: number } | undefined;
  #nonces = 0;

  constructor(name: string, hooks: CrashSourceHooks) {
    this.#name = name;
    this.#hooks = hooks;
  }

  async run(address: string, signal: AbortSignal): Promise<void> {
    const client = new grpc.Client(address, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
      "grpc.enable_channelz": 0,
    });
    const headers = new grpc.Metadata();
    headers.set("x-pinnace-instance", this.#name);
    headers.set("x-pinnace-resumes", "1");
    const stream: Stream = client.makeBidiStreamRequest(METHOD, toBuffer, toBuffer, headers);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let patience = setTimeout(end, PATIENCE);
    stream.on("data", (bytes) => {
      clearTimeout(patience);
      patience = setTimeout(end, PATIENCE);
      this.#take(stream, requestResourcesCodec.decode(bytes));
    });
    stream.on("error", (error) => {
      this.#hooks.failed(error.message);
      end();
    });
    stream.on("end", end);
    signal.addEventListener("abort", () => end(), { once: true });
    stream.write(resourcesCodec.encode({ collection: TRIGGER }));
    await ended;
    clearTimeout(patience);
    stream.removeAllListeners("data");
    stream.cancel();
    client.close();
  }

  #take(stream: Stream, request: RequestResources): void {
    const { collection, responseNonce, errorDetail, initialResourceVersions } = request;
    if (collection !== COLLECTION) return; // the trigger's answer, and what we do not have
    if (responseNonce === "") {
      this.#held = new Map(Object.entries(initialResourceVersions));
      this.#hooks.asked(request.incremental ? this.#held : undefined);
    } else if (responseNonce === this.#pending?.nonce) {
      const { revision } = this.#pending;
      if (errorDetail !== undefined) this.#hooks.failed(`NACK: ${errorDetail.message}`);
      else {
        this.#held = new Map(namesOf(this.#name, revision).map((name) => [name, `r${revision}`]));
        this.#hooks.acked(revision);
      }
    } else return;
    this.#push(stream);
  }

  #push(stream: Stream): void {
    const revision = this.#hooks.next();
    const nonce = `n${++this.#nonces}`;
    this.#pending = { nonce, revision };
    const names = namesOf(this.#name, revision);
    const incremental = this.#held.size > 0;
    stream.write(resourcesCodec.encode({
      collection: COLLECTION,
      nonce,
      systemVersionInfo: `r${revision}`,
      incremental,
      resources: names.map((name) => ({
        metadata: { name, version: `r${revision}`, createTime: { seconds: 1_577_836_800n } },
        body: entryOf(name, revision),
      })),
      removedResources: incremental
        ? [...this.#held.keys()].filter((name) => !names.includes(name))
        : [],
    }));
  }
}

function entryOf(name: string, revision: number) {
  return serviceEntryCodec.pack({
    hosts: [`${name.replace("/", ".")}.example.com`],
    ports: [{ number: 80, protocol: "HTTP", name: "http" }],
    location: "MESH_EXTERNAL",
    resolution: "STATIC",
    endpoints: [{ address: "192.0.2.1", labels: { revision: `r${revision}` } }],
  });
}

async function canConnect(address: string): Promise<boolean> {
  const [hostname, port] = address.split(":");
  try {
    (await Deno.connect({ hostname: hostname!, port: Number(port) })).close();
    return true;
  } catch {
    return false;
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
