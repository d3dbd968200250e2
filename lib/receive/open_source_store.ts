/**
 * Opens the store of other sources' sets: in a folder; or, where that cannot be written, in memory with
 * what the folder still gives to read.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import { StoreError } from "../snapshot/store.ts";
import { MemorySourceStore } from "./memory_source_store.ts";
import type { SourceStore, StoredSource } from "./received.ts";
import { FileSourceStore, type SourceStoreOptions } from "./source_store.ts";

/** Options of {@link openSourceStore}. */
export interface OpenSourceStoreOptions extends SourceStoreOptions {
  /** Whether this process holds the folder and can write there: `durable` of its snapshot store. */
  readonly durable: boolean;
}

/** The store of sets. Disposing it closes its files. */
export interface OpenedSourceStore extends AsyncDisposable {
  readonly store: SourceStore;
  /** Whether a later process finds what is saved here. */
  readonly durable: boolean;
}

/** Opens the store in `folder`, the one of the snapshot store. Never throws for want of a disk. */
export async function openSourceStore(
  folder: string,
  options: OpenSourceStoreOptions,
): Promise<OpenedSourceStore> {
  let why: unknown = new StoreError("the store is in memory only");
  if (options.durable) {
    try {
      const store = await FileSourceStore.open(folder, options);
      return {
        store,
        durable: true,
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      };
    } catch (error) {
      why = error;
    }
  }
  const finding: Finding = {
    severity: "warning",
    rule: "store/unwritable",
    message:
      `the sets of other sources are kept in memory only, and a restart will not find them: ` +
      `${why instanceof Error ? why.message : why}`,
    hint: "make the folder writable, or choose another with --store, and restart",
    position: { file: folder },
  };
  options.onFinding?.(finding);
  const store = new MemorySourceStore({
    seed: await readAll(folder, options),
    findings: [finding],
  });
  return { store, durable: false, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** What a folder that cannot be written still gives to read. */
async function readAll(
  folder: string,
  { files }: OpenSourceStoreOptions,
): Promise<readonly StoredSource[]> {
  try {
    await using store = await FileSourceStore.open(folder, { files });
    return await store.load();
  } catch {
    return []; // the finding already says why the folder is of no use
  }
}
