/**
 * What the probe has asked for, and what of that was answered.
 *
 * @module
 */
import { xdsTypeByUrl } from "../model/xds_type.ts";
import type { ProbedPush } from "./probe_push.ts";
import type { Wanted } from "./probe_walk.ts";

/** A type or collection that is asked for. */
export interface Asked {
  readonly typeUrl: string;
  /** Asked for by name; none: not at all, yet. Absent: all there are. */
  readonly names?: readonly string[];
}

/** Where it stands. */
export interface Standing {
  /** Types asked for by now. */
  readonly asked: number;
  /** Those of them of which nothing is missing. */
  readonly answered: number;
  /** What was asked for and has no answer yet, for a person. */
  readonly missing: readonly string[];
  /** What was asked for by name and is not there, as the server says. */
  readonly absent: readonly string[];
}

interface Entry {
  names: readonly string[] | undefined;
  answered: boolean;
  /** Its last push was refused, so that nothing more of it is waited for. */
  refused: boolean;
  readonly has: Set<string>;
  /** What the server says is not there. */
  readonly gone: Set<string>;
}

/** Keeps account of one stream. */
export class ProbeLedger {
  readonly #entries = new Map<string, Entry>();

  constructor(types: readonly Asked[]) {
    for (const { typeUrl, names } of types) {
      const nothing = { answered: false, refused: false, has: new Set<string>() };
      this.#entries.set(typeUrl, { names, ...nothing, gone: new Set() });
    }
  }

  /** These names are asked for from now on, by type. */
  rename(wanted: Wanted): void {
    for (const [typeUrl, names] of wanted) {
      const entry = this.#entries.get(typeUrl);
      if (entry !== undefined) entry.names = names;
    }
  }

  /** Takes a push that was accepted or refused. */
  take({ type, incremental, resources, removed }: ProbedPush, refused: boolean): void {
    const entry = this.#entries.get(type);
    if (entry === undefined) return;
    entry.answered = true;
    entry.refused = refused;
    if (refused || entry.names === undefined) return;
    const whole = !incremental && (xdsTypeByUrl(type)?.wildcard ?? true);
    if (whole) {
      entry.has.clear();
      entry.gone.clear();
    }
    for (const { name } of resources) {
      entry.has.add(name);
      entry.gone.delete(name);
    }
    const silent = whole ? entry.names.filter((name) => !entry.has.has(name)) : [];
    for (const name of [...removed, ...silent]) {
      entry.has.delete(name);
      entry.gone.add(name);
    }
  }

  /** Where it stands now. */
  standing(): Standing {
    let [asked, answered] = [0, 0];
    const missing: string[] = [];
    const absent: string[] = [];
    for (const [typeUrl, entry] of this.#entries) {
      if (entry.names?.length === 0) continue;
      asked++;
      const label = labelOf(typeUrl);
      const lacking = lackingOf(entry);
      if (lacking === undefined) missing.push(label);
      else {
        for (const name of lacking) {
          (entry.gone.has(name) ? absent : missing).push(`${label} ${name}`);
        }
        if (lacking.length === 0) answered++;
      }
    }
    return { asked, answered, missing, absent };
  }
}

/** Names without a resource; undefined: all there is was asked for, and nothing was answered. */
function lackingOf({ names, answered, refused, has }: Entry): readonly string[] | undefined {
  if (names === undefined) return answered ? [] : undefined;
  return refused ? [] : names.filter((name) => !has.has(name));
}

function labelOf(typeUrl: string): string {
  return xdsTypeByUrl(typeUrl)?.shortName ?? typeUrl;
}
