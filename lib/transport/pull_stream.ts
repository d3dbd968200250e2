/**
 * One stream to a server that is pulled from: asks, has each response judged and kept, and answers it
 * when it is. Responses go one after the other, in the order in which they came.
 *
 * @module
 */
import { kindByTypeUrl } from "../model/kind.ts";
import { AdsClientMachine, type AdsRequest, type AdsTypeStatus } from "../protocol/ads_client.ts";
import type { Judge, Judgement } from "../receive/received.ts";
import type { SourceConnection } from "../receive/registry.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Message } from "../wire/compose.ts";
import { type DiscoveryHead, readDiscoveryHead } from "../wire/discovery_head.ts";
import { deltaDiscoveryRequestCodec, discoveryRequestCodec } from "../wire/messages.ts";
import { PullInbox, type UnjudgedResponse } from "./pull_inbox.ts";
import { circleWith, pullNode, type Serves } from "./pull_node.ts";
import { PullVersions } from "./pull_versions.ts";
import type { PullKnowledge, StreamEnd } from "./pull_knowledge.ts";
import { type PushStream, STATUS_CODES, type StatusName } from "./push_stream.ts";
import type { Attachment, Sender } from "./sender.ts";

/** What a stream works with. */
export interface PullStreamParts {
  readonly stream: PushStream;
  readonly source: SourceConnection;
  readonly knowledge: PullKnowledge;
  readonly judge: Judge;
  readonly sender: Sender;
  readonly clock: Clock;
  /** Our name: a server that has it too is ourselves. */
  readonly instance: string;
  readonly serves: Serves;
  /** Told once, of the first response. */
  readonly answered: () => void;
}

/** How long a server may take to send the first response. Milliseconds. */
const FIRST_ANSWER = 30_000;

/** How long the next type waits for the one before, where one is asked for after the other. Milliseconds. */
const ONE_BY_ONE = 5000;

type Accepted = Extract<Judgement, { kind: "accepted" }>;

/** One stream at work, until it is over. */
export class PullStream {
  readonly #parts: PullStreamParts;
  readonly #machine: AdsClientMachine;
  readonly #variant: "sotw" | "delta";
  readonly #attachment: Attachment;
  readonly #inbox: PullInbox;
  readonly #versions: PullVersions;
  /** Types of which a difference was refused, so that the next builds upon what we do not have. */
  readonly #inDoubt = new Set<string>();
  #wake: () => void = () => {};
  #answered = false;
  /** Whether answers of older versions are no longer waited for, and that is to be acted on. */
  #overdue = false;
  #end: StreamEnd | undefined;
  /** Why the stream is to end once what is due was written. */
  #endWhenAnswered: string | undefined;

  constructor(parts: PullStreamParts) {
    const { stream, source, knowledge, clock, instance, sender } = parts;
    this.#parts = parts;
    this.#variant = knowledge.variant;
    this.#inbox = new PullInbox(knowledge.variant);
    this.#versions = new PullVersions(knowledge);
    this.#machine = new AdsClientMachine({
      variant: knowledge.variant,
      node: pullNode(instance),
      types: knowledge.types(clock.now()),
      initial: (typeUrl) => source.held(typeUrl),
      oneByOne: knowledge.oneByOne,
    });
    this.#attachment = sender.attach(stream, () => this.#next());
  }

  /** Each type, as far as it got. */
  status(): AdsTypeStatus[] {
    return this.#machine.status();
  }

  /** Ends the stream. */
  end(reason: string): void {
    this.#finish({ kind: "ours", reason });
  }

  /** Works until the stream is over; says how it ended. */
  async run(): Promise<StreamEnd> {
    const { stream } = this.#parts;
    const { signal } = stream;
    const over = () => this.#wake();
    signal.addEventListener("abort", over);
    stream.onRequest((bytes) => this.#receive(bytes));
    this.#attachment.wake();
    try {
      await Promise.all([this.#work(signal), this.#watch(signal), this.#goOn(signal)]);
    } finally {
      signal.removeEventListener("abort", over);
      this.#attachment[Symbol.dispose]();
      if (!signal.aborted) stream.end({ code: "CANCELLED", message: "Pinnace ends this stream" });
    }
    return this.#end ?? this.#endOf(stream.failure);
  }

  #next(): Message | undefined {
    const request = this.#machine.next();
    if (request !== undefined) return messageOf(request);
    if (this.#endWhenAnswered !== undefined) this.end(this.#endWhenAnswered);
    return undefined;
  }

  #receive(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    let head: DiscoveryHead;
    try {
      head = readDiscoveryHead(bytes, this.#variant);
    } catch (error) {
      return this.end(`the server sent ${error instanceof Error ? error.message : error}`);
    }
    const { address } = this.#parts.stream.peer;
    const circle = circleWith({ name: head.controlPlane, address }, this.#parts);
    if (circle !== undefined) return this.end(circle);
    if (!this.#inbox.put({ head, bytes })) {
      return this.end(
        "the server sends faster than it can be checked, and does not wait for answers",
      );
    }
    if (!this.#answered) {
      this.#answered = true;
      this.#parts.answered();
    }
    this.#wake();
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#overdue) await this.#believe(signal);
      const response = this.#inbox.take();
      if (response === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      try {
        await this.#take(response, signal);
      } catch (error) {
        if (signal.aborted) return;
        const why = error instanceof Error ? error.message : String(error);
        this.end(`what the server sent could not be checked: ${why}`);
      }
    }
  }

  async #take({ head, bytes }: UnjudgedResponse, signal: AbortSignal): Promise<void> {
    const { type, nonce } = head;
    const received = this.#machine.receive(head);
    if (received.kind === "unasked") return;
    if (received.kind === "unfit") return this.end(received.message);
    if (this.#inDoubt.has(type)) {
      return this.end("a difference was refused before, so all there is is asked for anew");
    }
    const { judge, source: { name: queue, namespaces } } = this.#parts;
    const judgement = await judge(bytes, { protocol: this.#variant, namespaces, queue }, signal);
    if (signal.aborted) return;
    if (judgement.kind === "unreadable") return this.end(judgement.message);
    const refusal = judgement.kind === "refused"
      ? this.#refuse(judgement)
      : await this.#keep(judgement, received.first, signal);
    if (signal.aborted) return;
    if (refusal === undefined) this.#machine.settle(type, nonce);
    else {
      this.#machine.settle(type, nonce, { ...refusal, details: [] });
      if (this.#variant === "delta") this.#inDoubt.add(type);
    }
    this.#attachment.wake();
  }

  #refuse(judgement: Extract<Judgement, { kind: "refused" }>): Refusal {
    const { head: { type }, message } = judgement;
    this.#versions.refused(kindByTypeUrl(type)?.kind, type);
    this.#parts.source.refused(judgement);
    return { code: STATUS_CODES.INVALID_ARGUMENT, message };
  }

  async #keep(
    judgement: Accepted,
    first: boolean,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    const { source } = this.#parts;
    const held = source.held(judgement.head.type);
    if (first && this.#variant === "delta" && this.#unheeded(judgement, held)) return undefined;
    const { take, ask } = this.#versions.decide(judgement, Object.keys(held));
    if (ask !== undefined) this.#machine.ask({ typeUrl: ask });
    for (const one of take) {
      const taken = await source.take(one, signal);
      if (taken.ok) continue;
      this.#endWhenAnswered = `what the server sent was not taken: ${taken.message}`;
      return { code: STATUS_CODES.UNAVAILABLE, message: taken.message };
    }
    return undefined;
  }

  /** Empty answers that were doubted are kept, since no older version has content. */
  async #believe(signal: AbortSignal): Promise<void> {
    this.#overdue = false;
    for (const response of this.#versions.believe()) {
      const taken = await this.#parts.source.take(response, signal);
      if (signal.aborted) return;
      if (!taken.ok) return this.end(`what the server sent was not taken: ${taken.message}`);
    }
  }

  /**
   * Whether a server sends what we said that we hold in the same version. Then it did not compare, so
   * what is gone would not be among the removed names either.
   */
  #unheeded({ resources }: Accepted, held: Readonly<Record<string, string>>): boolean {
    const again = resources.find(({ resource: { name }, told }) =>
      told !== "" && Object.hasOwn(held, name) && held[name] === told
    );
    if (again === undefined) return false;
    const reason = `the server sends ${again.resource.name} although it is held: ` +
      "it pays no heed to initial_resource_versions, so all there is is asked for";
    this.#finish({ kind: "unheeded", reason });
    return true;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    await this.#parts.clock.sleep(FIRST_ANSWER, signal);
    if (signal.aborted) return;
    if (this.#answered) {
      this.#overdue = true;
      return this.#wake();
    }
    const reason = `no response within ${FIRST_ANSWER / 1000} s`;
    this.#finish({ kind: "silent", reason });
  }

  async #goOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#parts.knowledge.oneByOne) {
      await this.#parts.clock.sleep(ONE_BY_ONE, signal);
      this.#machine.goOn();
      this.#attachment.wake();
    }
  }

  #finish(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#parts.stream.end({ code: "CANCELLED", message: end.reason });
  }

  #endOf(failure: string | undefined): StreamEnd {
    const status = this.#machine.status();
    const code = failure === undefined ? "OK" : codeOf(failure);
    return {
      kind: "ended",
      ...(code === undefined ? {} : { code }),
      reason: failure ?? "the server ended the stream",
      answered: this.#answered,
      unanswered: status.filter((one) => one.asked && !one.answered).map((one) => one.type),
    };
  }
}

/** Why a response is refused, before it becomes a status. */
interface Refusal {
  readonly code: number;
  readonly message: string;
}

function messageOf(request: AdsRequest): Message {
  const bytes = request.variant === "sotw"
    ? discoveryRequestCodec.encode(request.message)
    : deltaDiscoveryRequestCodec.encode(request.message);
  return { pieces: [bytes], length: bytes.length };
}

/** The status code that a failure begins with, where it was the server's answer. */
function codeOf(failure: string | undefined): StatusName | undefined {
  const word = /^([A-Z_]+)(?=: |$)/.exec(failure ?? "")?.[1];
  return word !== undefined && Object.hasOwn(STATUS_CODES, word) ? word as StatusName : undefined;
}
