/**
 * What goes into a publisher and what it has to say, as data.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { CollectionChange } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";
import type { Publication } from "../snapshot/hub.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { SaveReport, StoredSnapshot } from "../snapshot/store.ts";
import type { Verdict } from "./guard.ts";
import type { SaveOutcome, SaverStatus } from "./saver.ts";

/** What the publisher reads of a load; `LoadResult` is one. */
export interface Load {
  /** False: nothing could be made of the configuration, what is published stays. */
  readonly usable: boolean;
  readonly settings?: Settings;
  readonly changes: readonly CollectionChange[];
}

/** Options of `Publisher.take`. */
export interface TakeOptions {
  /** When the change was noticed. Milliseconds since the epoch. */
  readonly changedAt: number;
  /** The load holds everything, nothing sent before counts; the first load always does. */
  readonly full?: boolean;
  readonly causes?: readonly Cause[];
}

/** Options of `Publisher.offer`. */
export interface OfferOptions {
  /** When the change was noticed. Milliseconds since the epoch. */
  readonly changedAt: number;
  /** Whether the guard is not asked. Default: false. */
  readonly trusted?: boolean;
  /** Default: the source. */
  readonly causes?: readonly Cause[];
}

/** Something that happened, for logs and metrics. */
export type PublisherEvent =
  | { readonly kind: "restored"; readonly stored: StoredSnapshot }
  | { readonly kind: "restoreFailed"; readonly error: unknown }
  | {
    readonly kind: "published";
    readonly publication: Publication;
    /** What was published before it, if anything. */
    readonly before?: Snapshot;
    /** Whether it was in the store by then. */
    readonly save: SaveOutcome;
  }
  | {
    readonly kind: "held";
    readonly id: string;
    readonly part?: string;
    readonly verdict: Verdict;
  }
  | {
    readonly kind: "released";
    readonly id: string;
    readonly part?: string;
    readonly why: "confirmed" | "replaced";
  }
  | {
    readonly kind: "saved";
    readonly id: string;
    readonly report: SaveReport;
    /** Milliseconds. */
    readonly ms: number;
  }
  | {
    readonly kind: "saveFailed";
    readonly id: string;
    readonly error: unknown;
    readonly failing: NonNullable<SaverStatus["failing"]>;
  };

/** A candidate that waits for a person. */
export interface HeldCandidate {
  readonly id: string;
  /** Name of the source whose set it is; absent: our own configuration. */
  readonly part?: string;
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Why it waits and what to do, for people. */
  readonly message: string;
}

/** Something that a person should see to. */
export interface Alert {
  readonly kind: "held" | "notDurable" | "restoreFailed" | "saveFailed" | "saveSlow";
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/** How publishing stands. Times in milliseconds since the epoch. */
export interface PublisherStatus {
  readonly published?: {
    readonly id: string;
    readonly changedAt: number;
    readonly publishedAt: number;
    readonly resources: number;
    /** Whether it is the newest in the store. */
    readonly saved: boolean;
  };
  readonly held?: HeldCandidate;
  /** Sets of other sources that wait for a person. */
  readonly heldParts?: readonly HeldCandidate[];
  readonly save: SaverStatus;
  readonly store: {
    readonly place: string;
    readonly durable: boolean;
    readonly findings: readonly Finding[];
  };
  readonly alerts: readonly Alert[];
}

/** What `Publisher.confirm` came to. */
export type Confirmation =
  | { readonly ok: true }
  | { readonly ok: false; readonly message: string };
