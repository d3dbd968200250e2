/** Loads and stores to test publishing with. */
import type { CollectionChange } from "../../lib/model/change.ts";
import type { Settings } from "../../lib/model/settings.ts";
import type { Load } from "../../lib/rollout/publisher.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import type {
  SaveOptions,
  SaveReport,
  SnapshotStore,
  StoredSnapshot,
} from "../../lib/snapshot/store.ts";
import { resource, SETTINGS } from "../snapshot/snapshots.ts";

/** A change of one kind: texts by name. */
export function changeOf(
  kind: string,
  entries: Readonly<Record<string, string>>,
  removed: readonly string[] = [],
): CollectionChange {
  const resources = Object.entries(entries).map(([name, text]) => resource(name, text));
  return {
    kind,
    names: resources.map((r) => r.name),
    versions: resources.map((r) => r.version),
    lengths: resources.map((r) => r.bytes.length),
    bytes: new Uint8Array(resources.flatMap((r) => [...r.bytes])),
    removed,
  };
}

/** A load of ServiceEntries, and services that say the same. */
export function loadOf(
  entries: Readonly<Record<string, string>>,
  removed: readonly string[] = [],
  settings: Settings = SETTINGS,
): Load {
  const changes = ["ServiceEntry", "Service"].map((kind) => changeOf(kind, entries, removed));
  return { usable: true, settings, changes };
}

/** Names `a/svc-<from>` to `a/svc-<to - 1>`. */
export function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `a/svc-${from + i}`);
}

/** These names, each with the text. */
export function entriesOf(named: readonly string[], text = "x"): Record<string, string> {
  return Object.fromEntries(named.map((name) => [name, text]));
}

interface RunningSave {
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
  readonly done: (report: SaveReport) => void;
  readonly failed: (error: Error) => void;
}

/** A store whose saves end when and how the test says; without a say, at once and well. */
export class ScriptedStore implements SnapshotStore {
  readonly durable = true;
  readonly place = "/var/store";
  /** Whether saves wait for {@link finish} or {@link fail}. */
  manual = false;
  /** What a save throws that does not wait. */
  error: Error | undefined;
  /** Most saves that ran at one time. */
  atOnce = 0;
  readonly begun: string[] = [];
  readonly #running: RunningSave[] = [];
  #stored: StoredSnapshot | undefined;

  constructor(stored?: StoredSnapshot) {
    this.#stored = stored;
  }

  /** Id of the newest saved. */
  get savedId(): string | undefined {
    return this.#stored?.snapshot.id;
  }

  get running(): number {
    return this.#running.length;
  }

  /** Ends the running save well. */
  finish(): void {
    const { snapshot, done } = this.#running.shift()!;
    this.#keep(snapshot);
    done({ written: true, bytes: 1 });
  }

  /** Ends the running save badly. */
  fail(message: string): void {
    this.#running.shift()!.failed(new Error(message));
  }

  /** Drops the running save, as the end of its process does. */
  forget(): void {
    this.#running.length = 0;
  }

  load(): Promise<StoredSnapshot | undefined> {
    return Promise.resolve(this.#stored);
  }

  save(snapshot: Snapshot, { signal }: SaveOptions): Promise<SaveReport> {
    this.begun.push(snapshot.id);
    this.atOnce = Math.max(this.atOnce, this.#running.length + 1);
    if (this.manual) {
      return new Promise((done, failed) => {
        this.#running.push({ snapshot, signal, done, failed });
      });
    }
    if (this.error !== undefined) return Promise.reject(this.error);
    this.#keep(snapshot);
    return Promise.resolve({ written: true, bytes: 1 });
  }

  #keep(snapshot: Snapshot): void {
    this.#stored = { snapshot, savedAt: 0, sequence: (this.#stored?.sequence ?? 0) + 1 };
  }

  list = () => Promise.resolve([]);
  read = () => Promise.resolve(undefined);
  findings = () => [];
  [Symbol.asyncDispose] = () => Promise.resolve();
}
