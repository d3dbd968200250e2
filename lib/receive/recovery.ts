/**
 * What a restored snapshot serves of other sources and no stored set accounts for: it goes on being
 * served until a source gives it anew, for what was served last is never taken away by a damaged file.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { Collections } from "../rollout/parts.ts";
import { countOf } from "./limit_set.ts";
import type { SourceStatus } from "./source_events.ts";
import type { SourcesOptions } from "./sources.ts";

/** Name of the part that holds what was recovered; no source can have it. */
export const RECOVERED = "(recovered)";

/** What a store finds although every set that was saved is there. */
const HARMLESS: ReadonlySet<string> = new Set(["store/unfinished", "store/leftover"]);

/**
 * Whether sets are missing that may once have been saved: then what only the snapshot has is to be
 * recovered. Else it is gone: a source took it back, which was saved before the snapshot without it
 * could be (a process can be killed in between), and nobody would ever remove it again.
 */
export function isIncomplete(
  { loaded, findings }: { readonly loaded: number; readonly findings: readonly Finding[] },
): boolean {
  return loaded === 0 || findings.some(({ rule }) => !HARMLESS.has(rule));
}

/** Keeps what was recovered, and gives it up name by name. */
export class Recovery {
  readonly #offer: SourcesOptions["offer"];
  readonly #now: () => number;
  #collections: Collections = new Map();
  #since = 0;

  constructor(offer: SourcesOptions["offer"], now: () => number) {
    this.#offer = offer;
    this.#now = now;
  }

  /** Recovers of `served` what is in none of the sets. */
  begin(served: Collections, sets: readonly Collections[]): void {
    const rest = [...served].map(([kind, collection]) => {
      const known: string[] = [];
      for (const { name } of collection) {
        if (sets.some((set) => set.get(kind)?.get(name) !== undefined)) known.push(name);
      }
      return [kind, collection.patch([], known)] as const;
    });
    this.#since = this.#now();
    this.#replace(new Map(rest.filter(([, { size }]) => size > 0)));
  }

  /** A source gives these itself. */
  giveUp(kind: string, names: Iterable<string>): void {
    const collection = this.#collections.get(kind);
    if (collection === undefined) return;
    const next = collection.patch([], names);
    if (next === collection) return;
    const rest = new Map(this.#collections);
    if (next.size === 0) rest.delete(kind);
    else rest.set(kind, next);
    this.#replace(rest);
  }

  /** What is still only recovered, if anything. */
  status(): SourceStatus | undefined {
    if (this.#collections.size === 0) return undefined;
    return {
      name: RECOVERED,
      state: "stale",
      since: this.#since,
      resources: countOf(this.#collections),
      streams: 0,
      held: false,
    };
  }

  #replace(collections: Collections): void {
    if (this.#collections.size === 0 && collections.size === 0) return;
    this.#collections = collections;
    const gone = collections.size === 0;
    this.#offer(RECOVERED, gone ? undefined : collections, {
      changedAt: this.#now(),
      trusted: true,
    });
  }
}
