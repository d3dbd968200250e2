/**
 * What the receiver needs of whoever keeps the sets of sources.
 *
 * @module
 */
import type { Judgement } from "../receive/received.ts";
import type { PeerIdentity } from "./gate.ts";
import type { NamedBy } from "./source_name.ts";

/** A push that can be taken. */
export type AcceptedPush = Extract<Judgement, { readonly kind: "accepted" }>;

/** A push that cannot. */
export type RefusedPush = Extract<Judgement, { readonly kind: "refused" }>;

/** A source's place with the registry of sources, for one stream. Disposing it: the stream is over. */
export interface SourceConnection extends Disposable {
  readonly name: string;
  /** Patterns of namespaces for the judge. */
  readonly namespaces: readonly string[];
  /** What is held of an MCP collection, by name the source's own version. */
  held(collection: string): Readonly<Record<string, string>>;
  /** Collections not to ask for, since the source does not serve them. */
  readonly skip: ReadonlySet<string>;
  /** Whether to ask for one collection at a time. */
  readonly cautious: boolean;
  /** The source ended a stream because of this collection. */
  learnedUnsupported(collection: string): void;
  /**
   * Saves and applies a push; resolves when it will be there after a crash, or with the reason why not.
   * Once the signal is aborted nothing of it may be applied: the source's next stream begins with
   * what is held then.
   */
  take(
    push: AcceptedPush,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
  /** Told of a refusal, for status, log and metrics. */
  refused(push: RefusedPush): void;
}

/** A source that dialled and may come. */
export interface ConnectingSource {
  readonly name: string;
  readonly namedBy: NamedBy;
  /** IP address, without the port. */
  readonly address: string;
  readonly identity?: PeerIdentity;
  /** What it calls itself. */
  readonly instance?: string;
  /** Patterns of namespaces that it may fill; empty: all. */
  readonly namespaces: readonly string[];
  /** Ends its stream, since another of its name takes the place. */
  readonly end: (reason: string) => void;
}

/** Knows every source. */
export interface SourceRegistry {
  /** Lets a source in, and ends its stream before this one, if it has one; or says why it may not come. */
  connect(source: ConnectingSource): SourceConnection | { readonly refused: string };
}

/** Whether a registry let a source in. */
export function isConnection(
  answer: ReturnType<SourceRegistry["connect"]>,
): answer is SourceConnection {
  return typeof answer.refused !== "string";
}
