/**
 * One stream of a source that dialled our ResourceSink: each message is judged, kept, and only then
 * answered.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import { McpSinkMachine } from "../protocol/mcp_sink.ts";
import type { SinkWatchStatus } from "../protocol/sink_watch.ts";
import type { Judge, Judgement, PushHead } from "../receive/received.ts";
import type { Clock } from "../rollout/clock.ts";
import { requestResourcesCodec, type Status } from "../wire/messages.ts";
import { DIAL_BACKOFF } from "./backoff.ts";
import type { Inbox } from "./inbox.ts";
import { Pace, type Retries } from "./pace.ts";
import type { EndStatus, PushStream } from "./push_stream.ts";
import { readTrigger } from "./read_trigger.ts";
import type { ReceivedStreamInfo, ReceiverObserver } from "./receiver_observer.ts";
import type { Attachment, Sender } from "./sender.ts";
import type { NamedBy } from "./source_name.ts";
import type { StreamEnd } from "./source_memory.ts";
import type { AcceptedPush, RefusedPush, SourceConnection } from "./source_registry.ts";
import { Unsaved } from "./unsaved.ts";

/** What a stream of a source is made of. */
export interface ReceivingParts {
  readonly key: number;
  readonly stream: PushStream;
  readonly connection: SourceConnection;
  /** Collections not to ask for. */
  readonly skip: ReadonlySet<string>;
  /** Whether to ask for one collection at a time. */
  readonly cautious: boolean;
  readonly namedBy: NamedBy;
  readonly instance: string | undefined;
  /** `sink_node.id`. */
  readonly nodeId: string;
  readonly collections: readonly string[];
  readonly judge: Judge;
  readonly sender: Sender;
  readonly observer: ReceiverObserver;
  readonly clock: Clock;
  /** Opens what holds its messages until it is given up. */
  readonly inbox: (givenUp: () => void) => Inbox;
  /** Attempts of the source to have its pushes saved; outlives the stream. */
  readonly unsaved: Retries;
}

/** How long a cautious stream waits for the answer about one collection before it asks for the next. Milliseconds. */
const PATIENCE = 10_000;

/** Pace of answers to what was not asked for: a heartbeat is answered at once, a storm of them is not. */
const UNASKED_PACE = { first: 50, most: 2000 };

/** Triggers that may wait for their answers. */
const MOST_TRIGGERS = 16;

/** Longest reason of a refusal. Characters. */
const LONGEST_REASON = 2000;

const TOO_MANY = "more than can be kept: wait for the answer before the next push of a collection";
const NO_ROOM = "sources send more than can be kept for now, this one the most: come again later";

const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

/** One stream of a source at work. It ends with its stream. */
export class Receiving implements ReceivedStreamInfo {
  readonly key: number;
  readonly openedAt: number;
  /** Resolves when the stream is over and nothing of it is worked on any more. */
  readonly done: Promise<void>;
  readonly #parts: ReceivingParts;
  readonly #machine: McpSinkMachine;
  readonly #attachment: Attachment;
  readonly #inbox: Inbox;
  readonly #refusals = new Map<string, Pace>();
  readonly #unasked = new Pace(UNASKED_PACE);
  readonly #unsaved: Unsaved;
  #bytesReceived = 0;
  #triggers = 0;
  #reason: string | undefined;
  #endedBy: "us" | "source" = "source";

  constructor(parts: ReceivingParts) {
    const { connection, stream, clock, sender, instance } = this.#parts = parts;
    this.key = parts.key;
    this.openedAt = clock.now();
    this.#inbox = parts.inbox(() => this.end({ code: "RESOURCE_EXHAUSTED", message: NO_ROOM }));
    this.#machine = new McpSinkMachine({
      nodeId: parts.nodeId,
      collections: parts.collections,
      incremental: true,
      initial: (collection) => connection.held(collection),
      resumes: instance !== undefined, // a Pinnace
      cautious: parts.cautious,
      skip: parts.skip,
    });
    this.#unsaved = new Unsaved({
      clock,
      retries: parts.unsaved,
      signal: stream.signal,
      end: (message) => this.end({ code: "UNAVAILABLE", message }),
    });
    this.#attachment = sender.attach(stream, () => this.#next(), {
      onCut: (reason) => this.#reason ??= reason,
    });
    parts.observer.opened(this);
    stream.signal.addEventListener("abort", () => this.#closed(), { once: true });
    stream.onRequest((bytes) => this.#receive(bytes));
    this.done = this.#run();
    if (stream.signal.aborted) this.#closed();
    else this.#attachment.wake();
  }

  get source(): string {
    return this.#parts.connection.name;
  }

  get namedBy(): NamedBy {
    return this.#parts.namedBy;
  }

  get instance(): string | undefined {
    return this.#parts.instance;
  }

  get address(): string {
    const { address, port } = this.#parts.stream.peer;
    return formatHostPort(address, port);
  }

  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  collections(): readonly SinkWatchStatus[] {
    return this.#machine.status();
  }

  /** How it ended, once it has. */
  howEnded(): StreamEnd {
    if (this.#endedBy === "us") return { abrupt: false };
    const unanswered = this.#machine.unanswered();
    return {
      abrupt: this.#machine.status().some((one) => one.requested && one.lastPushAt === undefined),
      ...(unanswered === undefined ? {} : { unanswered }),
    };
  }

  /** The source has opened another stream: this one is ended. */
  replaced(reason: string): void {
    this.#reason ??= reason;
    this.#parts.stream.end({ code: "ABORTED", message: reason });
  }

  /** Ends the stream; the reason is logged. */
  end(status: EndStatus): void {
    if (this.#parts.stream.signal.aborted) return;
    this.#endedBy = "us";
    this.#reason ??= status.message;
    this.#parts.stream.end(status);
  }

  get #signal(): AbortSignal {
    return this.#parts.stream.signal;
  }

  async #run(): Promise<void> {
    await Promise.all([this.#inbox.each((bytes) => this.#work(bytes)), this.#goOn()]);
  }

  #next() {
    const request = this.#machine.next();
    if (request === undefined) return undefined;
    const bytes = requestResourcesCodec.encode(request);
    return { pieces: [bytes], length: bytes.length };
  }

  #receive(bytes: Uint8Array): void {
    this.#bytesReceived += bytes.length;
    const trigger = readTrigger(bytes);
    if (trigger !== undefined) return this.#decline(trigger);
    if (this.#inbox.put(bytes)) return;
    this.end({ code: "RESOURCE_EXHAUSTED", message: TOO_MANY });
  }

  /** Whoever asks whether we are there does not wait for long, so neither does the answer: for no judge. */
  #decline(trigger: PushHead): void {
    if (++this.#triggers > MOST_TRIGGERS) {
      return this.end({ code: "RESOURCE_EXHAUSTED", message: "too many triggers" });
    }
    this.#later(this.#unasked.delay(this.#parts.clock.now()), () => {
      this.#triggers--;
      const received = this.#machine.receive(trigger, this.#parts.clock.now());
      if (received.kind === "error") this.end(received);
      else this.#attachment.wake();
    });
  }

  async #work(bytes: Uint8Array): Promise<void> {
    const { judge, connection } = this.#parts;
    const { length } = bytes; // the judge may give its memory away
    try {
      const options = { protocol: "mcp", namespaces: connection.namespaces } as const;
      const judgement = await judge(bytes, options, this.#signal);
      if (!this.#signal.aborted) await this.#heed(judgement, length);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What goes wrong with a push ends one stream, not the process. */
  #fail(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.end({ code: "INTERNAL", message: `the push could not be handled: ${why}` });
  }

  async #heed(judgement: Judgement, bytes: number): Promise<void> {
    if (judgement.kind === "unreadable") {
      return this.end({ code: "INVALID_ARGUMENT", message: judgement.message });
    }
    const { clock } = this.#parts;
    const received = this.#machine.receive(judgement.head, clock.now());
    if (received.kind === "error") return this.end(received);
    this.#attachment.wake(); // a cautious stream asks on
    if (received.kind !== "push") {
      const wait = this.#unasked.delay(clock.now());
      return wait === 0 ? undefined : await clock.sleep(wait, this.#signal);
    }
    this.#parts.observer.push(this, judgement, bytes);
    if (judgement.kind === "refused") this.#refuse(judgement);
    else await this.#accept(judgement);
  }

  #refuse(push: RefusedPush): void {
    this.#parts.connection.refused(push);
    this.#nack(push.head, INVALID_ARGUMENT, push.message);
  }

  async #accept(push: AcceptedPush): Promise<void> {
    const { head } = push;
    const taken = await this.#parts.connection.take(push, this.#signal);
    if (this.#signal.aborted) return;
    if (!taken.ok) {
      this.#nack(head, UNAVAILABLE, taken.message);
      return this.#unsaved.add(head.type, taken.message);
    }
    this.#refusals.get(head.type)?.reset();
    this.#unsaved.delete(head.type);
    this.#parts.observer.acked(this, head);
    this.#settle(head);
  }

  /** A source that sends at once what was refused is answered ever later. */
  #nack(head: PushHead, code: number, message: string): void {
    const { clock, observer } = this.#parts;
    const status = { code, message: message.slice(0, LONGEST_REASON), details: [] };
    let pace = this.#refusals.get(head.type);
    if (pace === undefined) this.#refusals.set(head.type, pace = new Pace(DIAL_BACKOFF));
    const wait = pace.delay(clock.now());
    observer.nacked(this, head, status);
    this.#later(wait, () => this.#settle(head, status));
  }

  /** Does something after so many milliseconds, if the stream still lives then. */
  #later(wait: number, act: () => void): void {
    if (wait === 0) return act();
    this.#parts.clock.sleep(wait, this.#signal).then(() => {
      if (!this.#signal.aborted) act();
    }).catch((error) => this.#fail(error));
  }

  #settle(head: PushHead, error?: Status): void {
    this.#machine.settle(head.type, head.nonce, error);
    this.#attachment.wake();
  }

  /** A source that is silent about one collection may serve the next. */
  async #goOn(): Promise<void> {
    const { clock, cautious } = this.#parts;
    if (!cautious) return;
    while (this.#machine.asking && !this.#signal.aborted) {
      const before = this.#machine.unanswered();
      await clock.sleep(PATIENCE, this.#signal);
      if (this.#signal.aborted || before === undefined) continue;
      if (this.#machine.unanswered() !== before) continue;
      this.#machine.goOn();
      this.#attachment.wake();
    }
  }

  #closed(): void {
    this.#attachment[Symbol.dispose]();
    this.#inbox.close();
    this.#parts.connection[Symbol.dispose]();
    this.#parts.observer.closed(this, this.#reason ?? this.#parts.stream.failure);
  }
}
