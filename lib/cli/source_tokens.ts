/**
 * The tokens by which sources are known, out of files that may change at any time.
 *
 * @module
 */
import { ContentWatch } from "../transport/content_watch.ts";
import { readToken } from "../transport/token_file.ts";

/** How often the files are compared. Milliseconds. */
const POLL = 2000;

/** Told when a source's file becomes unusable, or (undefined) usable again. Must not throw. */
export type TokenProblem = (source: string, message: string | undefined) => void;

/** Tokens by name of the source. Disposing it ends watching. */
export class SourceTokens implements AsyncDisposable {
  readonly #paths: ReadonlyMap<string, string>;
  readonly #onProblem: TokenProblem;
  readonly #problems = new Map<string, string>();
  #tokens: ReadonlyMap<string, string> = new Map();
  #watch: ContentWatch | undefined;

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
    { poll = POLL }: { readonly poll?: number } = {},
  ): Promise<SourceTokens> {
    const tokens = new SourceTokens(paths, onProblem);
    await tokens.#read();
    if (paths.size > 0) tokens.#watch = new ContentWatch({ poll, look: () => tokens.#read() });
    return tokens;
  }

  /** The tokens as they are now; of a file that became unusable, the last good one. */
  get current(): ReadonlyMap<string, string> {
    return this.#tokens;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
  }

  async #read(): Promise<void> {
    const found = await Promise.all([...this.#paths].map(([source, path]) => read(source, path)));
    const next = new Map<string, string>();
    for (const { source, token = this.#tokens.get(source), problem } of found) {
      const twin = [...next].find(([, other]) => other === token)?.[0];
      if (token !== undefined && twin === undefined) next.set(source, token);
      this.#say(source, twin === undefined ? problem : sameToken(twin, source));
    }
    this.#tokens = next;
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
}

async function read(source: string, path: string): Promise<Read> {
  try {
    return { source, token: await readToken(path) };
  } catch (error) {
    return { source, problem: error instanceof Error ? error.message : String(error) };
  }
}

function sameToken(first: string, second: string): string {
  return `the sources ${first} and ${second} have the same token; it counts as ${first}'s`;
}
