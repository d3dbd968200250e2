/**
 * Sets of sources that are forgotten when the process ends: for a folder that cannot be written, and
 * for tests.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { SourceStore, StoredSource } from "./received.ts";

/** Options of {@link MemorySourceStore}. */
export interface MemorySourceStoreOptions {
  /** What it holds at first: what a folder gives to read that cannot be written. */
  readonly seed?: readonly StoredSource[];
  /** Why nothing is kept on disk. */
  readonly findings?: readonly Finding[];
}

/** Keeps sets of sources in memory only. */
export class MemorySourceStore implements SourceStore {
  readonly #sources: Map<string, StoredSource>;
  readonly #findings: readonly Finding[];

  constructor({ seed = [], findings = [] }: MemorySourceStoreOptions = {}) {
    this.#sources = new Map(seed.map((source) => [source.name, source]));
    this.#findings = findings;
  }

  /** What it holds, by when the source was first heard of. */
  load(): Promise<readonly StoredSource[]> {
    const sources = [...this.#sources.values()];
    return Promise.resolve(sources.sort((a, b) => a.firstSeen - b.firstSeen));
  }

  save(source: StoredSource): Promise<void> {
    this.#sources.set(source.name, source);
    return Promise.resolve();
  }

  remove(name: string): Promise<void> {
    this.#sources.delete(name);
    return Promise.resolve();
  }

  findings(): readonly Finding[] {
    return this.#findings;
  }
}
