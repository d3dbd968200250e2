/**
 * What there is to know of a session, and who is told of it.
 *
 * @module
 */
import type { ClientKind } from "../model/settings.ts";
import type { Event, Push, SubscriptionStatus, TransitionPhase } from "../protocol/stream.ts";
import type { Message } from "../wire/compose.ts";
import type { BriefNode } from "./brief_node.ts";

/** The wire protocols a session can speak. */
export type ProtocolName =
  | "ads"
  | "ads-delta"
  | "mcp-source"
  | "mcp-sink"
  | "mesh-config"
  | "mesh-config-incremental";

/** How a protocol's requests are read and its pushes laid out. */
export interface SessionCodec<Request> {
  readonly protocol: ProtocolName;
  /** Throws where the bytes are no such message. */
  decode(bytes: Uint8Array): Request;
  compose(push: Push): Message;
  /** What the request says of who sends it, if it does. */
  identify(request: Request): PeerIntroduction | undefined;
  /** Type URL of an xDS request, which tells what kind of client it is that says nothing of itself. Absent: it tells nothing. */
  typeOf?(request: Request): string;
}

/** What a peer says of itself in its requests. No identity: that is the transport's. */
export interface PeerIntroduction {
  readonly id: string;
  /** For example `envoy` or `gRPC Go`. */
  readonly userAgent?: string;
  /** Of an MCP sink's node, if there are any; the first 64, each cut at 256 characters. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Top-level texts of an xDS node's metadata, bounded alike. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** What is kept of an xDS node. */
  readonly node?: BriefNode;
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
  /** The peer asks anew or refuses in a tight loop: its answers wait for a moment. */
  paced(session: SessionInfo): void;
  /** The client did not follow from one set of clusters to the next in time, and gets the newest as it is. `phase`: what it was at. */
  overdue(session: SessionInfo, phase: TransitionPhase): void;
  /** `reason` is absent where the peer simply left. */
  closed(session: SessionInfo, reason?: string): void;
}

/** A transition from one set of clusters to another that is under way. */
export interface SessionTransition {
  readonly phase: TransitionPhase;
  /** When it began. Milliseconds since the epoch. */
  readonly since: number;
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
  /** Which of the rules of `peers` it falls under, counted from 1; absent: none, or it said nothing yet. */
  readonly rule?: number | undefined;
  /** As its rule says, or as the peer says of itself. */
  readonly kind: ClientKind;
  /** In which wave it gets a change; 1 is the first. */
  readonly wave: number;
  /** First URI or DNS name of its certificate. */
  readonly identity?: string | undefined;
  /** `listen` address that it dialled, as configured. */
  readonly listener?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly bytesSent: number;
  /** Milliseconds since the epoch at which the oldest push without ACK was written. */
  readonly oldestUnacked: number | undefined;
  /** The transition under way; absent: none. */
  readonly transition?: SessionTransition | undefined;
  subscriptions(): readonly SubscriptionStatus[];
  /** What the peer asks for by name of a type; undefined: nothing, or everything. Not to be kept: it changes with requests. */
  names?(type: string): ReadonlySet<string> | undefined;
}
