/**
 * MCP v1alpha1, the sink's side: ResourceSink, where the source dials us, and ResourceSource, where we
 * dial (protocols.md section 1). It speaks as Istio's own sink library does, so that no source can
 * tell them apart: requests first, an ACK or NACK for each push, UNIMPLEMENTED for what was not asked.
 *
 * @module
 */
import { isTrigger } from "../model/kind.ts";
import type { RequestResources, Status } from "../wire/messages.ts";
import { STREAM_LIMITS } from "./limits.ts";
import { quote } from "./quote.ts";
import { type SinkPush, type SinkWatchStatus, Watch } from "./sink_watch.ts";
import type { StreamErrorCode } from "./stream.ts";

/** How a stream is asked for resources. */
export interface McpSinkOptions {
  /** `sink_node.id`: tells us apart in the source's log. */
  readonly nodeId: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Collections asked for, in this order. */
  readonly collections: readonly string[];
  /** Whether differences are asked for. A source may send all there is nevertheless. */
  readonly incremental: boolean;
  /** What is held of a collection by name, in the source's own versions. Asked when its request is written. */
  readonly initial: (collection: string) => Readonly<Record<string, string>>;
  /**
   * Whether the source heeds `initial_resource_versions`. Istio's own library does not, and answers
   * with a difference from nothing that leaves out what is gone; so where this is false, the first
   * request of a collection of which something is held asks for all there is. Default: true.
   */
  readonly resumes?: boolean;
  /** Ask for one collection at a time, for a source that ends the stream at one it does not serve. Default: false. */
  readonly cautious?: boolean;
  /** Collections not to ask for. */
  readonly skip?: ReadonlySet<string>;
}

/** What a message of the source is. */
export type SinkReceived =
  /** It only wants us to speak, or to see whether we are there; the answer is due. */
  | { readonly kind: "trigger" }
  /** {@link McpSinkMachine.settle} must follow. */
  | { readonly kind: "push"; readonly collection: string }
  /** A difference where all there is was asked for: not to be applied; {@link McpSinkMachine.settle} must follow with this reason. */
  | { readonly kind: "difference"; readonly collection: string; readonly message: string }
  /** Of a collection that is not asked for: not to be applied; its NACK is due. */
  | { readonly kind: "unasked"; readonly collection: string }
  /** Ends the stream. */
  | { readonly kind: "error"; readonly code: StreamErrorCode; readonly message: string };

/** `google.rpc.Code.UNIMPLEMENTED`. */
const UNIMPLEMENTED = 12;

const ALL_WAS_ASKED_FOR =
  "all there is was asked for, and only a difference came: a first request without `incremental` is to be answered in full";

/** Answers to what was not asked for that may wait to be written. */
const MOST_DECLINED = 16;

/** One MCP stream on which we are the sink. Pure: {@link McpSinkMachine.next} is pulled when it can be written. */
export class McpSinkMachine {
  readonly #options: McpSinkOptions;
  readonly #watches = new Map<string, Watch>();
  /** Watches not asked for yet. */
  readonly #toAsk: Watch[];
  /** Answers that are due. */
  readonly #due: RequestResources[] = [];
  /** Those among them that decline what was not asked for. */
  readonly #declined = new Set<RequestResources>();
  /** Those among them that are asked for in spite of what was learned. */
  readonly #doubted = new Set<Watch>();
  /** Asked for last and not answered yet; only where we are cautious or in doubt. */
  #awaited: string | undefined;
  #gate: "open" | "shut" = "open";

  constructor(options: McpSinkOptions) {
    this.#options = options;
    for (const collection of options.collections) {
      if (options.skip?.has(collection) || this.#watches.has(collection)) continue;
      this.#watches.set(collection, new Watch(collection));
    }
    this.#toAsk = [...this.#watches.values()];
  }

  /** Whether there are collections that were not asked for yet. */
  get asking(): boolean {
    return this.#toAsk.length > 0;
  }

  /** The next request: first those that ask, then answers in the order in which they became due. It counts as sent. */
  next(): RequestResources | undefined {
    if (this.#gate === "open" && this.#toAsk.length > 0) return this.#ask(this.#toAsk.shift()!);
    const answer = this.#due.shift();
    if (answer !== undefined) this.#declined.delete(answer);
    return answer;
  }

  /** Takes the head of a message. `at`: milliseconds since the epoch. After it, {@link next} may have something. */
  receive(head: SinkPush, at: number): SinkReceived {
    const { type: collection, nonce } = head;
    if (collection.length > STREAM_LIMITS.typeLength || nonce.length > STREAM_LIMITS.typeLength) {
      const message =
        `collection and nonce must be at most ${STREAM_LIMITS.typeLength} characters long`;
      return { kind: "error", code: "INVALID_ARGUMENT", message };
    }
    const watch = this.#watches.get(collection);
    if (watch === undefined) return this.#decline(collection, nonce);
    const unfit = watch.wantsAll && head.incremental;
    if (!watch.take(head, at)) {
      const message = `${quote(collection)}: too many pushes without waiting for their answers`;
      return { kind: "error", code: "RESOURCE_EXHAUSTED", message };
    }
    if (this.#awaited === collection) {
      this.#awaited = undefined;
      this.#gate = "open";
    }
    if (unfit) return { kind: "difference", collection, message: ALL_WAS_ASKED_FOR };
    return { kind: "push", collection };
  }

  /**
   * Says what became of a push: without `error` it is accepted. Answers go out in the order of the
   * pushes of the collection. Throws a `TypeError` where no such push waits for that.
   */
  settle(collection: string, nonce: string, error?: Status): void {
    const watch = this.#watches.get(collection);
    if (watch === undefined || !watch.settle(nonce, error)) {
      throw new TypeError(
        `no push of ${quote(collection)} with nonce ${quote(nonce)} is unsettled`,
      );
    }
    for (const answer of watch.answers()) {
      this.#due.push(this.#request(collection, {
        responseNonce: answer.nonce,
        // As Istio's sink: a refusal asks for no difference, since what it would differ from is in doubt.
        ...(answer.error === undefined
          ? { incremental: this.#options.incremental }
          : { errorDetail: answer.error }),
      }));
    }
  }

  /** Where we are cautious: asks for the next collection although the one before was not answered. */
  goOn(): void {
    this.#gate = "open";
  }

  /** Asks for a collection that was to be skipped: the source may have learned it since. */
  askAgain(collection: string): void {
    if (this.#watches.has(collection)) return;
    const watch = new Watch(collection);
    this.#watches.set(collection, watch);
    this.#doubted.add(watch);
    this.#toAsk.push(watch);
    this.goOn();
  }

  /**
   * Where we are cautious, or ask again: the collection that was asked for last and is not answered. Once the
   * stream is over, it is the one that the source may have ended it for.
   */
  unanswered(): string | undefined {
    return this.#awaited;
  }

  /** Each collection that is, or is to be, asked for. */
  status(): readonly SinkWatchStatus[] {
    return [...this.#watches.values()].map((watch) => watch.status());
  }

  #ask(watch: Watch): RequestResources {
    const { incremental, initial, resumes = true, cautious = false } = this.#options;
    const { collection } = watch;
    watch.asked = true;
    if (cautious || this.#doubted.delete(watch)) {
      this.#awaited = collection;
      this.#gate = "shut";
    }
    if (!incremental) return this.#askAll(watch);
    const held = initial(collection);
    if (Object.keys(held).length === 0) return this.#request(collection, { incremental });
    // What is held may be gone at the source, and a difference from nothing would not say so.
    if (!resumes || encodedSize(held) > LARGEST_INITIAL) return this.#askAll(watch);
    return this.#request(collection, { incremental, initialResourceVersions: held });
  }

  #askAll(watch: Watch): RequestResources {
    watch.wantsAll = true;
    return this.#request(watch.collection, {});
  }

  #decline(collection: string, nonce: string): SinkReceived {
    if (this.#declined.size >= MOST_DECLINED) {
      const message = "too many messages that were not asked for, and their answers are not read";
      return { kind: "error", code: "RESOURCE_EXHAUSTED", message };
    }
    const message = `unsupported collection ${collection}`;
    const errorDetail = { code: UNIMPLEMENTED, message, details: [] };
    const answer = this.#request(collection, { responseNonce: nonce, errorDetail });
    this.#declined.add(answer);
    this.#due.push(answer);
    return isTrigger(collection) ? { kind: "trigger" } : { kind: "unasked", collection };
  }

  #request(collection: string, parts: Partial<RequestResources>): RequestResources {
    const { nodeId: id, annotations = {} } = this.#options;
    return {
      sinkNode: { id, annotations },
      collection,
      initialResourceVersions: {},
      responseNonce: "",
      incremental: false,
      ...parts,
    };
  }
}

/** Largest `initial_resource_versions` that are sent: a source takes messages of 4 MiB by default. Bytes. */
const LARGEST_INITIAL = 3 * 1024 * 1024;

/** Bytes of an entry besides its texts, at most. */
const ENTRY = 15;

const encoder = new TextEncoder();

/** Bytes that the map takes on the wire, at most. */
function encodedSize(versions: Readonly<Record<string, string>>): number {
  let size = 0;
  for (const [name, version] of Object.entries(versions)) {
    size += encoder.encode(name).length + encoder.encode(version).length + ENTRY;
  }
  return size;
}
