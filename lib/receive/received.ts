/**
 * What other sources send us, as data: a push judged, and the set of resources that a source has given.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Resource } from "../model/resource.ts";
import type { Collection } from "../snapshot/collection.ts";

/** What a push says besides its resources. */
export interface PushHead {
  /** As the source writes it: an MCP collection, or a type URL. */
  readonly type: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
  /** Whether it holds only what changed. */
  readonly incremental: boolean;
}

/** A resource of another source, as it is served on. */
export interface ReceivedResource {
  /** Its version is our content hash and its bytes say so, whatever the source calls it. */
  readonly resource: Resource;
  /** The version that the source gave it: what it is told to hold in `initial_resource_versions`. */
  readonly told: string;
}

/** What a push came to. Plain data: it travels from a worker. */
export type Judgement =
  /** Not a message of the protocol. The stream is to end. */
  | { readonly kind: "unreadable"; readonly message: string }
  /** All of it is refused, since a sink takes a push as a whole or not at all. */
  | {
    readonly kind: "refused";
    readonly head: PushHead;
    /** Errors, each with its resource as `subject`; at most 20. */
    readonly findings: readonly Finding[];
    /** The reason for the person who runs the source: names resources and rules. At most 2,000 characters. */
    readonly message: string;
  }
  | {
    readonly kind: "accepted";
    readonly head: PushHead;
    /** Kubernetes kind; undefined: the collection is of no kind that we keep, and holds nothing. */
    readonly kindName: string | undefined;
    readonly resources: readonly ReceivedResource[];
    /** Names of what is gone; only where the push is incremental. */
    readonly removed: readonly string[];
    /** Warnings, each with its resource as `subject`; at most 20. */
    readonly findings: readonly Finding[];
  };

/** What a push is judged by. */
export interface JudgeOptions {
  /** Which messages these are. */
  readonly protocol: "mcp" | "sotw" | "delta";
  /** Patterns of namespaces that the source may fill; empty: all. */
  readonly namespaces: readonly string[];
  /** Whose push it is: all of one source together get the worker's time as one other source does. Absent: nobody else's. */
  readonly queue?: string;
}

/** Judges pushes: reads, checks and encodes them anew; takes a worker's time, not ours. Calls may be answered in any order: whoever wants one waits for each. */
export type Judge = (
  bytes: Uint8Array,
  options: JudgeOptions,
  signal: AbortSignal,
) => Promise<Judgement>;

/** Everything that one source has given, by kind. Immutable, structurally shared. */
export interface SourceSet {
  /** By Kubernetes kind; kinds of which it gave nothing may be missing. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** By kind and name, the source's own versions. */
  readonly told: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** A source with what it has given, as stored. */
export interface StoredSource {
  /** Unique: identity, token's name, instance or address of a source that dials us; `xds://host:port` of one that we pull from. */
  readonly name: string;
  readonly set: SourceSet;
  /** When it was first heard of, in milliseconds since the epoch; who came first goes first. */
  readonly firstSeen: number;
  /** The strongest proof its name has had yet: `uri`, `dns`, `token`, `instance` or `address`; absent where we dial, or where nobody knows. */
  readonly namedBy?: string;
}

/** Keeps the sets of sources. Implemented on disk and in memory. */
export interface SourceStore {
  /** Every set that verifies; what does not is set aside, with a finding. */
  load(): Promise<readonly StoredSource[]>;
  /** Resolves when the set will be there after a crash or a loss of power. Throws `StoreError`. One call a name at a time. */
  save(source: StoredSource): Promise<void>;
  /** Forgets a source. */
  remove(name: string): Promise<void>;
  /** What a person should know about it. Bounded. */
  findings(): readonly Finding[];
}
