/**
 * The tokens by which sources are known, out of files that may change at any time.
 *
 * @module
 */
import { ContentWatch } from "../transport/content_watch.ts";
import { readSmallFile } from "../transport/small_file.ts";
import { readToken } from "../transport/token_file.ts";
import { TokenIndex } from "../transport/token_index.ts";

/** How often the files are compared. Milliseconds. */
const POLL = 2000;

/** Told when a source's file becomes unusable, or (undefined) usable again. Must not throw. */
export type TokenProblem = (source: string, message: string | undefined) => void;

/** Looks in a row after which a file that is missing or empty takes its token with it: a replacement may take a moment. */
const LOOKS_GONE = 2;

/** How files are watched. */
export interface SourceTokensOptions {
  /** How often the files are compared. Milliseconds; default 2000. */
  readonly poll?: number;
}

/** Tokens by name of the source. Disposing it ends watching. */
export class SourceTokens implements AsyncDisposable {
  readonly #paths: ReadonlyMap<string, string>;
  readonly #onProblem: TokenProblem;
  readonly #problems = new Map<string, string>();
  /** How often in a row a source's file was missing or empty. */
  readonly #gone = new Map<string, number>();
  #tokens: ReadonlyMap<string, string> = new Map();
  #index = new TokenIndex([]);
  #watch: ContentWatch | undefined;
  #changed: () => void = () => {};

  private constructor(paths: ReadonlyMap<string, string>, onProblem: TokenProblem) {
    this.#paths = paths;
    this.#onProblem = onProblem;
  }

  /**
   * Reads the files (absolute paths, by name of the source). One that cannot be used keeps its source
   * out, and is said; it does not keep the others out.
   */
  static async open(
    paths: ReadonlyMap<string, string>,
    onProblem: TokenProblem,
    { poll = POLL }: SourceTokensOptions = {},
  ): Promise<SourceTokens> {
    const tokens = new SourceTokens(paths, onProblem);
    await tokens.#read();
    if (paths.size > 0) tokens.#watch = new ContentWatch({ poll, look: () => tokens.#read() });
    return tokens;
  }

  /**
   * The tokens as they are now. Of a file that cannot be read any more it is the last good one; of one
   * that stays missing or empty it is none, since that is how a token is withdrawn.
   */
  get current(): TokenIndex {
    return this.#index;
  }

  /** Calls back whenever a token has changed. Set once; must not throw. */
  onChange(changed: () => void): void {
    this.#changed = changed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
  }

  async #read(): Promise<void> {
    const found = await Promise.all([...this.#paths].map(([source, path]) => read(source, path)));
    const owners = new Map<string, string>();
    for (const one of found) {
      const { source } = one;
      const token = this.#tokenOf(one);
      const twin = token === undefined ? undefined : owners.get(token);
      if (token !== undefined && twin === undefined) owners.set(token, source);
      this.#say(source, twin === undefined ? this.#problemOf(one) : sameToken(twin, source));
    }
    this.#replace(new Map(Array.from(owners, ([token, source]) => [source, token])));
  }

  #tokenOf({ source, token, gone }: Read): string | undefined {
    if (!gone) this.#gone.delete(source);
    else this.#gone.set(source, (this.#gone.get(source) ?? 0) + 1);
    if (this.#isGone(source)) return undefined;
    return token ?? this.#tokens.get(source);
  }

  #problemOf({ source, problem }: Read): string | undefined {
    if (problem === undefined || !this.#isGone(source)) return problem;
    return `${problem}: nobody comes in as this source`;
  }

  #isGone(source: string): boolean {
    return (this.#gone.get(source) ?? 0) >= LOOKS_GONE;
  }

  #replace(tokens: ReadonlyMap<string, string>): void {
    const before = this.#tokens;
    const same = before.size === tokens.size &&
      [...tokens].every(([source, token]) => before.get(source) === token);
    this.#tokens = tokens;
    if (same && !this.#index.isEmpty) return;
    this.#index = new TokenIndex(tokens, this.#paths.keys());
    this.#changed();
  }

  #say(source: string, message: string | undefined): void {
    if (this.#problems.get(source) === message) return;
    if (message === undefined) this.#problems.delete(source);
    else this.#problems.set(source, message);
    this.#onProblem(source, message);
  }
}

interface Read {
  readonly source: string;
  readonly token?: string;
  readonly problem?: string;
  /** Whether the file is missing or empty, rather than wrong or out of reach. */
  readonly gone: boolean;
}

async function read(source: string, path: string): Promise<Read> {
  try {
    return { source, token: await readToken(path), gone: false };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { source, problem, gone: await isGone(path) };
  }
}

async function isGone(path: string): Promise<boolean> {
  const file = await readSmallFile(path, LARGEST_BLANK);
  return file.ok ? file.text.trim() === "" : file.missing;
}

/** A file of more white space than this is no empty one. Bytes. */
const LARGEST_BLANK = 8192;

function sameToken(first: string, second: string): string {
  return `the sources ${first} and ${second} have the same token; it counts as ${first}'s`;
}
