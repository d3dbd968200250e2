/**
 * Why something was pushed: kept with each publication, so that a person can tell what caused it.
 *
 * @module
 */

/** One reason of a push. */
export type Cause =
  | {
    readonly kind: "file";
    /** Relative to the folder of the configuration, with `/`. */
    readonly name: string;
    readonly what: "added" | "changed" | "removed";
  }
  /** Another source pushed, came back or went. */
  | { readonly kind: "source"; readonly name: string }
  /** A setting changed, or the whole configuration was loaded anew. */
  | { readonly kind: "settings" }
  /** A person let pass what the guard held back. */
  | { readonly kind: "confirmed"; readonly id: string }
  /** The process started: it is what the store had, or what was loaded first. */
  | { readonly kind: "start" }
  /** Further reasons that are no longer listed. */
  | { readonly kind: "more"; readonly count: number };

/** Reasons of one push that are listed. */
export const MAX_CAUSES = 100;

/** The reasons of two changes that go out as one; each once, at most {@link MAX_CAUSES}, then their number. */
export function mergeCauses(a: readonly Cause[], b: readonly Cause[]): readonly Cause[] {
  if (b.length === 0) return a;
  if (a.length === 0 && b.length <= MAX_CAUSES) return b; // the usual case
  const seen = new Map<string, Cause>();
  let more = 0;
  for (const cause of [...a, ...b]) {
    if (cause.kind === "more") more += cause.count;
    else if (seen.size < MAX_CAUSES) seen.set(JSON.stringify(cause), cause);
    else if (!seen.has(JSON.stringify(cause))) more++;
  }
  return more === 0 ? [...seen.values()] : [...seen.values(), { kind: "more", count: more }];
}
