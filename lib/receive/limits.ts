/**
 * Which namespaces each part may fill.
 *
 * @module
 */
import { matchesAny } from "../model/pattern.ts";
import { OWN_PART } from "./offer.ts";

/** Answers remembered of one part; then they are worked out anew. */
const MAX_REMEMBERED = 50_000;

interface Limit {
  readonly patterns: readonly string[];
  readonly answers: Map<string, boolean>;
}

/** Who may fill what. Of whom nothing was said may fill everything. */
export class Limits {
  readonly #limits = new Map<string, Limit>();

  /**
   * Patterns of the namespaces that a part may fill; empty: all. Returns whether that is new. Throws
   * TypeError where our own configuration would be limited.
   */
  set(part: string, patterns: readonly string[]): boolean {
    if (patterns.length === 0) return this.#limits.delete(part);
    if (part === OWN_PART) throw new TypeError("our own configuration may fill every namespace");
    const known = this.#limits.get(part)?.patterns;
    const isSame = known?.length === patterns.length &&
      patterns.every((pattern, index) => pattern === known[index]);
    if (!isSame) this.#limits.set(part, { patterns: [...patterns], answers: new Map() });
    return !isSame;
  }

  /** Whether there are namespaces that the part may not fill. */
  isLimited(part: string): boolean {
    return this.#limits.has(part);
  }

  /** Whether the part may fill a namespace. */
  mayFill(part: string, namespace: string): boolean {
    const limit = this.#limits.get(part);
    if (limit === undefined) return true;
    let answer = limit.answers.get(namespace);
    if (answer === undefined) {
      if (limit.answers.size >= MAX_REMEMBERED) limit.answers.clear();
      limit.answers.set(namespace, answer = matchesAny(limit.patterns, namespace));
    }
    return answer;
  }
}

/** The namespace in a resource's name. */
export function namespaceOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf("/")));
}
