/**
 * Being a ResourceSink for other sources: each is named, let in or not, and its streams are kept.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { Judge } from "../receive/received.ts";
import type { Clock } from "../rollout/clock.ts";
import { type InboxLimits, InboxRoom } from "./inbox.ts";
import type { PushStream } from "./push_stream.ts";
import type { ReceivedStreamInfo, ReceiverObserver } from "./receiver_observer.ts";
import { Receiving } from "./receiving.ts";
import type { Sender } from "./sender.ts";
import type { PushServer } from "./server.ts";
import { RESOURCE_SINK_PATH } from "./sink_link.ts";
import {
  INSTANCE_HEADER,
  isProven,
  nameSource,
  type NamingOptions,
  type SourceNaming,
} from "./source_name.ts";
import { SourceMemory } from "./source_memory.ts";
import { isConnection, type SourceConnection, type SourceRegistry } from "./source_registry.ts";

/** What a receiver works with. */
export interface ReceiverOptions {
  /** Our name to sources. */
  readonly instance: string;
  readonly naming: NamingOptions;
  /** MCP collections to ask for. */
  readonly collections: readonly string[];
  readonly registry: SourceRegistry;
  readonly judge: Judge;
  readonly sender: Sender;
  readonly observer: ReceiverObserver;
  readonly clock: Clock;
  /** What may wait to be judged, of one stream. Default: two messages a collection and 16 more, 64 MiB. */
  readonly inbox?: Partial<InboxLimits>;
  /** What may wait to be judged of all streams together. Bytes; default: four times as much as of one. */
  readonly room?: number;
}

/** Sources of which something is remembered between their streams; the one longest away is forgotten first. */
const REMEMBERED = 1000;

const HOW_TO_NAME = `certificate, by token, or by the header ${INSTANCE_HEADER}`;

/** Serves ResourceSink. Disposing it ends every stream and waits until nothing is worked on. */
export class Receiver implements AsyncDisposable {
  readonly #options: ReceiverOptions;
  readonly #inbox: InboxLimits;
  readonly #room: InboxRoom;
  readonly #live = new Map<PushStream, Receiving>();
  readonly #working = new Set<Promise<void>>();
  readonly #memories = new Map<string, SourceMemory>();
  #keys = 0;
  #disposed = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#inbox = {
      messages: 2 * options.collections.length + 16,
      bytes: 64 * 1024 * 1024,
      ...options.inbox,
    };
    this.#room = new InboxRoom(options.room ?? 4 * this.#inbox.bytes);
  }

  /** Adds ResourceSink to a server. */
  serveOn(server: PushServer): void {
    server.addStream(RESOURCE_SINK_PATH, (stream) => this.open(stream));
  }

  /** The live streams, oldest first. */
  list(): ReceivedStreamInfo[] {
    return [...this.#live.values()];
  }

  /** Takes a stream that a source opened, or ends it with the reason why not. */
  open(stream: PushStream): void {
    if (this.#disposed) return stream.end({ code: "UNAVAILABLE", message: "shutting down" });
    // Gone before it was heard: it has no address, which might be all that it is told apart by.
    if (stream.peer.address === "") {
      return stream.end({ code: "UNAVAILABLE", message: "the connection is gone" });
    }
    const naming = nameSource(stream, this.#options.naming);
    if (naming.kind === "denied") return this.#deny(stream, naming.code, naming.message);
    const { name, by } = naming;
    const memory = this.#memories.get(name) ?? new SourceMemory();
    const wrong = this.#claims(stream, naming, memory);
    if (wrong !== undefined) return this.#deny(stream, "PERMISSION_DENIED", wrong);
    const connection = this.#connect(stream, naming);
    if (!isConnection(connection)) {
      return this.#deny(stream, "PERMISSION_DENIED", connection.refused);
    }
    this.#remember(name, memory);
    memory.proven ||= isProven(by);
    memory.learn(addressOf(stream), this.#options.clock.now());
    this.#start(stream, naming, { connection, memory });
  }

  /** Ends the streams of sources whose token does not count any more; to be called when tokens have changed. */
  tokensChanged(): void {
    for (const [stream, receiving] of this.#live) {
      if (receiving.namedBy !== "token") continue;
      const naming = nameSource(stream, this.#options.naming);
      if (naming.kind === "named" && naming.name === receiving.source) continue;
      const message = `the token of ${receiving.source} was replaced or withdrawn`;
      receiving.end({ code: "UNAUTHENTICATED", message });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    for (const receiving of this.#live.values()) {
      receiving.end({ code: "UNAVAILABLE", message: "shutting down" });
    }
    await Promise.all(this.#working);
  }

  #deny(stream: PushStream, code: "UNAUTHENTICATED" | "PERMISSION_DENIED", message: string): void {
    this.#options.observer.denied(addressOf(stream), message);
    stream.end({ code, message });
  }

  /** Why this stream may not have its name, if it may not. */
  #claims(stream: PushStream, { name, by }: Named, memory: SourceMemory): string | undefined {
    if (memory.proven && !isProven(by)) {
      return `${name} is the name of a source that proved it by certificate or token`;
    }
    const live = this.list().find(({ source }) => source === name);
    if (live === undefined || live.address === addressOf(stream)) return undefined;
    if (!memory.takesOver(this.#options.clock.now())) {
      return `the source ${name} is connected from ${live.address}, and the two keep taking each ` +
        `other's place: give each a name of its own, by ${HOW_TO_NAME}`;
    }
    return undefined;
  }

  #connect(stream: PushStream, { name, by, instance, resumes, namespaces }: Named) {
    return this.#options.registry.connect({
      name,
      namedBy: by,
      address: stream.peer.address,
      ...(instance === undefined ? {} : { instance }),
      resumes,
      namespaces,
      end: (reason) => this.#replace(stream, reason),
    });
  }

  #start(stream: PushStream, { by, instance, resumes }: Named, known: Known): void {
    const { instance: nodeId, collections, judge, sender, observer, clock } = this.#options;
    const { connection, memory } = known;
    const { skip } = memory;
    const cautious = connection.cautious || memory.cautious;
    const key = ++this.#keys;
    const receiving = new Receiving({
      ...{ key, stream, connection, skip, cautious, namedBy: by, instance, resumes, nodeId },
      ...{ collections, answered: (collection) => memory.answered(collection) },
      ...{ judge, sender, observer, clock, unsaved: memory.unsaved },
      inbox: (givenUp) => this.#room.open(this.#inbox, givenUp),
    });
    const working = receiving.done.finally(() => this.#working.delete(working));
    this.#working.add(working);
    if (stream.signal.aborted) return;
    this.#live.set(stream, receiving);
    stream.signal.addEventListener("abort", () => {
      this.#live.delete(stream);
      memory.end(receiving.howEnded(), clock.now());
    }, { once: true });
  }

  #replace(stream: PushStream, reason: string): void {
    const receiving = this.#live.get(stream);
    if (receiving === undefined) stream.end({ code: "ABORTED", message: reason });
    else receiving.replaced(reason);
  }

  /** Only of those that came in: nobody else can make us forget one. */
  #remember(name: string, memory: SourceMemory): void {
    this.#memories.delete(name);
    this.#memories.set(name, memory);
    if (this.#memories.size <= REMEMBERED) return;
    this.#memories.delete(this.#memories.keys().next().value!);
  }
}

type Named = Extract<SourceNaming, { readonly kind: "named" }>;

/** What is known of a source when its stream starts. */
interface Known {
  readonly connection: SourceConnection;
  readonly memory: SourceMemory;
}

function addressOf({ peer: { address, port } }: PushStream): string {
  return formatHostPort(address, port);
}
