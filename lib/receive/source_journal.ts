/**
 * The file of a source while it is in use: written whole once, then appended to.
 *
 * @module
 */
import { dirname } from "node:path";
import type { FileLayer, NewFile } from "../snapshot/file_layer.ts";
import type { StoredSource } from "./received.ts";
import { encodeRecord, encodeSource, type SourceDiff } from "./source_file.ts";

/** Records grow to half of what they change, but to this at least. Bytes. */
const LEAST_JOURNAL = 64 * 1024;

/** A file to append to. Disposing it closes the file. */
export class SourceJournal implements AsyncDisposable {
  readonly #file: NewFile;
  /** Size of what the records change. Bytes. */
  readonly #base: number;
  /** Size of the records. Bytes. */
  #length = 0;
  #checksum: Uint8Array;

  private constructor(file: NewFile, base: number, checksum: Uint8Array) {
    this.#file = file;
    this.#base = base;
    this.#checksum = checksum;
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
    let last = new Uint8Array();
    for (const piece of encodeSource(source)) {
      await file.write(piece);
      base += piece.length;
      last = new Uint8Array(piece);
    }
    await file.sync();
    await files.rename(`${path}.tmp`, path);
    await files.syncFolder(dirname(path));
    opened.move();
    return new SourceJournal(file, base, last);
  }

  /** Whether this change is worth a record; else the file should be written anew. */
  fits({ size }: SourceDiff): boolean {
    return this.#length + size <= Math.max(LEAST_JOURNAL, this.#base / 2);
  }

  /** Appends what turns the set into that of `source`. Throws the file system's error; then nothing more can be appended. */
  async append(source: StoredSource, diff: SourceDiff): Promise<void> {
    const { bytes, checksum } = encodeRecord(source, diff, this.#checksum);
    await this.#file.write(bytes);
    await this.#file.sync();
    this.#length += bytes.length;
    this.#checksum = checksum;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }
}
