/**
 * A receiver on a loopback port, with a judge and a registry of sources that the test can steer; and
 * sources that dial it: our own, and one that says whatever the test wants.
 *
 * @module
 */
import * as grpc from "@grpc/grpc-js";
import { KINDS, MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import { collectionResolver } from "../../lib/protocol/resolve.ts";
import type { Judge, Judgement, PushHead } from "../../lib/receive/received.ts";
import { systemClock } from "../../lib/rollout/clock.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { Hub } from "../../lib/snapshot/hub.ts";
import { dialTarget } from "../../lib/transport/dial_target.ts";
import { Receiver, type ReceiverOptions } from "../../lib/transport/receiver.ts";
import { Sender } from "../../lib/transport/sender.ts";
import { Sessions } from "../../lib/transport/sessions.ts";
import { SinkDialer } from "../../lib/transport/sink_dialer.ts";
import { RESOURCE_SINK_PATH } from "../../lib/transport/sink_link.ts";
import { TokenIndex } from "../../lib/transport/token_index.ts";
import type { SourceIntroduction, SourceRegistry } from "../../lib/receive/registry.ts";
import {
  mcpResourceCodec,
  type RequestResources,
  requestResourcesCodec,
  type Resources,
  resourcesCodec,
} from "../../lib/wire/messages.ts";
import { resourceOf, snapshotOf } from "../protocol/fixtures.ts";
import { type Call, Caller, Serving } from "./serving.ts";
import { now, until } from "./sockets.ts";

/** Collection of service entries. */
export const ENTRIES = KINDS[0]!.collection;

/** Collection of workload entries. */
export const WORKLOADS = KINDS[1]!.collection;

/** What the registry of a bench keeps of a source. */
export interface Kept {
  /** By collection and name, the source's versions. */
  readonly held: Map<string, Record<string, string>>;
  streams: number;
  end: ((reason: string) => void) | undefined;
}

/** Judges a push as ours does, but refuses resources of which the version is `bad`. */
export const judge: Judge = (bytes) => {
  let push: Resources;
  try {
    push = resourcesCodec.decode(bytes);
  } catch (error) {
    return Promise.resolve({ kind: "unreadable", message: `${(error as Error).message}` });
  }
  const head: PushHead = {
    type: push.collection,
    nonce: push.nonce,
    version: push.systemVersionInfo,
    incremental: push.incremental,
  };
  const resources = push.resources.map(({ metadata }) => ({
    resource: resourceOf(metadata!.name, "ours"),
    told: metadata!.version,
  }));
  const bad = resources.find(({ told }) => told === "bad");
  const judgement: Judgement = bad === undefined
    ? {
      kind: "accepted",
      head,
      kindName: KINDS.find(({ collection }) => collection === head.type)?.kind,
      resources,
      removed: push.incremental ? push.removedResources : [],
      findings: [],
    }
    : { kind: "refused", head, findings: [], message: `${bad.resource.name}: it is bad` };
  return Promise.resolve(judgement);
};

/** A receiver and what it works with. */
export class Bench implements AsyncDisposable {
  readonly serving: Serving;
  readonly receiver: Receiver;
  readonly sender: Sender;
  readonly sources = new Map<string, Kept>();
  readonly connected: SourceIntroduction[] = [];
  readonly log: string[] = [];
  cautious = false;
  /** Where set, a push cannot be saved, for this reason. */
  unsaved: string | undefined;
  /** Where set, a push is saved only when this resolves. */
  saving: Promise<void> | undefined;
  refused: string | undefined;

  private constructor(serving: Serving, options: Partial<ReceiverOptions>) {
    this.serving = serving;
    this.sender = new Sender({ now });
    this.receiver = new Receiver({
      instance: "receiver-1",
      naming: { tokens: () => new TokenIndex([]), unproven: true, from: [] },
      collections: [ENTRIES, WORKLOADS],
      registry: this.#registry(),
      judge,
      sender: this.sender,
      clock: systemClock,
      observer: {
        opened: ({ source }) => void this.log.push(`opened ${source}`),
        push: (_, { kind, head }) => void this.log.push(`push ${head.nonce} ${kind}`),
        acked: (_, { nonce }) => void this.log.push(`acked ${nonce}`),
        nacked: (_, { nonce }, { code, message }) =>
          void this.log.push(`nacked ${nonce} ${code} ${message}`),
        closed: ({ source }, reason) => void this.log.push(`closed ${source}: ${reason ?? "left"}`),
        denied: (_, reason) => void this.log.push(`denied: ${reason}`),
      },
      ...options,
    });
    this.receiver.serveOn(serving.server);
  }

  static async start(options: Partial<ReceiverOptions> = {}): Promise<Bench> {
    return new Bench(await Serving.start(), options);
  }

  /** What is held of a source's service entries, by name its version. */
  entries(source: string): Record<string, string> | undefined {
    return this.sources.get(source)?.held.get(ENTRIES);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver[Symbol.asyncDispose]();
    await this.serving[Symbol.asyncDispose]();
    this.sender[Symbol.dispose]();
  }

  #registry(): SourceRegistry {
    return {
      connect: (source) => {
        this.connected.push(source);
        if (this.refused !== undefined) return { refused: this.refused };
        const kept = this.sources.get(source.name) ??
          { held: new Map(), streams: 0, end: undefined };
        this.sources.set(source.name, kept);
        kept.end?.("another stream of this source took its place");
        kept.end = source.end;
        kept.streams++;
        return {
          name: source.name,
          namespaces: source.namespaces ?? [],
          held: (collection) => kept.held.get(collection) ?? {},
          cautious: this.cautious,
          take: async (push, signal) => {
            await this.saving;
            if (this.unsaved !== undefined) return { ok: false, message: this.unsaved };
            if (signal.aborted) return { ok: false, message: "too late" };
            const { head: { type, incremental }, resources, removed } = push;
            const set = incremental ? { ...kept.held.get(type) } : {};
            for (const { resource, told } of resources) set[resource.name] = told;
            for (const name of removed) delete set[name];
            kept.held.set(type, set);
            return { ok: true };
          },
          refused: ({ message }) => void this.log.push(`refused ${message}`),
          [Symbol.dispose]: () => {
            kept.streams--;
            if (kept.end === source.end) kept.end = undefined;
          },
        };
      },
    };
  }
}

/** A source that says what the test wants. */
export class RawSource implements AsyncDisposable {
  readonly #own: Caller | undefined;
  readonly call: Call;

  /** With `caller`, another stream on that one's connection. */
  constructor(
    port: number,
    headers: Readonly<Record<string, string>> = {},
    caller?: Pick<Caller, "call">,
  ) {
    this.#own = caller === undefined ? new Caller(port) : undefined;
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
    this.call = (caller ?? this.#own!).call(RESOURCE_SINK_PATH, metadata);
  }

  /** Requests received so far. */
  get requests(): RequestResources[] {
    return this.call.received.map((bytes) => requestResourcesCodec.decode(bytes));
  }

  /** Requests as short texts: `? collection`, `+ nonce`, `- nonce code message`. */
  get said(): string[] {
    return this.requests.map(({ collection, responseNonce, errorDetail }) => {
      if (errorDetail !== undefined) {
        return `- ${responseNonce} ${errorDetail.code} ${errorDetail.message}`;
      }
      return responseNonce === "" ? `? ${collection}` : `+ ${responseNonce}`;
    });
  }

  /** Sends a push of resources given as `name@version`. */
  push(nonce: string, resources: readonly string[] = [], more: Partial<Resources> = {}): this {
    this.call.send(resourcesCodec.encode({
      collection: ENTRIES,
      nonce,
      systemVersionInfo: `v${nonce}`,
      resources: resources.map(resourceMessage),
      ...more,
    }));
    return this;
  }

  /** Waits for a request that reads so. */
  async hears(text: string): Promise<void> {
    await until(() => this.said.includes(text), `${text} is said; ${this.said}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.call.raw.cancel();
    await this.#own?.[Symbol.asyncDispose]();
  }
}

function resourceMessage(text: string) {
  const [name, version] = text.split("@") as [string, string];
  return mcpResourceCodec.decode(mcpResourceCodec.encode({ metadata: { name, version } }));
}

/** A Pinnace that dials out to a receiver. */
export class OwnSource implements AsyncDisposable {
  readonly #hub = new Hub();
  readonly #sender = new Sender({ now });
  readonly #sessions: Sessions;
  readonly #dialer: SinkDialer;
  readonly events: string[] = [];

  constructor(port: number, instance: string) {
    this.#sessions = new Sessions({
      targets: this.#hub,
      sender: this.#sender,
      clock: systemClock,
      observer: {
        opened() {},
        sent: (_, { type, content }) => void this.events.push(`sent ${type} ${content.kind}`),
        event: (_, event) => {
          if (event.kind === "ack") this.events.push(`ack ${event.type}`);
          if (event.kind === "nack") this.events.push(`nack ${event.type} ${event.message}`);
        },
        cut() {},
        paced() {},
        overdue() {},
        closed: (_, reason) => void this.events.push(`closed ${reason ?? "left"}`),
      },
    });
    this.#dialer = new SinkDialer({
      sessions: this.#sessions,
      clock: systemClock,
      random: () => 1, // the shortest back-off
      resolver: () => collectionResolver({ unknownCollection: "empty" }),
      resolve: () => Promise.resolve(["127.0.0.1"]),
      instance: () => instance,
      dial: (target, address, path, options) =>
        dialTarget(target, address, path, { ...options, now }),
      observer: { up() {}, down() {} },
      unresolved() {},
    });
    const at = { name: "hub", host: "receiver.example", port, headers: {} };
    const target = { ...at, heartbeat: 30_000, collections: [], wave: 1 };
    this.#dialer.configure([target]);
  }

  /** Makes these the service entries. */
  publish(entries: Readonly<Record<string, string>>): void {
    const resources = Object.entries(entries).map(([name, version]) => ({
      name,
      version,
      bytes: mcpResourceCodec.encode({ metadata: { name, version } }),
    }));
    const collections = new Map([
      ["ServiceEntry", Collection.of(MCP_RESOURCE_TYPE_URL, resources)],
    ]);
    this.#hub.publish({
      snapshot: { ...snapshotOf({}), collections },
      changedAt: systemClock.now(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dialer[Symbol.asyncDispose]();
    this.#sender[Symbol.dispose]();
    this.#sessions[Symbol.dispose]();
  }
}
