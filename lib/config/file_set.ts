/**
 * The files of a configuration over time, each read once a load.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Service, ServiceRecord } from "../model/service.ts";
import type { ConfigFile } from "./files.ts";
import type { Allowance } from "./read_file.ts";
import { type ReadContext, SourceFile } from "./source_file.ts";

/** How a file is taken. */
export interface TakeOptions {
  /** Whether it is one of `--config`'s own. */
  readonly main: boolean;
  /** Bytes that it may have. */
  readonly limit: number;
  /** Bytes that all files taken in this load may have together. */
  readonly total: number;
}

/** The files of a configuration. */
export class FileSet {
  readonly #context: ReadContext;
  readonly #files = new Map<string, SourceFile>();
  /** Of the files that were taken in this load, or in the last one. */
  readonly #allowances = new Map<SourceFile, Allowance>();
  /** Bytes of the files taken in this load. */
  #taken = 0;
  #seeds = new Map<string, Service[]>();

  constructor(context: ReadContext) {
    this.#context = context;
  }

  /** What was last published of each file: counts for files that the next load meets. */
  seed(records: readonly ServiceRecord[]): void {
    for (const { file, service } of records) {
      const services = this.#seeds.get(file);
      if (services === undefined) this.#seeds.set(file, [service]);
      else services.push(service);
    }
  }

  /** Number of files. */
  get size(): number {
    return this.#files.size;
  }

  /** The files. */
  [Symbol.iterator](): IterableIterator<SourceFile> {
    return this.#files.values();
  }

  /** Begins a load: every file is read anew when it is taken. */
  begin(): void {
    this.#allowances.clear();
    this.#taken = 0;
  }

  /** The file, as it is now. */
  take(file: ConfigFile, { main, limit, total }: TakeOptions): SourceFile {
    const source = this.#files.get(file.name) ?? this.#add(file, main);
    if (!this.#allowances.has(source)) {
      const allowance = { file: limit, left: total - this.#taken };
      this.#allowances.set(source, allowance);
      source.refresh(allowance);
      this.#taken += source.bytes?.length ?? 0;
    }
    return source;
  }

  /** Files that were not taken, but may only be out of reach; with what is in effect of them. */
  held(folder: string, mayBeOutOfReach: (name: string) => boolean): SourceFile[] {
    for (const name of this.#seeds.keys()) {
      if (!this.#files.has(name)) this.#add({ name, path: resolve(folder, name) }, false);
    }
    return [...this.#files.values()].filter((file) =>
      !this.#allowances.has(file) && mayBeOutOfReach(file.name)
    );
  }

  /** Ends a load: keeps these files, forgets the others and the seed. */
  end(keep: Iterable<SourceFile>): void {
    const kept = new Set(keep);
    for (const [name, file] of this.#files) {
      if (!kept.has(file)) {
        this.#files.delete(name);
      } else file.release();
    }
    this.#seeds = new Map();
  }

  /** Whether any of the files that were taken differs from what was last read of it. */
  differs(): boolean {
    return [...this.#allowances].some(([file, allowance]) => file.differs(allowance));
  }

  #add(file: ConfigFile, main: boolean): SourceFile {
    const source = new SourceFile(file, main, this.#context, this.#seeds.get(file.name));
    this.#files.set(file.name, source);
    return source;
  }
}
