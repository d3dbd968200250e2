/**
 * What a protocol state machine and the transport that carries it say to each other. Machines are
 * pure: no sockets, timers, clock or randomness. A request or a new target goes in; facts (events)
 * come out; and when the transport can write, it pulls the next push. Since a push is made only when
 * it can be written, a slow peer always gets the newest state and never a queue of old ones.
 *
 * @module
 */
import type { Collection, Diff } from "../snapshot/collection.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** One response to write, as data; `lib/transport` lays it out with `lib/wire/compose.ts`. */
export interface Push {
  /** The type URL or collection, exactly as the peer asked for it. */
  readonly type: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
  readonly content: Content;
}

/** The resources of a push: all there are, or what turned one collection into the next. */
export type Content =
  | { readonly kind: "full"; readonly collection: Collection }
  /**
   * `diff.from` is what the peer is believed to hold. A resource that must be sent although it did
   * not change (asked for by name again) has a version there that is no real one; so has one of
   * which only the peer has the content.
   */
  | { readonly kind: "delta"; readonly diff: Diff };

/** Something a request or a push meant, for logs, metrics, status and rollout. */
export type Event =
  | { readonly kind: "opened"; readonly type: string }
  | {
    readonly kind: "ack";
    readonly type: string;
    readonly nonce: string;
    readonly version: string;
    /** The collection the peer holds from here on, as far as it asks for it. Read names and versions only: where the peer said itself what it holds, bytes may be missing. */
    readonly collection: Collection;
  }
  | {
    readonly kind: "nack";
    readonly type: string;
    readonly nonce: string;
    readonly version: string;
    /** What the peer said, from `error_detail`; the message is cut at 2000 characters. */
    readonly code: number;
    readonly message: string;
    /** Names of the resources that were new in the push refused; at most 20. */
    readonly names: readonly string[];
  }
  | { readonly kind: "stale"; readonly type: string; readonly nonce: string };

/** What came of a request: events, or an error that ends the stream. */
export type Received =
  | { readonly ok: true; readonly events: readonly Event[] }
  | { readonly ok: false; readonly code: StreamErrorCode; readonly message: string };

/** gRPC status names that a machine may end its stream with. */
export type StreamErrorCode = "INVALID_ARGUMENT" | "UNIMPLEMENTED" | "RESOURCE_EXHAUSTED";

/** What is known of one subscription, for status and metrics. */
export interface SubscriptionStatus {
  readonly type: string;
  /** Names subscribed to; undefined: all. */
  readonly names?: number;
  readonly sentVersion?: string;
  readonly ackedVersion?: string;
  /** Whether a push waits for its ACK. */
  readonly pending: boolean;
  readonly acks: number;
  readonly nacks: number;
  readonly lastNack?: string;
  /** Number of resources held back because the peer refused them. */
  readonly parked: number;
}

/**
 * How far a transition is: new clusters and endpoints go to the client beside the old; or it has those
 * and routes and listeners go; or it has those too and lets go of what is old.
 */
export type TransitionPhase = "clusters" | "routes" | "removal";

/** A transition from one set of clusters to another that is under way on a stream. */
export interface TransitionStatus {
  /** Counts the transitions of the stream, so that one can be told from the next. */
  readonly number: number;
  readonly phase: TransitionPhase;
}

/** The state of one stream. `Request` is the decoded message the peer sends. */
export interface StreamMachine<Request> {
  /** Takes a request. After it, {@link next} may have something. */
  receive(request: Request): Received;
  /** Takes a new target; the newest wins. Before the first, nothing is answered. */
  retarget(snapshot: Snapshot): void;
  /** The next push, if one is due; it counts as sent. Call only when it will be written. */
  next(): Push | undefined;
  /** Each subscription, in order of type. */
  status(): readonly SubscriptionStatus[];
  /** Resources of these names changed on another stream of the same client: what this type has under them is sent again. */
  renew?(type: string, names: Iterable<string>): void;
  /** What is asked for by name of a type; undefined: nothing is, or everything. Not to be kept: it changes with requests. */
  names?(type: string): ReadonlySet<string> | undefined;
  /** The transition under way; undefined: none. It may begin and end with any call of the others. */
  readonly transition?: TransitionStatus | undefined;
  /** The transition of this number has taken too long and ends here; one that is over already is left alone. */
  expire?(transition: number): void;
}
