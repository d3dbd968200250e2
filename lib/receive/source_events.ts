/**
 * What is told of sources: to logs, metrics and status.
 *
 * @module
 */

/** Something that happened to a source, for logs and metrics. */
export type SourceEvent =
  | {
    readonly kind: "connected";
    readonly name: string;
    readonly address: string;
    readonly instance?: string;
    readonly namedBy?: string;
  }
  | { readonly kind: "disconnected"; readonly name: string }
  | {
    readonly kind: "pushed";
    readonly name: string;
    readonly type: string;
    readonly version: string;
    readonly resources: number;
    readonly removed: number;
    /** Whether the guard holds it back. */
    readonly held: boolean;
  }
  | {
    readonly kind: "refused";
    readonly name: string;
    readonly type: string;
    readonly message: string;
  }
  /** Its set was lost, and made anew of what was served of it. */
  | { readonly kind: "recovered"; readonly name: string; readonly resources: number }
  | { readonly kind: "saveFailed"; readonly name: string; readonly error: unknown }
  | { readonly kind: "forgotten"; readonly name: string; readonly why: "unconfigured" | "expired" };

/** Where a source stands. Times in milliseconds since the epoch. */
export interface SourceStatus {
  readonly name: string;
  /** `stale`: it is away, and what it gave last is served. */
  readonly state: "connected" | "stale";
  /** When that began. */
  readonly since: number;
  readonly address?: string;
  readonly instance?: string;
  /** By kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly streams: number;
  readonly lastPushAt?: number;
  /** The last push that was refused, until one is taken. */
  readonly refused?: { readonly at: number; readonly message: string };
  /** Whether what it gave last waits for a person. */
  readonly held: boolean;
  /** Why its set is not saved, while it is not. */
  readonly saveError?: string;
}
