/**
 * The tokens of sources, looked up by what they hash to: each stream costs one hash, however many tokens
 * there are, and how long that takes tells nothing of any of them.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** Whose token is which. Immutable. */
export class TokenIndex {
  readonly #owners = new Map<string, string>();
  readonly #names: ReadonlySet<string>;

  /**
   * `tokens`: by name of the source; of two with one token it is the first's, and an empty one is
   * nobody's. `names`: more names that are those of tokens, though none is known.
   */
  constructor(tokens: Iterable<readonly [string, string]>, names: Iterable<string> = []) {
    const all = [...tokens];
    this.#names = new Set([...names, ...all.map(([name]) => name)]);
    for (const [name, token] of all) {
      const key = digest(token);
      if (token !== "" && !this.#owners.has(key)) this.#owners.set(key, name);
    }
  }

  /** Whether there are no names at all, so that no token is asked after. */
  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** Whether this is the name of a token, be it known or not. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whose token it is. */
  ownerOf(token: string): string | undefined {
    return this.#owners.get(digest(token));
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
