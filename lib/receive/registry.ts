/**
 * Between the streams of sources and what is kept of them: what a stream asks of the registry, whoever
 * dialled.
 *
 * @module
 */
import type { Judgement } from "./received.ts";

/** A source whose stream has been opened. */
export interface SourceIntroduction {
  readonly name: string;
  /** Where it is, for people; of one that dialled, its IP address. */
  readonly address: string;
  /** What a Pinnace says its name is, if it is one. */
  readonly instance?: string;
  /** Whether it says that it heeds `initial_resource_versions`, as a Pinnace does. */
  readonly resumes?: boolean;
  /** How the name came about: `uri`, `dns`, `token`, `instance` or `address`; absent where we dialled. */
  readonly namedBy?: string;
  /** Patterns of namespaces that it may fill, where whoever let it in has looked that up. */
  readonly namespaces?: readonly string[];
  /** Whether it counts as connected only once it has answered: whom we dial may turn us away each time. */
  readonly tentative?: boolean;
  /** Ends the stream; the reason is for people. Called at most once. */
  readonly end: (reason: string) => void;
}

/** What came of an accepted push. */
export type Taken =
  | { readonly ok: true }
  /** It could not be taken now, and is welcome again. */
  | { readonly ok: false; readonly message: string };

/** A source while its stream lives. Disposing it says that the stream is over. */
export interface SourceConnection extends Disposable {
  readonly name: string;
  /** Patterns of namespaces that it may fill; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether one collection is to be asked for at a time, since it may end the stream at one it does not have. */
  readonly cautious: boolean;
  /** The source's own versions of what is held, by MCP collection or type URL: `initial_resource_versions`. */
  held(type: string): Readonly<Record<string, string>>;
  /** Keeps what it pushed; resolves when that is saved, or will not be for now. Does not reject. */
  take(judgement: Extract<Judgement, { kind: "accepted" }>, signal: AbortSignal): Promise<Taken>;
  /** It was told that its push is refused. */
  refused(judgement: Extract<Judgement, { kind: "refused" }>): void;
}

/** Knows every source. */
export interface SourceRegistry {
  /** Takes a source in. An earlier stream of the same name is ended. */
  connect(source: SourceIntroduction): SourceConnection | { readonly refused: string };
}
