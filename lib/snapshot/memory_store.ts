/**
 * A store that forgets when the process ends: for a folder that cannot be written, and for tests.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { resourceCount, type Snapshot } from "./snapshot.ts";
import type {
  SaveOptions,
  SaveReport,
  SnapshotStore,
  StoredSnapshot,
  StoreEntry,
} from "./store.ts";

/** Options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /** Number of snapshots kept. */
  readonly keep: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What it holds at first: the newest of a folder that can be read but not written. */
  readonly seed?: StoredSnapshot;
  /** Why nothing is kept on disk. */
  readonly findings?: readonly Finding[];
}

/** Keeps snapshots in memory only. */
export class MemoryStore implements SnapshotStore {
  readonly durable = false;
  readonly place = "memory only";
  readonly #options: MemoryStoreOptions;
  /** Oldest first. */
  #stored: readonly StoredSnapshot[];

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#stored = options.seed === undefined ? [] : [options.seed];
  }

  load(): Promise<StoredSnapshot | undefined> {
    return Promise.resolve(this.#stored.at(-1));
  }

  save(snapshot: Snapshot, { signal }: SaveOptions): Promise<SaveReport> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const newest = this.#stored.at(-1);
    if (newest?.snapshot.id !== snapshot.id) {
      const sequence = (newest?.sequence ?? 0) + 1;
      const stored = { snapshot, savedAt: this.#options.now(), sequence };
      this.#stored = [...this.#stored, stored].slice(-this.#options.keep);
    }
    return Promise.resolve({ written: false, bytes: 0 });
  }

  list(): Promise<readonly StoreEntry[]> {
    return Promise.resolve(
      this.#stored.toReversed().map(({ snapshot, savedAt, sequence }) => ({
        id: snapshot.id,
        savedAt,
        sequence,
        resources: resourceCount(snapshot),
      })),
    );
  }

  read(id: string): Promise<StoredSnapshot | undefined> {
    return Promise.resolve(this.#stored.findLast((stored) => stored.snapshot.id === id));
  }

  findings(): readonly Finding[] {
    return this.#options.findings ?? [];
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stored = [];
    return Promise.resolve();
  }
}
