/**
 * One stream of a source that dialled our ResourceSink: each message is judged, kept, and only then
 * answered.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { McpSinkMachine } from "../protocol/mcp_sink.ts";
import type { SinkWatchStatus } from "../protocol/sink_watch.ts";
import type { Judgement, PushHead } from "../receive/received.ts";
import { requestResourcesCodec } from "../wire/messages.ts";
import { readResourcesHead, type ResourcesHead } from "../wire/resources_head.ts";
import { Asking } from "./asking.ts";
import type { Inbox } from "./inbox.ts";
import { Pace } from "./pace.ts";
import { PushAnswers } from "./push_answers.ts";
import { type EndStatus, STATUS_CODES } from "./push_stream.ts";
import { readTrigger } from "./read_trigger.ts";
import type { ReceivedStreamInfo } from "./receiver_observer.ts";
import { machineOf, type ReceivingParts } from "./receiving_parts.ts";
import type { Attachment } from "./sender.ts";
import type { NamedBy } from "./source_name.ts";
import type { StreamEnd } from "./source_memory.ts";
import type { AcceptedPush, RefusedPush } from "./source_registry.ts";
import { tooLarge } from "./too_large.ts";
import { Unsaved } from "./unsaved.ts";

/** Pace of answers to what was not asked for: a heartbeat is answered at once, a storm of them is not. */
const UNASKED_PACE = { first: 50, most: 2000 };

/** Triggers that may wait for their answers. */
const MOST_TRIGGERS = 16;

/** Longest reason of a refusal. Characters. */
const LONGEST_REASON = 2000;

const TOO_MANY = "more than can be kept: wait for the answer before the next push of a collection";
const NO_ROOM = "sources send more than can be kept for now, this one the most: come again later";

/** One stream of a source at work. It ends with its stream. */
export class Receiving implements ReceivedStreamInfo {
  readonly key: number;
  readonly openedAt: number;
  /** Resolves when the stream is over and nothing of it is worked on any more. */
  readonly done: Promise<void>;
  readonly #parts: ReceivingParts;
  readonly #machine: McpSinkMachine;
  readonly #asking: Asking;
  readonly #attachment: Attachment;
  readonly #inbox: Inbox;
  readonly #answers: PushAnswers;
  readonly #unasked = new Pace(UNASKED_PACE);
  readonly #unsaved: Unsaved;
  #bytesReceived = 0;
  #triggers = 0;
  #reason: string | undefined;
  #endedBy: "us" | "source" | "successor" | undefined;

  constructor(parts: ReceivingParts) {
    const { stream, clock, sender } = this.#parts = parts;
    this.key = parts.key;
    this.openedAt = clock.now();
    this.#inbox = parts.inbox(() => this.end({ code: "RESOURCE_EXHAUSTED", message: NO_ROOM }));
    this.#machine = machineOf(parts);
    const wake = () => this.#attachment.wake();
    const shared = { machine: this.#machine, clock, signal: stream.signal, wake };
    this.#asking = new Asking({ ...shared, cautious: parts.cautious, skip: parts.skip });
    this.#answers = new PushAnswers({ ...shared, failed: (error) => this.#fail(error) });
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
    return this.#asking.status();
  }

  /** How it ended, once it has. */
  howEnded(): StreamEnd {
    // Whatever ended it on our side, a limit of ours included, says nothing about the source.
    const by = this.#endedBy ?? (this.#parts.stream.failure === undefined ? "source" : "us");
    return by === "us" ? { abrupt: false } : this.#asking.howEnded();
  }

  /** The source has opened another stream: this one is ended. */
  replaced(reason: string): void {
    this.#endedBy ??= "successor"; // the source may have given this one up without a word
    this.#reason ??= reason;
    this.#parts.stream.end({ code: "ABORTED", message: reason });
  }

  /** Ends the stream; the reason is logged. */
  end(status: EndStatus): void {
    if (this.#parts.stream.signal.aborted) return;
    this.#endedBy ??= "us";
    this.#reason ??= status.message;
    this.#parts.stream.end(status);
  }

  get #signal(): AbortSignal {
    return this.#parts.stream.signal;
  }

  async #run(): Promise<void> {
    const work = this.#inbox.each((bytes) => this.#work(bytes));
    await Promise.all([work, this.#asking.run()]);
  }

  #next() {
    const request = this.#machine.next();
    if (request === undefined) return undefined;
    if (request.responseNonce === "") this.#asking.asked();
    const bytes = requestResourcesCodec.encode(request);
    return { pieces: [bytes], length: bytes.length };
  }

  #receive(bytes: Uint8Array): void {
    this.#bytesReceived += bytes.length;
    const trigger = readTrigger(bytes);
    if (trigger !== undefined) return this.#decline(trigger);
    this.#asking.heard(bytes);
    if (this.#inbox.put(bytes)) return;
    this.end({ code: "RESOURCE_EXHAUSTED", message: TOO_MANY });
  }

  /** Whoever asks whether we are there does not wait for long, so neither does the answer: for no judge. */
  #decline(trigger: PushHead): void {
    if (++this.#triggers > MOST_TRIGGERS) {
      return this.end({ code: "RESOURCE_EXHAUSTED", message: "too many triggers" });
    }
    this.#answers.later(this.#unasked.delay(this.#parts.clock.now()), () => {
      this.#triggers--;
      const received = this.#machine.receive(trigger, this.#parts.clock.now());
      if (received.kind === "error") this.end(received);
      else this.#attachment.wake();
    });
  }

  async #work(bytes: Uint8Array): Promise<void> {
    try {
      const head = this.#readHead(bytes);
      if (head !== undefined) await this.#take(head, bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #readHead(bytes: Uint8Array): ResourcesHead | undefined {
    try {
      return readResourcesHead(bytes);
    } catch (error) {
      this.end({ code: "INVALID_ARGUMENT", message: reasonOf(error) });
      return undefined;
    }
  }

  /** Judging takes long: what was not asked for is not judged. */
  async #take(head: ResourcesHead, bytes: Uint8Array): Promise<void> {
    const { clock, answered } = this.#parts;
    const received = this.#machine.receive(head, clock.now());
    if (received.kind === "error") return this.end(received);
    this.#attachment.wake(); // a cautious stream asks on
    if (received.kind === "trigger" || received.kind === "unasked") {
      const wait = this.#unasked.delay(clock.now());
      return wait === 0 ? undefined : await clock.sleep(wait, this.#signal);
    }
    answered(head.type);
    if (received.kind === "difference") {
      const { message } = received;
      return this.#refuse({ kind: "refused", head, findings: [], message }, bytes.length);
    }
    await this.#judge(head, bytes);
  }

  /** What goes wrong with a push ends one stream, not the process. */
  #fail(error: unknown): void {
    this.end({ code: "INTERNAL", message: `the push could not be handled: ${reasonOf(error)}` });
  }

  async #judge(head: PushHead, bytes: Uint8Array): Promise<void> {
    const { judge, connection, observer } = this.#parts;
    const { length } = bytes; // the judge may give its memory away
    const options = {
      protocol: "mcp",
      namespaces: connection.namespaces,
      queue: connection.name,
    } as const;
    let judgement: Judgement;
    try {
      judgement = await judge(bytes, options, this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) this.#unjudged(head, reasonOf(error));
      return;
    }
    if (this.#signal.aborted) return;
    if (judgement.kind === "unreadable") {
      return this.end({ code: "INVALID_ARGUMENT", message: judgement.message });
    }
    if (judgement.kind === "refused") return this.#refuse(judgement, length);
    observer.push(this, judgement, length);
    await this.#accept(judgement);
  }

  /** That we failed to judge says nothing about the push: it is welcome again, ever later. */
  #unjudged(head: PushHead, message: string): void {
    this.#parts.connection.refused({ kind: "refused", head, findings: [], message });
    this.#nack(head, STATUS_CODES.UNAVAILABLE, message);
    this.#unsaved.add(head.type, message);
  }

  #refuse(push: RefusedPush, bytes: number): void {
    this.#parts.observer.push(this, push, bytes);
    this.#parts.connection.refused(push);
    this.#nack(push.head, STATUS_CODES.INVALID_ARGUMENT, push.message);
  }

  async #accept(push: AcceptedPush): Promise<void> {
    const { head } = push;
    const taken = await this.#parts.connection.take(push, this.#signal);
    if (this.#signal.aborted) return;
    if (!taken.ok) {
      this.#nack(head, STATUS_CODES.UNAVAILABLE, taken.message);
      return this.#unsaved.add(head.type, taken.message);
    }
    this.#unsaved.delete(head.type);
    this.#parts.observer.acked(this, head);
    this.#answers.ack(head);
  }

  #nack(head: PushHead, code: number, message: string): void {
    const status = { code, message: message.slice(0, LONGEST_REASON), details: [] };
    this.#parts.observer.nacked(this, head, status);
    this.#answers.nack(head, status);
  }

  #closed(): void {
    const { connection, observer, stream } = this.#parts;
    this.#attachment[Symbol.dispose]();
    this.#inbox.close();
    const large = tooLarge(stream.failure, this.#machine.unanswered());
    if (large !== undefined) {
      this.#reason = large.message;
      connection.refused(large);
    }
    connection[Symbol.dispose]();
    observer.closed(this, this.#reason ?? stream.failure);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
