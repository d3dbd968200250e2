/**
 * A session: one stream, its protocol state machine and its place with the sender. The same for a
 * sink that dialled us and for one that we dialled; what differs is handed in.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { ClientKind, PeerRule } from "../model/settings.ts";
import type { Event, StreamMachine, SubscriptionStatus } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Publication } from "../snapshot/hub.ts";
import type { Message } from "../wire/compose.ts";
import { type Assignment, type Assignments, UNASSIGNED } from "./assignments.ts";
import { DubboStart, type DubboStarts } from "./dubbo_start.ts";
import { InFlight } from "./in_flight.ts";
import { Pacing } from "./pacing.ts";
import { factsOf, identitiesOf } from "./peer_facts.ts";
import type { PushStream } from "./push_stream.ts";
import type { Attachment, Sender } from "./sender.ts";
import type {
  PeerIntroduction,
  ProtocolName,
  SessionCodec,
  SessionInfo,
  SessionObserver,
  SessionTransition,
} from "./session_info.ts";
import { TransitionTimer } from "./transition_timer.ts";

export type * from "./session_info.ts";

/** What a session is made of. */
export interface SessionParts<Request> {
  readonly key: number;
  readonly stream: PushStream;
  /** Makes the state machine; it may ask what kind of client the peer is, once that has said something. */
  readonly machine: (kind: () => ClientKind) => StreamMachine<Request>;
  readonly codec: SessionCodec<Request>;
  readonly sender: Sender;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  readonly assignments: Assignments;
  readonly starts: DubboStarts;
  readonly sink?: string;
  /** In which wave the peer is where no rule says it. Default 1. */
  readonly wave?: number;
  /** Sent before the machine's first push, and whenever {@link Session.trigger} is called. */
  readonly opening?: Message;
}

/** One stream at work. It ends with its stream. */
export class Session<Request> implements SessionInfo {
  readonly key: number;
  readonly protocol: ProtocolName;
  readonly openedAt: number;
  readonly #parts: SessionParts<Request>;
  readonly #machine: StreamMachine<Request>;
  readonly #attachment: Attachment;
  readonly #inFlight: InFlight;
  readonly #pacing: Pacing;
  readonly #transitions: TransitionTimer;
  readonly #start: DubboStart;
  /** Types asked for so far. As many as the machine allows. */
  readonly #opened = new Set<string>();
  #assignment: Assignment = UNASSIGNED;
  /** By which rules it was assigned; undefined before the first request. */
  #rules: readonly PeerRule[] | undefined;
  #publication: Publication | undefined;
  #peer: PeerIntroduction | undefined;
  #firstType: string | undefined;
  #bytesSent = 0;
  #requests = 0;
  #hearing: (() => void) | undefined;
  #openingDue: boolean;
  #reason: string | undefined;

  constructor(parts: SessionParts<Request>) {
    this.#parts = parts;
    this.#machine = parts.machine(() => this.kind);
    this.key = parts.key;
    this.protocol = parts.codec.protocol;
    this.openedAt = parts.clock.now();
    this.#inFlight = new InFlight(parts.clock);
    this.#openingDue = parts.opening !== undefined;
    this.#attachment = parts.sender.attach(parts.stream, () => this.#next(), {
      onCut: () => parts.observer.cut(this),
    });
    this.#pacing = new Pacing({
      clock: parts.clock,
      signal: parts.stream.signal,
      held: () => parts.observer.paced(this),
      resumed: () => this.#attachment.wake(),
    });
    this.#transitions = new TransitionTimer({
      clock: parts.clock,
      signal: parts.stream.signal,
      expire: (transition) => this.#expire(transition),
    });
    this.#start = new DubboStart(parts);
    parts.observer.opened(this);
    parts.stream.onRequest((bytes) => this.#receive(bytes));
    parts.stream.signal.addEventListener("abort", () => this.#closed(), { once: true });
    if (parts.stream.signal.aborted) this.#closed();
    if (this.#openingDue) this.#attachment.wake();
  }

  get address(): string {
    const { address, port } = this.#parts.stream.peer;
    return formatHostPort(address, port);
  }

  get peer(): PeerIntroduction | undefined {
    return this.#peer;
  }

  get sink(): string | undefined {
    return this.#parts.sink;
  }

  get rule(): number | undefined {
    return this.#assignment.rule;
  }

  get kind(): ClientKind {
    return this.#assignment.kind;
  }

  get wave(): number {
    return this.#assignment.wave ?? this.#parts.wave ?? 1;
  }

  get identity(): string | undefined {
    return identitiesOf(this.#parts.stream.peer)[0];
  }

  get listener(): string | undefined {
    return this.#parts.stream.peer.listener;
  }

  get bytesSent(): number {
    return this.#bytesSent;
  }

  get oldestUnacked(): number | undefined {
    return this.#inFlight.oldest;
  }

  get transition(): SessionTransition | undefined {
    const { transition } = this.#machine;
    const { since } = this.#transitions;
    return transition && since !== undefined ? { phase: transition.phase, since } : undefined;
  }

  subscriptions(): readonly SubscriptionStatus[] {
    return this.#machine.status();
  }

  names(type: string): ReadonlySet<string> | undefined {
    return this.#machine.names?.(type);
  }

  /** Makes what is published now, as far as its rule goes, the state that the peer is to get. */
  retarget(): void {
    const { assignments } = this.#parts;
    if (this.#rules === undefined) return; // who it is decides what it gets
    if (this.#rules !== assignments.rules && !this.#reassign()) return;
    const snapshot = assignments.snapshotOf(this.#assignment);
    if (snapshot === undefined) return;
    this.#publication = assignments.publication;
    this.#machine.retarget(snapshot);
    this.#transitions.note(this.#machine.transition);
    this.#attachment.wake();
  }

  /** Sends the opening message again: a heartbeat that draws an answer. */
  trigger(): void {
    this.#openingDue = this.#parts.opening !== undefined;
    this.#attachment.wake();
  }

  /** Waits at most `ms` milliseconds for the next request. One waiter at a time. */
  async hears(ms: number): Promise<"request" | "silence" | "over"> {
    const { stream, clock } = this.#parts;
    if (stream.signal.aborted) return "over";
    const heard = new AbortController();
    const before = this.#requests;
    this.#hearing = () => heard.abort();
    stream.signal.addEventListener("abort", this.#hearing);
    await clock.sleep(ms, heard.signal);
    stream.signal.removeEventListener("abort", this.#hearing);
    this.#hearing = undefined;
    if (stream.signal.aborted) return "over";
    return this.#requests > before ? "request" : "silence";
  }

  /** Ends the stream; the reason is logged. */
  end(code: "UNAVAILABLE" | "DEADLINE_EXCEEDED" | "CANCELLED", reason: string): void {
    this.#reason ??= reason;
    this.#parts.stream.end({ code, message: reason });
  }

  #receive(bytes: Uint8Array): void {
    const { codec, stream, observer } = this.#parts;
    this.#requests++;
    this.#hearing?.();
    let request: Request;
    try {
      request = codec.decode(bytes);
    } catch (error) {
      this.#reason = `not a valid request: ${error instanceof Error ? error.message : error}`;
      return stream.end({ code: "INVALID_ARGUMENT", message: this.#reason });
    }
    this.#identify(request);
    const received = this.#machine.receive(request);
    this.#transitions.note(this.#machine.transition);
    if (!received.ok) {
      this.#reason = received.message;
      return stream.end({ code: received.code, message: received.message });
    }
    this.#start.heard({ kind: this.kind, id: this.#peer?.id ?? "", type: codec.typeOf?.(request) });
    for (const event of received.events) {
      observer.event(this, event, this.#inFlight.settle(event));
      if (event.kind === "nack" || this.#isReopening(event)) this.#pacing.count();
    }
    this.#attachment.wake();
  }

  /** The first request, and the first that says who sends it, tell which rule the peer falls under. */
  #identify(request: Request): void {
    const known = this.#peer;
    const { codec } = this.#parts;
    this.#peer ??= codec.identify(request);
    this.#firstType ??= codec.typeOf?.(request);
    if (this.#rules !== undefined && this.#peer === known) return;
    this.#assign();
    this.retarget();
  }

  #assign(): void {
    const { assignments, codec: { protocol }, stream: { peer }, sink } = this.#parts;
    this.#rules = assignments.rules;
    this.#assignment = assignments.assign(
      factsOf({ protocol, peer, introduction: this.#peer, sink, firstType: this.#firstType }),
    );
  }

  /** Asks the rules again; false where the stream had to end, for what was asked for on it is another kind of client's. */
  #reassign(): boolean {
    const before = this.kind;
    this.#assign();
    const { codec } = this.#parts;
    if (codec.typeOf === undefined || before === this.kind) return true;
    if (this.#machine.status().length === 0) return true;
    const reason =
      `the rules of \`peers\` now say that this client is ${this.kind}, not ${before}; ` +
      "what it asks for again is answered as that";
    this.end("UNAVAILABLE", reason);
    return false;
  }

  /** A transition has taken too long. */
  #expire(transition: number): void {
    const { observer } = this.#parts;
    const phase = this.#machine.transition?.phase;
    this.#machine.expire?.(transition);
    // That it keeps what is old while nobody asks for it, as gRPC programs may, is no concern of anybody's.
    if (phase !== undefined && phase !== "removal") observer.overdue(this, phase);
    this.#attachment.wake();
  }

  /** Whether a type that was asked for on this stream before is asked for anew. */
  #isReopening(event: Event): boolean {
    if (event.kind !== "opened") return false;
    if (this.#opened.has(event.type)) return true;
    this.#opened.add(event.type);
    return false;
  }

  #next(): Message | undefined {
    const { codec, observer, opening } = this.#parts;
    if (this.#openingDue) {
      this.#openingDue = false;
      return opening;
    }
    if (this.#pacing.holding) return undefined;
    const push = this.#machine.next();
    this.#transitions.note(this.#machine.transition);
    if (push === undefined) return undefined;
    const message = codec.compose(push);
    this.#bytesSent += message.length;
    const change = this.#inFlight.sent(push, this.#publication!);
    observer.sent(this, push, { bytes: message.length, change });
    return message;
  }

  #closed(): void {
    this.#attachment[Symbol.dispose]();
    this.#parts.observer.closed(this, this.#reason ?? this.#parts.stream.failure);
  }
}
