/**
 * The sets of sources in a folder, one file a source: `received/<hash of its name>.source`.
 *
 * A file is written under a temporary name, flushed, renamed, and its folder flushed: at each moment a
 * loss of power leaves the set before or this one. What changes is appended as flushed records, until
 * they outgrow half of what they change: a small change of a large set is a small write. What a killed
 * process appended and did not flush is read by the next one, and may yet go with the power: the source,
 * which is told what is held, sends it again.
 *
 * @module
 */
import { join } from "node:path";
import type { Finding } from "../model/finding.ts";
import { type FileLayer, makeFolders } from "../snapshot/file_layer.ts";
import { damaged, StoredFileError } from "../snapshot/sections.ts";
import { StoreError } from "../snapshot/store.ts";
import type { SourceStore, StoredSource } from "./received.ts";
import { setAside } from "./set_aside.ts";
import { diffSets, type SourceDiff } from "./source_diff.ts";
import { type DecodedSource, decodeSource } from "./source_file.ts";
import { sourceFileName, sourceFileRole } from "./source_file_name.ts";
import { SourceJournal } from "./source_journal.ts";

/** Sources that a store holds at most. */
export const MAX_SOURCES = 1000;

/** Files kept open to append to; others are opened for it. */
const MAX_OPEN = 64;

/** Findings remembered. */
const MAX_FINDINGS = 20;

/** Largest file that is read. Bytes. */
const MAX_FILE = 1024 ** 3;

/** Options of {@link FileSourceStore.open}. */
export interface SourceStoreOptions {
  readonly files: FileLayer;
  /** Told of each finding as it is made. Must not throw. */
  readonly onFinding?: (finding: Finding) => void;
}

/** What is in a file. */
interface Held {
  /** undefined: not known, so that it must be written whatever comes. */
  source: StoredSource | undefined;
  /** Absent: the next change writes the file anew. */
  journal?: SourceJournal | undefined;
}

/** Keeps sets of sources in a folder, which must be held by this process (`store_lock.ts`). Disposing it closes its files. */
export class FileSourceStore implements SourceStore, AsyncDisposable {
  /** Where it is, for people. */
  readonly place: string;
  readonly #files: FileLayer;
  readonly #options: SourceStoreOptions;
  readonly #findings: Finding[] = [];
  /** By name; the one used last comes last. */
  readonly #held = new Map<string, Held>();
  /** Files of a newer release: never overwritten. */
  readonly #newer = new Set<string>();

  private constructor(folder: string, options: SourceStoreOptions) {
    this.place = join(folder, "received");
    this.#files = options.files;
    this.#options = options;
  }

  /**
   * Opens the store in `folder`, which is made if it does not exist; removes what an earlier process
   * left unfinished. Throws `StoreError` where the folder cannot be made or read.
   */
  static async open(folder: string, options: SourceStoreOptions): Promise<FileSourceStore> {
    const store = new FileSourceStore(folder, options);
    try {
      await makeFolders(store.place, options.files);
      for (const name of await options.files.list(store.place)) {
        if (sourceFileRole(name) === "tmp") await store.#removeQuietly(name);
      }
      // A process that was killed may have left its last rename unflushed.
      await options.files.syncFolder(store.place);
    } catch (cause) {
      throw storeError(`the store ${store.place} cannot be opened`, cause);
    }
    return store;
  }

  /** Every set that verifies, by when its source was first heard of. Throws `StoreError` where the folder cannot be read. */
  async load(): Promise<readonly StoredSource[]> {
    let names: string[];
    try {
      names = (await this.#files.list(this.place)).toSorted();
    } catch (cause) {
      throw storeError(`the store ${this.place} cannot be read`, cause);
    }
    names = names.filter((name) => sourceFileRole(name) === "source");
    const sources: StoredSource[] = [];
    for (const [index, name] of names.entries()) {
      if (sources.length === MAX_SOURCES) {
        const left = `${names.length - index} more files are left out`;
        this.#find("store/too-many", name, `${left}: ${LIMIT}`, LIMIT_HINT);
        break;
      }
      const read = await this.#read(name);
      if (read === undefined) continue;
      const { source, tail } = read;
      const journal = tail && SourceJournal.of(this.#files, this.#path(name), tail);
      sources.push(source);
      this.#held.set(source.name, { source, journal });
    }
    return sources.sort((a, b) => a.firstSeen - b.firstSeen || (a.name < b.name ? -1 : 1));
  }

  /**
   * Resolves when the set will be there after a crash or a loss of power. What is there already is not
   * written again. Throws `StoreError`; then the file holds what it did, or (where only the last flush
   * failed) this.
   */
  async save(source: StoredSource): Promise<void> {
    const known = this.#held.get(source.name);
    const held: Held = known ?? { source: undefined };
    if (known === undefined && this.#held.size >= MAX_SOURCES) {
      throw new StoreError(`the set of ${source.name} cannot be saved: ${LIMIT}; ${LIMIT_HINT}`);
    }
    const before = held.source;
    const diff = before && diffSets(before.set, source.set);
    if (diff?.kinds.length === 0 && isSameBesides(before!, source)) return;
    this.#held.delete(source.name);
    this.#held.set(source.name, held);
    held.source = undefined; // until it is known what the file holds
    try {
      if (diff === undefined || !await this.#append(held, source, diff)) {
        await this.#write(held, source);
      }
      held.source = source;
    } catch (cause) {
      await this.#drop(held);
      if (known === undefined) this.#held.delete(source.name);
      throw storeError(`the set of ${source.name} cannot be saved in ${this.place}`, cause);
    }
    await this.#closeOldest();
  }

  /** Forgets a source. Throws `StoreError` where its file cannot be removed. */
  async remove(name: string): Promise<void> {
    const held = this.#held.get(name);
    if (held !== undefined) await this.#drop(held);
    if (this.#newer.has(sourceFileName(name))) return; // never ours
    try {
      await this.#files.remove(this.#path(sourceFileName(name)));
    } catch (cause) {
      if (!(cause instanceof Deno.errors.NotFound)) {
        throw storeError(`the set of ${name} cannot be removed`, cause);
      }
    }
    this.#held.delete(name);
    try {
      await this.#files.syncFolder(this.place);
    } catch (cause) {
      throw storeError(`the set of ${name} may be back after a loss of power`, cause);
    }
  }

  findings(): readonly Finding[] {
    return [...this.#findings];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const held of this.#held.values()) await this.#drop(held);
    this.#held.clear();
  }

  /** Appends what changed; false where the file should be, or must be, written anew. */
  async #append({ journal }: Held, source: StoredSource, diff: SourceDiff): Promise<boolean> {
    if (journal === undefined || !journal.fits(diff) || !await journal.open()) return false;
    await journal.append(source, diff);
    return true;
  }

  /** Writes the file of a source anew. */
  async #write(held: Held, source: StoredSource): Promise<void> {
    const name = sourceFileName(source.name);
    await this.#drop(held);
    try {
      await this.#keepNewer(name);
      held.journal = await SourceJournal.write(this.#files, this.#path(name), source);
    } catch (cause) {
      await this.#removeQuietly(`${name}.tmp`);
      throw cause;
    }
  }

  /** A file of a newer release is moved aside, so that this release can go on and the newer one finds it. */
  async #keepNewer(name: string): Promise<void> {
    if (!this.#newer.has(name)) return;
    await this.#files.rename(this.#path(name), this.#path(`${name}.newer`));
    this.#newer.delete(name);
  }

  /** Closes the file of a source; it is not appended to any more. */
  async #drop(held: Held): Promise<void> {
    const { journal } = held;
    held.journal = undefined;
    await journal?.[Symbol.asyncDispose]();
  }

  /** Closes files used longest ago, beyond {@link MAX_OPEN}; not those in use. */
  async #closeOldest(): Promise<void> {
    const open = [...this.#held.values()].filter(({ journal }) => journal?.isOpen);
    const idle = open.filter(({ source }) => source !== undefined);
    for (const { journal } of idle.slice(0, Math.max(0, open.length - MAX_OPEN))) {
      await journal?.[Symbol.asyncDispose]();
    }
  }

  /** The source in a file; undefined, with a finding, where there is none to be had. */
  async #read(name: string): Promise<DecodedSource | undefined> {
    try {
      const size = await this.#files.size(this.#path(name));
      if (size > MAX_FILE) {
        throw damaged(`it has ${size} bytes, more than any set`);
      }
      const decoded = decodeSource(await this.#files.read(this.#path(name)));
      const { source, unfinished } = decoded;
      if (sourceFileName(source.name) !== name) {
        throw damaged(`it holds ${source.name}, whose file has another name`);
      }
      if (unfinished > 0) {
        const message =
          `what follows the last saved change of ${source.name} is unfinished; it is left out`;
        this.#find("store/unfinished", name, message, "the source sends it again");
      }
      return decoded;
    } catch (error) {
      if (!(error instanceof StoredFileError)) {
        // An error of the disk is no proof against the file: it may be readable the next time.
        this.#find("store/unreadable", name, `the set cannot be read: ${reason(error)}`);
      } else if (error.reason === "newer") {
        this.#newer.add(name);
        this.#find("store/newer", name, `the set is not used: ${error.message}`);
      } else {
        await this.#setAside(name, error);
      }
      return undefined;
    }
  }

  async #setAside(name: string, why: StoredFileError): Promise<void> {
    let hint = `kept as ${name}.damaged; the source sends its set again`;
    try {
      for (const old of await setAside(this.#files, this.place, name)) {
        await this.#removeQuietly(old);
      }
    } catch (error) {
      hint = `it stays where it is: ${reason(error)}`;
    }
    this.#find("store/damaged", name, `the set is damaged: ${why.message}`, hint);
  }

  /** Removes a file that is of no use; one that stays does no harm. */
  async #removeQuietly(name: string): Promise<void> {
    try {
      await this.#files.remove(this.#path(name));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      this.#find("store/leftover", name, `the file cannot be removed: ${reason(error)}`);
    }
  }

  #find(rule: string, name: string, message: string, hint?: string): void {
    const position = { file: this.#path(name) };
    const right = hint === undefined ? {} : { hint };
    const finding: Finding = { severity: "warning", rule, message, ...right, position };
    this.#findings.push(finding);
    if (this.#findings.length > MAX_FINDINGS) this.#findings.shift();
    this.#options.onFinding?.(finding);
  }

  #path(name: string): string {
    return join(this.place, name);
  }
}

const LIMIT = `there are ${MAX_SOURCES} sources, as many as are kept`;
const LIMIT_HINT = "let sources that are away be forgotten by `receive.keep`";

/** Whether all that is kept besides the set is the same. */
function isSameBesides(before: StoredSource, source: StoredSource): boolean {
  return source.firstSeen === before.firstSeen && source.namedBy === before.namedBy;
}

function storeError(what: string, cause: unknown): StoreError {
  return new StoreError(`${what}: ${reason(cause)}`, { cause });
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
