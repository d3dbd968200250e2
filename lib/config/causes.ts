/**
 * Which files account for what a load changed.
 *
 * @module
 */
import { type Cause, mergeCauses } from "../model/cause.ts";
import type { ServiceRecord } from "../model/service.ts";
import { contentHash } from "../wire/hash.ts";
import type { Choice } from "./conflicts.ts";

/** What was in effect of each file, by name; the bytes that it was read from, where that is known. */
type InEffect = ReadonlyMap<string, Uint8Array | undefined>;

/** Compares what is in effect of each file with what was before. */
export class CauseFinder {
  #before: InEffect | undefined;
  /** What was last published of each file, before anything was loaded: versions of its services. */
  #published: ReadonlyMap<string, string> | undefined;
  #settings = "";

  /** What was last published: the first call compares with that. */
  seed(records: readonly ServiceRecord[], settings: unknown): void {
    const versions = Map.groupBy(records, ({ file }) => file);
    this.#published = new Map(
      Array.from(versions, ([file, all]) => [
        file,
        together(all.map((record) => contentHash([JSON.stringify(record)]))),
      ]),
    );
    this.#settings = JSON.stringify(settings);
  }

  /** What changed since the last call; nothing the first time, unless there is something to compare with. */
  next(choices: readonly Choice[], settings: unknown): readonly Cause[] {
    const now = new Map(choices.map(({ file, content }) => [file.name, content.bytes]));
    const text = JSON.stringify(settings);
    const before = this.#before;
    const changed = this.#settings !== text;
    this.#before = now;
    this.#settings = text;
    if (before === undefined && this.#published === undefined) return [];
    const causes = before === undefined
      ? fileCauses(this.#published!, versionsOf(choices))
      : fileCauses(before, now);
    this.#published = undefined;
    return mergeCauses([], changed ? [...causes, { kind: "settings" }] : causes);
  }
}

/** The services of each file that has any, as {@link CauseFinder.seed} knows them. */
function versionsOf(choices: readonly Choice[]): ReadonlyMap<string, string> {
  const some = choices.filter(({ content }) => content.services.length > 0);
  return new Map(some.map(({ file, content }) => [
    file.name,
    together(content.services.map(({ record }) => record.version)),
  ]));
}

function together(versions: readonly string[]): string {
  return [...versions].sort().join();
}

function fileCauses<T>(before: ReadonlyMap<string, T>, now: ReadonlyMap<string, T>): Cause[] {
  const causes: Cause[] = [];
  for (const [name, bytes] of now) {
    if (!before.has(name)) causes.push({ kind: "file", name, what: "added" });
    else if (before.get(name) !== bytes) causes.push({ kind: "file", name, what: "changed" });
  }
  for (const name of before.keys()) {
    if (!now.has(name)) causes.push({ kind: "file", name, what: "removed" });
  }
  return causes;
}
