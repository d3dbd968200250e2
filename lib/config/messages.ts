/**
 * What the main thread and the worker that loads the configuration say to each other. Everything here
 * can be posted: plain data and transferred buffers.
 *
 * @module
 */
import type { Cause } from "../model/cause.ts";
import type { CollectionChange } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Settings } from "../model/settings.ts";

export type { CollectionChange };

/** To the worker. */
export type WorkerRequest = LoadRequest | ProbeRequest;

/** Load the configuration. */
export interface LoadRequest {
  readonly kind: "load";
  readonly id: number;
  /** The `--config` file or folder, absolute. */
  readonly config: string;
  /** Forget what was sent before: the next answer holds everything. */
  readonly full: boolean;
  /** What was last published: the last good content of files that are broken. Counts in a worker's first load only. */
  readonly seed?: Seed;
}

/** Does anything differ from what was last loaded? */
export interface ProbeRequest {
  readonly kind: "probe";
  readonly id: number;
}

/** The last good configuration, from a snapshot. Made by `makeSeed`. */
export interface Seed {
  readonly settings: Settings;
  /** The services: JSON of a ServiceRecord each, end to end, so that it can be transferred. */
  readonly records: Uint8Array;
  /** Length of each record, in bytes. */
  readonly lengths: readonly number[];
}

/** From the worker. */
export type WorkerReply = LoadResult | PositionsResult | LoadFailure | ProbeResult;

/** What one load came to. */
export interface LoadResult {
  readonly kind: "loaded";
  readonly id: number;
  /** Whether every file was read and is free of errors. */
  readonly ok: boolean;
  /** Whether anything could be made of the configuration; false: keep what is published. */
  readonly usable: boolean;
  /** Whether `changes` hold everything, so that what they do not name is gone; else they add to the last result. */
  readonly full: boolean;
  /** All findings of the configuration as it now is. Those found before publishing may lack line and column; they follow in {@link PositionsResult}. */
  readonly findings: readonly Finding[];
  /** Names of files of which not the present but the last good content is in effect. */
  readonly kept: readonly string[];
  /** Absent where `usable` is false. */
  readonly settings?: Settings;
  /** Changes since the last result sent, by kind (`ServiceEntry`), and of the services (`Service`, each body the JSON of a ServiceRecord). */
  readonly changes: readonly CollectionChange[];
  /** Which files account for the changes; none in a first load. */
  readonly causes: readonly Cause[];
  /** Every file and folder that the configuration depends on, absolute: what is to be watched. */
  readonly watch: readonly string[];
  readonly stats: LoadStats;
}

/** The findings of the load of this `id` again, this time with line and column. Sent only where there are any. */
export interface PositionsResult {
  readonly kind: "positions";
  readonly id: number;
  readonly findings: readonly Finding[];
}

/** The worker failed in a way that it did not expect; nothing changed. */
export interface LoadFailure {
  readonly kind: "failed";
  readonly id: number;
  readonly message: string;
}

/** Whether a load would find anything that differs from the last. */
export interface ProbeResult {
  readonly kind: "probed";
  readonly id: number;
  readonly changed: boolean;
}

/** Figures of one load. Times in milliseconds. */
export interface LoadStats {
  readonly files: number;
  readonly filesParsed: number;
  readonly services: number;
  readonly parseMs: number;
  readonly totalMs: number;
}
