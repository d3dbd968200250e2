/**
 * A store in a folder, one file a snapshot: `snapshots/<sequence>-<id>.snapshot`.
 *
 * A save writes under a temporary name, flushes the file, renames it and flushes the folder, and only
 * then removes what is too old: at each moment a loss of power leaves the snapshot before or this one.
 * The order of snapshots is that of their sequence numbers; the clock is not asked.
 *
 * @module
 */
import { join } from "node:path";
import type { Finding } from "../model/finding.ts";
import { type FileLayer, makeFolders } from "./file_layer.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  decodeHead,
  decodeSnapshot,
  encodeSnapshot,
  MAX_HEAD,
  SnapshotFileError,
  type SnapshotHead,
} from "./snapshot_file.ts";
import {
  type SaveOptions,
  type SaveReport,
  type SnapshotStore,
  type StoredSnapshot,
  type StoreEntry,
  StoreError,
} from "./store.ts";

/** Snapshots kept unless said otherwise. */
export const KEEP = 20;

/** Damaged files kept for a person to look at. */
const KEEP_DAMAGED = 5;

/** Findings remembered. */
const MAX_FINDINGS = 20;

/** Largest file that is read. Bytes. */
const MAX_FILE = 1024 ** 3;

const NAME = /^(\d{12})-[0-9a-f]{16}\.snapshot(\.tmp|\.damaged)?$/;

/** Options of {@link FileStore.open}. */
export interface FileStoreOptions {
  readonly files: FileLayer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Number of snapshots kept; default {@link KEEP}. */
  readonly keep?: number;
  /** Told of each finding as it is made. Must not throw. */
  readonly onFinding?: (finding: Finding) => void;
}

interface Entry extends SnapshotHead {
  readonly name: string;
}

/** Keeps snapshots in a folder. The folder must be held by this process (`store_lock.ts`). */
export class FileStore implements SnapshotStore {
  readonly durable = true;
  readonly place: string;
  readonly #folder: string;
  readonly #files: FileLayer;
  readonly #options: FileStoreOptions;
  readonly #findings: Finding[] = [];
  /** Oldest first. */
  #entries: Entry[] = [];
  /** Highest sequence number ever seen here, damaged and unfinished files included. */
  #sequence = 0;
  /** Id of the newest, once it was verified or written by us. */
  #newest: string | undefined;
  /** The newest, where its name could not be flushed. */
  #unflushed: Entry | undefined;

  private constructor(folder: string, options: FileStoreOptions) {
    this.place = folder;
    this.#folder = join(folder, "snapshots");
    this.#files = options.files;
    this.#options = options;
  }

  /**
   * Opens the store in `folder`, which is made if it does not exist; removes what an earlier process
   * left unfinished. Throws {@link StoreError} where the folder cannot be made or read.
   */
  static async open(folder: string, options: FileStoreOptions): Promise<FileStore> {
    const store = new FileStore(folder, options);
    try {
      await makeFolders(store.#folder, options.files);
      const names = (await options.files.list(store.#folder)).filter((name) => NAME.test(name));
      await store.#takeStock(names.toSorted());
      // What is served from here must not be undone by a loss of power: a process that was killed
      // may have left its last rename unflushed.
      await options.files.syncFolder(store.#folder);
    } catch (cause) {
      throw storeError(`the store ${folder} cannot be opened`, cause);
    }
    return store;
  }

  async #takeStock(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const [, sequence, suffix] = NAME.exec(name)!;
      this.#sequence = Math.max(this.#sequence, Number(sequence));
      if (suffix === ".tmp") await this.#removeQuietly(name);
      if (suffix !== undefined) continue;
      const head = await this.#readOrSetAside(name, async (path) => {
        return decodeHead(await this.#files.read(path, MAX_HEAD));
      });
      if (head !== undefined) this.#entries.push({ ...head, sequence: Number(sequence), name });
    }
  }

  async load(): Promise<StoredSnapshot | undefined> {
    while (this.#entries.length > 0) {
      const entry = this.#entries.at(-1)!;
      const stored = await this.#readOrSetAside(entry.name, (path) => this.#read(path));
      if (stored !== undefined) {
        this.#newest = stored.snapshot.id;
        return stored;
      }
      this.#entries.pop();
    }
    return undefined;
  }

  async save(snapshot: Snapshot, { signal }: SaveOptions): Promise<SaveReport> {
    signal.throwIfAborted();
    if (snapshot.id === this.#newest) return { written: false, bytes: 0 };
    const sequence = ++this.#sequence;
    const name = `${String(sequence).padStart(12, "0")}-${snapshot.id}.snapshot`;
    const savedAt = this.#options.now();
    let head: SnapshotHead | undefined;
    let bytes = 0;
    try {
      {
        await using file = await this.#files.create(this.#path(`${name}.tmp`));
        for (const piece of encodeSnapshot(snapshot, { sequence, savedAt })) {
          signal.throwIfAborted();
          head ??= decodeHead(piece);
          bytes += piece.length;
          await file.write(piece);
        }
        await file.sync();
      }
      signal.throwIfAborted();
      await this.#files.rename(this.#path(`${name}.tmp`), this.#path(name));
    } catch (cause) {
      await this.#removeQuietly(`${name}.tmp`);
      if (signal.aborted) throw cause;
      if (isFull(cause) && this.#entries.length > 1) {
        await this.#prune(1); // being safe on disk goes before having a history
        return await this.save(snapshot, { signal });
      }
      throw storeError(`the snapshot ${snapshot.id} cannot be saved in ${this.place}`, cause);
    }
    this.#newest = undefined;
    await this.#flush({ ...head!, name });
    this.#newest = snapshot.id;
    await this.#prune();
    return { written: true, bytes };
  }

  async #flush(entry: Entry): Promise<void> {
    this.#entries.push(entry);
    try {
      await this.#files.syncFolder(this.#folder);
      this.#unflushed = undefined;
    } catch (cause) {
      // One that nobody was promised is enough: tries must not fill the disk.
      const before = this.#unflushed;
      this.#unflushed = entry;
      if (before !== undefined) {
        this.#entries = this.#entries.filter((e) => e !== before);
        await this.#removeQuietly(before.name);
      }
      throw storeError(`the snapshot ${entry.id} may not survive a loss of power`, cause);
    }
  }

  list(): Promise<readonly StoreEntry[]> {
    return Promise.resolve(
      this.#entries.toReversed().map(({ id, savedAt, sequence, resources }) => ({
        id,
        savedAt,
        sequence,
        resources,
      })),
    );
  }

  async read(id: string): Promise<StoredSnapshot | undefined> {
    const entry = this.#entries.findLast((e) => e.id === id);
    if (entry === undefined) return undefined;
    try {
      return await this.#read(this.#path(entry.name));
    } catch (cause) {
      throw storeError(`the snapshot ${id} cannot be read`, cause);
    }
  }

  findings(): readonly Finding[] {
    return [...this.#findings];
  }

  /** Adds a finding about the store. */
  report(finding: Finding): void {
    this.#findings.push(finding);
    if (this.#findings.length > MAX_FINDINGS) this.#findings.shift();
    this.#options.onFinding?.(finding);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#entries = [];
    return Promise.resolve();
  }

  async #read(path: string): Promise<StoredSnapshot> {
    const size = await this.#files.size(path);
    if (size > MAX_FILE) {
      throw new SnapshotFileError("damaged", `it has ${size} bytes, more than any snapshot`);
    }
    return decodeSnapshot(await this.#files.read(path));
  }

  /** What `read` makes of a file; undefined, with a finding, where it makes nothing of it. */
  async #readOrSetAside<T>(
    name: string,
    read: (path: string) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await read(this.#path(name));
    } catch (error) {
      if (!(error instanceof SnapshotFileError)) {
        // An error of the disk is no proof against the file: it may be readable the next time.
        this.#find("store/unreadable", name, `the snapshot cannot be read: ${reason(error)}`);
      } else if (error.reason === "newer") {
        this.#find("store/newer", name, `the snapshot is not used: ${error.message}`);
      } else {
        await this.#setAside(name, error);
      }
      return undefined;
    }
  }

  async #setAside(name: string, why: SnapshotFileError): Promise<void> {
    let hint = `kept as ${name}.damaged`;
    try {
      await this.#files.rename(this.#path(name), this.#path(`${name}.damaged`));
      const names = (await this.#files.list(this.#folder)).toSorted();
      const damaged = names.filter((n) => NAME.exec(n)?.[2] === ".damaged");
      for (const old of damaged.slice(0, -KEEP_DAMAGED)) await this.#removeQuietly(old);
    } catch (error) {
      hint = `it stays where it is: ${reason(error)}`;
    }
    this.#find("store/damaged", name, `the snapshot is damaged: ${why.message}`, hint);
  }

  async #prune(keep = this.#options.keep ?? KEEP): Promise<void> {
    const excess = this.#entries.length - keep;
    for (const { name } of this.#entries.splice(0, Math.max(0, excess))) {
      await this.#removeQuietly(name);
    }
  }

  /** Removes a file that is of no use; one that stays does no harm, and is tried again at the next start. */
  async #removeQuietly(name: string): Promise<void> {
    try {
      await this.#files.remove(this.#path(name));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      this.#find("store/leftover", name, `the file cannot be removed: ${reason(error)}`);
    }
  }

  #find(rule: string, name: string, message: string, hint?: string): void {
    this.report({
      severity: "warning",
      rule,
      message,
      ...(hint === undefined ? {} : { hint }),
      position: { file: this.#path(name) },
    });
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function storeError(what: string, cause: unknown): StoreError {
  return new StoreError(`${what}: ${reason(cause)}`, { cause });
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the disk, or what this user may have of it, is full. */
function isFull(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ENOSPC" || code === "EDQUOT";
}
