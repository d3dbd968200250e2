/**
 * Which files account for what a load changed.
 *
 * @module
 */
import { type Cause, mergeCauses } from "../model/cause.ts";
import type { Choice } from "./conflicts.ts";

/** What was in effect of each file, by name; the bytes that it was read from, where that is known. */
type InEffect = ReadonlyMap<string, Uint8Array | undefined>;

/** Compares what is in effect of each file with what was before. */
export class CauseFinder {
  #before: InEffect | undefined;
  #settings = "";

  /** What changed since the last call; nothing the first time, when there is nothing to compare with. */
  next(choices: readonly Choice[], settings: unknown): readonly Cause[] {
    const now = new Map(choices.map(({ file, content }) => [file.name, content.bytes]));
    const text = JSON.stringify(settings);
    const before = this.#before;
    const changed = this.#settings !== text;
    this.#before = now;
    this.#settings = text;
    if (before === undefined) return [];
    const causes = fileCauses(before, now);
    return mergeCauses([], changed ? [...causes, { kind: "settings" }] : causes);
  }
}

function fileCauses(before: InEffect, now: InEffect): Cause[] {
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
