/**
 * Opens the store of a process: locked, in a folder; or, where the folder cannot be written, in
 * memory with what the folder still gives to read.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { type FileLayer, makeFolders } from "./file_layer.ts";
import { FileStore, KEEP } from "./file_store.ts";
import { MemoryStore } from "./memory_store.ts";
import type { SnapshotStore, StoredSnapshot } from "./store.ts";
import { type lockStore, StoreLockedError, type StoreOwner } from "./store_lock.ts";

/** Options of {@link openStore}. */
export interface OpenStoreOptions {
  readonly files: FileLayer;
  /** Takes the lock: `lockStore`, or a test's. */
  readonly lock: typeof lockStore;
  /** Who this process is, for a second one that finds the store taken. */
  readonly owner: StoreOwner;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Number of snapshots kept. */
  readonly keep?: number;
  /** Told of each finding as it is made. Must not throw. */
  readonly onFinding?: (finding: Finding) => void;
}

/** The store of this process. Disposing it closes the store, then lets go of the lock. */
export interface OpenedStore extends AsyncDisposable {
  readonly store: SnapshotStore;
  /** The process that had the store before and ended without letting go of it (killed, crashed). */
  readonly abandonedBy: StoreOwner | undefined;
}

/**
 * Opens the store in `folder` (absolute), which is made if it does not exist. A folder that cannot be
 * written gives a store in memory with a finding that says so (`durable` is false).
 * Throws {@link StoreLockedError} where another process has the store.
 */
export async function openStore(folder: string, options: OpenStoreOptions): Promise<OpenedStore> {
  await using opened = new AsyncDisposableStack();
  try {
    await makeFolders(folder, options.files);
    const lock = opened.use(await options.lock(folder, options.owner));
    const store = opened.use(await FileStore.open(folder, options));
    if (lock.unenforced !== undefined) store.report(unlocked(folder, lock.unenforced));
    const held = opened.move();
    return {
      store,
      abandonedBy: lock.abandonedBy,
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    };
  } catch (error) {
    if (error instanceof StoreLockedError) throw error;
    return await openInMemory(folder, error, options);
  }
}

async function openInMemory(
  folder: string,
  error: unknown,
  options: OpenStoreOptions,
): Promise<OpenedStore> {
  const seed = await readNewest(folder, options);
  const finding: Finding = {
    severity: "warning",
    rule: "store/unwritable",
    message: `the store cannot be written: ${error instanceof Error ? error.message : error}; ` +
      `snapshots are kept in memory only, and a restart will not find them`,
    hint: "make the folder writable, or choose another with --store, and restart",
    position: { file: folder },
  };
  options.onFinding?.(finding);
  const store = new MemoryStore({
    keep: options.keep ?? KEEP,
    now: options.now,
    findings: [finding],
    ...(seed === undefined ? {} : { seed }),
  });
  return {
    store,
    abandonedBy: undefined,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** What a folder that cannot be written still gives to read. */
async function readNewest(
  folder: string,
  options: OpenStoreOptions,
): Promise<StoredSnapshot | undefined> {
  try {
    await using store = await FileStore.open(folder, options);
    return await store.load();
  } catch {
    return undefined; // the finding already says why the folder is of no use
  }
}

function unlocked(folder: string, why: string): Finding {
  return {
    severity: "warning",
    rule: "store/unlocked",
    message: `the file system cannot lock files (${why}): nothing keeps a second process from ` +
      `using this store`,
    hint: "keep the store on a local disk",
    position: { file: folder },
  };
}
