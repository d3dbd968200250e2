/**
 * A session: one stream, its protocol state machine and its place with the sender. The same for a
 * sink that dialled us and for one that we dialled; what differs is handed in.
 *
 * @module
 */
import { formatHostPort } from "../model/host_port.ts";
import type { Event, Push, StreamMachine, SubscriptionStatus } from "../protocol/stream.ts";
import type { Clock } from "../rollout/clock.ts";
import type { Publication } from "../snapshot/hub.ts";
import type { Message } from "../wire/compose.ts";
import type { PushStream } from "./push_stream.ts";
import type { Attachment, Sender } from "./sender.ts";

/** The wire protocols a session can speak. */
export type ProtocolName = "ads" | "ads-delta" | "mcp-source" | "mcp-sink";

/** How a protocol's requests are read and its pushes laid out. */
export interface SessionCodec<Request> {
  readonly protocol: ProtocolName;
  /** Throws where the bytes are no such message. */
  decode(bytes: Uint8Array): Request;
  compose(push: Push): Message;
  /** What the request says of who sends it, if it does. */
  identify(request: Request): PeerIntroduction | undefined;
}

/** What a peer says of itself in its requests. No identity: that is the transport's. */
export interface PeerIntroduction {
  readonly id: string;
  /** For example `envoy` or `gRPC Go`. */
  readonly userAgent?: string;
}

/** A push on its way to an ACK. */
interface InFlight {
  readonly nonce: string;
  readonly sentAt: number;
  /** When the change that this push carries was noticed; absent for the first answer to a subscription. */
  readonly changedAt?: number;
}

/** What there is to say of a push besides what it holds. */
export interface Sent {
  readonly bytes: number;
  /** Whether it carries a change; else it is the first answer to a subscription. */
  readonly change: boolean;
}

/** Told what happens on sessions: for logs, metrics, status. Must not throw. */
export interface SessionObserver {
  opened(session: SessionInfo): void;
  sent(session: SessionInfo, push: Push, sent: Sent): void;
  /** `latency`: milliseconds from the change noticed to this ACK, where the push carried a change. */
  event(session: SessionInfo, event: Event, latency?: number): void;
  /** The stream is ended since the peer took nothing for too long; `closed` follows. */
  cut(session: SessionInfo): void;
  /** `reason` is absent where the peer simply left. */
  closed(session: SessionInfo, reason?: string): void;
}

/** What is known of a session. */
export interface SessionInfo {
  readonly key: number;
  readonly protocol: ProtocolName;
  readonly address: string;
  /** Node id as the peer gives it, once it did. */
  readonly peer: PeerIntroduction | undefined;
  /** Name of the sink, for dial-out. */
  readonly sink: string | undefined;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly bytesSent: number;
  /** Milliseconds since the epoch at which the oldest push without ACK was written. */
  readonly oldestUnacked: number | undefined;
  subscriptions(): readonly SubscriptionStatus[];
}

/** What a session is made of. */
export interface SessionParts<Request> {
  readonly key: number;
  readonly stream: PushStream;
  readonly machine: StreamMachine<Request>;
  readonly codec: SessionCodec<Request>;
  readonly sender: Sender;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  readonly sink?: string;
  /** Sent before the machine's first push, and whenever {@link Session.trigger} is called. */
  readonly opening?: Message;
}

/** One stream at work. It ends with its stream. */
export class Session<Request> implements SessionInfo {
  readonly key: number;
  readonly protocol: ProtocolName;
  readonly openedAt: number;
  readonly #parts: SessionParts<Request>;
  readonly #attachment: Attachment;
  readonly #inFlight = new Map<string, InFlight>();
  /** Out of which publication each type was last answered. */
  readonly #answered = new Map<string, Publication>();
  #publication: Publication | undefined;
  #peer: PeerIntroduction | undefined;
  #bytesSent = 0;
  #requests = 0;
  #hearing: (() => void) | undefined;
  #openingDue: boolean;
  #reason: string | undefined;

  constructor(parts: SessionParts<Request>, publication: Publication | undefined) {
    this.#parts = parts;
    this.key = parts.key;
    this.protocol = parts.codec.protocol;
    this.openedAt = parts.clock.now();
    this.#openingDue = parts.opening !== undefined;
    this.#attachment = parts.sender.attach(parts.stream, () => this.#next(), {
      onCut: () => parts.observer.cut(this),
    });
    if (publication !== undefined) this.retarget(publication);
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

  get bytesSent(): number {
    return this.#bytesSent;
  }

  get oldestUnacked(): number | undefined {
    let oldest: number | undefined;
    for (const { sentAt } of this.#inFlight.values()) oldest = Math.min(oldest ?? sentAt, sentAt);
    return oldest;
  }

  subscriptions(): readonly SubscriptionStatus[] {
    return this.#parts.machine.status();
  }

  /** Makes this the state that the peer is to get. */
  retarget(publication: Publication): void {
    this.#publication = publication;
    this.#parts.machine.retarget(publication.snapshot);
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
    const { codec, machine, stream, observer } = this.#parts;
    this.#requests++;
    this.#hearing?.();
    let request: Request;
    try {
      request = codec.decode(bytes);
    } catch (error) {
      this.#reason = `not a valid request: ${error instanceof Error ? error.message : error}`;
      return stream.end({ code: "INVALID_ARGUMENT", message: this.#reason });
    }
    this.#peer ??= codec.identify(request);
    const received = machine.receive(request);
    if (!received.ok) {
      this.#reason = received.message;
      return stream.end({ code: received.code, message: received.message });
    }
    for (const event of received.events) observer.event(this, event, this.#settle(event));
    this.#attachment.wake();
  }

  /** Notes that a push was answered; gives the latency of the change it carried. */
  #settle(event: Event): number | undefined {
    if (event.kind !== "ack" && event.kind !== "nack") return undefined;
    const pending = this.#inFlight.get(event.type);
    if (pending?.nonce !== event.nonce) return undefined;
    this.#inFlight.delete(event.type);
    return pending.changedAt === undefined
      ? undefined
      : this.#parts.clock.now() - pending.changedAt;
  }

  #next(): Message | undefined {
    const { codec, machine, observer, opening } = this.#parts;
    if (this.#openingDue) {
      this.#openingDue = false;
      return opening;
    }
    const push = machine.next();
    if (push === undefined) return undefined;
    const message = codec.compose(push);
    this.#bytesSent += message.length;
    const publication = this.#publication!;
    const before = this.#answered.get(push.type);
    const change = before !== undefined && before !== publication;
    this.#inFlight.set(push.type, {
      nonce: push.nonce,
      sentAt: this.#parts.clock.now(),
      ...(change ? { changedAt: publication.changedAt } : {}),
    });
    this.#answered.set(push.type, publication);
    observer.sent(this, push, { bytes: message.length, change });
    return message;
  }

  #closed(): void {
    this.#attachment[Symbol.dispose]();
    this.#parts.observer.closed(this, this.#reason ?? this.#parts.stream.failure);
  }
}
