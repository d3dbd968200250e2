/**
 * The file of a source while it is in use: written whole once, then appended to.
 *
 * @module
 */
import { dirname } from "node:path";
import type { FileLayer, NewFile } from "../snapshot/file_layer.ts";
import type { StoredSource } from "./received.ts";
import type { SourceDiff } from "./source_diff.ts";
import { encodeRecord, encodeSource, type SourceTail } from "./source_file.ts";
import { sealOf } from "./source_record.ts";

/** Records grow to half of what they change, but to this at least. Bytes. */
const LEAST_JOURNAL = 64 * 1024;

/** A file to append to. Disposing it closes the file, which {@link SourceJournal.open} opens again. */
export class SourceJournal implements AsyncDisposable {
  readonly #files: FileLayer;
  readonly #path: string;
  #file: NewFile | undefined;
  #tail: SourceTail;

  private constructor(files: FileLayer, path: string, tail: SourceTail, file?: NewFile) {
    this.#files = files;
    this.#path = path;
    this.#tail = tail;
    this.#file = file;
  }

  /** The journal of a file that has been read; not opened yet. */
  static of(files: FileLayer, path: string, tail: SourceTail): SourceJournal {
    return new SourceJournal(files, path, tail);
  }

  /**
   * Writes the file of a source in place of what is at `path`; resolves when it is there to stay.
   * Throws the file system's error; then `path` is as it was, or (where only the last flush failed) new.
   * What is left at `<path>.tmp` is of no use.
   */
  static async write(files: FileLayer, path: string, source: StoredSource): Promise<SourceJournal> {
    await using opened = new AsyncDisposableStack();
    const file = opened.use(await files.create(`${path}.tmp`));
    let base = 0;
    let checksum = new Uint8Array();
    for (const piece of encodeSource(source)) {
      await file.write(piece);
      base += piece.length;
      checksum = new Uint8Array(piece);
    }
    await file.sync();
    await files.rename(`${path}.tmp`, path);
    await files.syncFolder(dirname(path));
    opened.move();
    return new SourceJournal(
      files,
      path,
      { base, length: 0, checksum, seal: sealOf(checksum) },
      file,
    );
  }

  /** Whether the file is open. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** Whether this change is worth a record; else the file should be written anew. */
  fits({ size }: SourceDiff): boolean {
    return this.#tail.length + size <= Math.max(LEAST_JOURNAL, this.#tail.base / 2);
  }

  /** Opens the file; false where it is gone or is not as it was left. Throws the file system's other errors. */
  async open(): Promise<boolean> {
    if (this.#file !== undefined) return true;
    try {
      const { base, length } = this.#tail;
      if (await this.#files.size(this.#path) !== base + length) return false;
      this.#file = await this.#files.append(this.#path);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }

  /**
   * Appends what turns the set into that of `source`, to an open file; resolves when that is there to
   * stay. Throws the file system's error; then nothing more can be appended.
   */
  async append(source: StoredSource, diff: SourceDiff): Promise<void> {
    const { base, length, checksum: before, seal } = this.#tail;
    const file = this.#file!;
    const { bytes, checksum } = encodeRecord(source, diff, before);
    await file.write(bytes);
    await file.sync();
    await file.write(seal);
    this.#tail = { base, length: length + bytes.length + seal.length, checksum, seal };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.[Symbol.asyncDispose]();
  }
}
