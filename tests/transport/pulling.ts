/**
 * What pulling works with in tests: a registry in memory, servers whose streams are the test's, a clock
 * that the test moves.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { judge } from "../../lib/receive/judge.ts";
import type { Judgement } from "../../lib/receive/received.ts";
import type {
  SourceConnection,
  SourceIntroduction,
  SourceRegistry,
  Taken,
} from "../../lib/receive/registry.ts";
import { ADS_PATHS } from "../../lib/transport/method_paths.ts";
import type { PullContext, PullTarget } from "../../lib/transport/pull_link.ts";
import { Pulls } from "../../lib/transport/puller.ts";
import type { PushStream } from "../../lib/transport/push_stream.ts";
import { Sender } from "../../lib/transport/sender.ts";
import {
  type DeltaDiscoveryRequest,
  deltaDiscoveryRequestCodec,
  deltaDiscoveryResponseCodec,
  type DiscoveryRequest,
  discoveryRequestCodec,
  discoveryResponseCodec,
  mcpResourceCodec,
} from "../../lib/wire/messages.ts";
import { mcpResource } from "../receive/pushes.ts";
import { FakeClock, FakeStream, settle } from "./fakes.ts";

/** The type that tests serve. */
export const SERVICE_ENTRY = "networking.istio.io/v1/ServiceEntry";

/** Where tests pull from, unless they say otherwise. */
export const TARGET: PullTarget = {
  url: "xds://upstream.example:15010",
  host: "upstream.example",
  port: 15010,
  headers: { "x-site": "fra" },
  namespaces: [],
};

type Accepted = Extract<Judgement, { kind: "accepted" }>;

/** Keeps what each source gave, by kind: name → the source's version. */
export class MemoryRegistry implements SourceRegistry {
  readonly sets = new Map<string, Map<string, Map<string, string>>>();
  readonly log: string[] = [];
  readonly introductions: SourceIntroduction[] = [];
  connected = 0;
  refuse: string | undefined;
  /** What takes come to, in place of being kept. */
  fault: string | undefined;

  connect(source: SourceIntroduction): SourceConnection | { readonly refused: string } {
    this.introductions.push(source);
    if (this.refuse !== undefined) return { refused: this.refuse };
    this.connected++;
    const kinds = this.sets.get(source.name) ?? new Map<string, Map<string, string>>();
    this.sets.set(source.name, kinds);
    return {
      name: source.name,
      namespaces: [],
      cautious: false,
      held: (type) => Object.fromEntries(kinds.get(type.split("/").at(-1)!) ?? []),
      take: (judgement) => this.#take(kinds, judgement),
      refused: ({ head, message }) => void this.log.push(`refused ${head.nonce}: ${message}`),
      [Symbol.dispose]: () => void this.connected--,
    };
  }

  /** Names that a source gave, of a kind. */
  names(kind = "ServiceEntry", url = TARGET.url): string[] {
    return [...this.sets.get(url)?.get(kind)?.keys() ?? []].sort();
  }

  async #take(kinds: Map<string, Map<string, string>>, judgement: Accepted): Promise<Taken> {
    await Promise.resolve();
    if (this.fault !== undefined) return { ok: false, message: this.fault };
    const { head, kindName, resources, removed } = judgement;
    this.log.push(`took ${head.nonce}`);
    const set = new Map(head.incremental ? kinds.get(kindName!) : []);
    for (const name of removed) set.delete(name);
    for (const { resource, told } of resources) set.set(resource.name, told);
    kinds.set(kindName!, set);
    return { ok: true };
  }
}

/** One stream of a server that is pulled from. */
export class ServedStream extends FakeStream {
  override readonly path: string;
  #read = 0;

  constructor(path: string) {
    super();
    this.path = path;
  }

  get variant(): "sotw" | "delta" {
    return this.path.endsWith("DeltaAggregatedResources") ? "delta" : "sotw";
  }

  /** Requests written since the last call. */
  requests(): (DiscoveryRequest & DeltaDiscoveryRequest)[] {
    const codec = this.variant === "delta" ? deltaDiscoveryRequestCodec : discoveryRequestCodec;
    const fresh = this.written.slice(this.#read);
    this.#read = this.written.length;
    return fresh.map((bytes) => codec.decode(bytes) as DiscoveryRequest & DeltaDiscoveryRequest);
  }

  /** Answers, the way of this variant. `names` with a version each: `shop/a@1`. */
  respond(nonce: string, names: readonly string[] = [], more: Partial<Response> = {}): void {
    const { type = SERVICE_ENTRY, removed = [], controlPlane = "" } = more;
    const resources = names.map((text) => {
      const [name, version] = text.split("@") as [string, string];
      // Without a namespace a name is refused.
      const value = mcpResourceCodec.encode(mcpResource(name, undefined, { version }));
      return { name, version, resource: { typeUrl: MCP_RESOURCE_TYPE_URL, value } };
    });
    const head = {
      typeUrl: type,
      nonce,
      ...(controlPlane === "" ? {} : { controlPlane: { identifier: controlPlane } }),
    };
    this.request(
      this.variant === "sotw"
        ? discoveryResponseCodec.encode({
          ...head,
          versionInfo: `v-${nonce}`,
          resources: resources.map(({ resource }) => resource),
        })
        : deltaDiscoveryResponseCodec.encode({ ...head, resources, removedResources: removed }),
    );
  }

  /** The server ends the stream with a status. */
  fail(failure: string): void {
    this.failure = failure;
    this.leave();
  }
}

interface Response {
  readonly type: string;
  readonly removed: readonly string[];
  readonly controlPlane: string;
}

/** Pulls whose servers, addresses and streams are the test's. */
export class PullBench implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly registry = new MemoryRegistry();
  readonly streams: ServedStream[] = [];
  readonly dialled: { host: string | undefined; headers: Readonly<Record<string, string>> }[] = [];
  readonly log: string[] = [];
  readonly sender = new Sender({ now: () => this.clock.now() });
  addresses: string[] | Error = ["192.0.2.1"];
  /** What becomes of an attempt, in place of a stream. */
  dial: ((host: string | undefined) => Promise<PushStream> | undefined) | undefined;
  readonly pulls: Pulls;

  constructor(options: Partial<PullContext> = {}) {
    this.pulls = new Pulls({
      registry: this.registry,
      judge: (bytes, options) => Promise.resolve(judge(bytes, options)),
      sender: this.sender,
      clock: this.clock,
      random: () => 0,
      instance: "edge-1",
      resolve: () =>
        this.addresses instanceof Error
          ? Promise.reject(this.addresses)
          : Promise.resolve(this.addresses),
      dial: ({ headers }, { host }, path, { signal }) => {
        this.dialled.push({ host, headers });
        const instead = this.dial?.(host);
        if (instead !== undefined) return instead;
        const stream = new ServedStream(path);
        signal.addEventListener("abort", () => stream.leave());
        this.streams.push(stream);
        return Promise.resolve(stream);
      },
      observer: {
        up: (_url, address, variant) => void this.log.push(`up ${address} ${variant}`),
        down: (_url, address, reason, retry) =>
          void this.log.push(`down ${address} for ${retry}: ${reason}`),
        learned: (_url, address, reason) => void this.log.push(`learned ${address}: ${reason}`),
      },
      ...options,
    });
  }

  /** The newest stream. */
  get stream(): ServedStream {
    const stream = this.streams.at(-1);
    assert(stream !== undefined, "no stream was opened");
    return stream;
  }

  /** Starts to pull; the first stream is open. */
  async start(...targets: PullTarget[]): Promise<ServedStream> {
    this.pulls.configure(targets.length === 0 ? [TARGET] : targets);
    await this.rest();
    return this.stream;
  }

  /** Lets everything happen that needs no time. */
  async rest(): Promise<void> {
    const writes = () => this.streams.reduce((sum, { written }) => sum + written.length, 0);
    let before: number;
    do {
      before = writes();
      await settle();
    } while (writes() !== before);
  }

  /** Moves time on, and lets everything happen that follows from it. */
  async pass(ms: number): Promise<void> {
    await this.clock.pass(ms);
    await this.rest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pulls[Symbol.asyncDispose]();
    this.sender[Symbol.dispose]();
  }
}

/** A bench whose server does not know the delta variant. */
export async function sotwBench(): Promise<PullBench> {
  const bench = new PullBench();
  (await bench.start()).fail("UNIMPLEMENTED: unknown method DeltaAggregatedResources");
  await bench.pass(100);
  assertEquals(bench.stream.path, ADS_PATHS.sotw);
  return bench;
}
