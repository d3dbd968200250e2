/**
 * The store: where snapshots are kept, so that a start serves what was last published before it has
 * read any configuration.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Snapshot } from "./snapshot.ts";

/** A snapshot as it came out of a store, verified. */
export interface StoredSnapshot {
  readonly snapshot: Snapshot;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  /** Counts what was saved; the highest is the newest, whatever the clock said. */
  readonly sequence: number;
}

/** What a store holds, without its content. */
export interface StoreEntry {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  readonly sequence: number;
  /** Number of resources over all collections. */
  readonly resources: number;
}

/** What a save came to. */
export interface SaveReport {
  /** Whether a file was written; not if the newest in the store was this very snapshot. */
  readonly written: boolean;
  /** Bytes written. */
  readonly bytes: number;
}

/** Options of {@link SnapshotStore.save}. */
export interface SaveOptions {
  /** Gives up before the snapshot takes its place in the store; then the store is as it was. */
  readonly signal: AbortSignal;
}

/** Keeps snapshots. One user at a time; calls to `save` are not made while another runs. */
export interface SnapshotStore extends AsyncDisposable {
  /** Whether a later process finds what is saved here. */
  readonly durable: boolean;
  /** Where it is, for people: a folder, or that there is none. */
  readonly place: string;
  /** The newest snapshot that verifies. Throws {@link StoreError} where the store cannot be read at all. */
  load(): Promise<StoredSnapshot | undefined>;
  /** Resolves when the snapshot will be there after a crash or a loss of power. Throws {@link StoreError}, or the signal's reason. */
  save(snapshot: Snapshot, options: SaveOptions): Promise<SaveReport>;
  /** What is there, newest first. */
  list(): Promise<readonly StoreEntry[]>;
  /** The newest snapshot with this id. Throws {@link StoreError} if it is there but cannot be read. */
  read(id: string): Promise<StoredSnapshot | undefined>;
  /** What a person should know about the store: damaged files, files of a newer release, no room to write. Bounded. */
  findings(): readonly Finding[];
}

/** The store could not do what was asked; the message is for the person who runs it. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}
