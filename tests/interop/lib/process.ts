/**
 * A program under test or beside it, as a process of its own: started, listened to line by line, ended.
 *
 * @module
 */
import { HopelessError, until, type WaitOptions } from "./wait.ts";

/** What to run. */
export interface ProcessSpec {
  /** Names it in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Besides PATH, HOME and what finds Deno's cache; nothing else is handed down (proxy settings above all). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A line of output that is a JSON object. */
export type JsonLine = Readonly<Record<string, unknown>>;

/** Lines of text kept of each process. */
const KEPT_TEXT = 20_000;

/** What is handed down of our own environment. */
const HANDED_DOWN = ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME", "TMPDIR"];

/** A running process. Disposing it ends it: asked first, after 10 s killed. */
export class Process implements AsyncDisposable {
  readonly name: string;
  readonly #child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #drained: Promise<unknown>;
  readonly #text: string[] = [];
  readonly #objects: JsonLine[] = [];
  #status: Deno.CommandStatus | undefined;
  /** Whether it has ended, and everything that it wrote was read. */
  #over = false;

  private constructor(name: string, child: Deno.ChildProcess) {
    this.name = name;
    this.#child = child;
    this.#stdin = child.stdin.getWriter();
    this.#stdin.closed.catch(() => {}); // it may end first
    child.status.then((status) => this.#status = status);
    this.#drained = Promise.all([this.#read(child.stdout), this.#read(child.stderr)]);
    Promise.all([child.status, this.#drained]).then(() => this.#over = true, () => {});
  }

  /** Starts it. Throws where the program is not there. */
  static start(spec: ProcessSpec): Process {
    const inherited = HANDED_DOWN.flatMap((key) => {
      const value = Deno.env.get(key);
      return value === undefined ? [] : [[key, value] as const];
    });
    const command = new Deno.Command(spec.command, {
      args: [...spec.args],
      env: { ...Object.fromEntries(inherited), ...spec.env },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    });
    return new Process(spec.name, command.spawn());
  }

  /** Process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** How it ended, once it did. */
  get ended(): Deno.CommandStatus | undefined {
    return this.#status;
  }

  /** Every JSON object it wrote to standard output or error, in order. */
  get objects(): readonly JsonLine[] {
    return this.#objects;
  }

  /** The last lines it wrote, whatever they are. */
  get text(): readonly string[] {
    return this.#text;
  }

  /** Writes a line to its standard input. */
  async say(line: string): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(line + "\n"));
  }

  /** Waits for something of it; where it ends first, or the deadline is over, the error shows its last lines. */
  async expect<T>(
    what: string,
    attempt: () => T | undefined | false | Promise<T | undefined | false>,
    options?: WaitOptions,
  ): Promise<T> {
    try {
      return await until(`${this.name}: ${what}`, () => this.#try(what, attempt), options);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.describe()}`, {
        cause: error,
      });
    }
  }

  /** Waits for a JSON object, from the `from`-th that it wrote on. */
  expectObject<T extends JsonLine>(
    what: string,
    matches: (object: JsonLine) => boolean,
    options: WaitOptions & { readonly from?: number } = {},
  ): Promise<T> {
    return this.expect(what, () => {
      return this.#objects.slice(options.from ?? 0).find(matches) as T | undefined;
    }, options);
  }

  /** Sends it a signal. */
  signal(signal: Deno.Signal): void {
    if (this.#status === undefined) this.#child.kill(signal);
  }

  /** Waits until it has ended, at most `deadline` milliseconds. */
  async end(deadline = 10_000): Promise<Deno.CommandStatus> {
    const status = await this.expect("it ends", () => this.#status, { deadline });
    await this.#drained;
    await this.#stdin.close().catch(() => {});
    return status;
  }

  /** State and last lines. */
  describe(): string {
    const state = this.#status === undefined
      ? `runs as ${this.pid}`
      : `ended with ${this.#status.signal ?? this.#status.code}`;
    const lines = this.#text.slice(-40).map((line) => `  ${line.slice(0, 400)}`);
    return `${this.name} (${state}) wrote last:\n${lines.join("\n")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGTERM");
    try {
      await this.end();
    } catch {
      this.signal("SIGKILL");
      await this.end();
    }
  }

  /** An attempt, the last where all that the process will ever write was there before it. */
  async #try<T>(
    what: string,
    attempt: () => T | undefined | false | Promise<T | undefined | false>,
  ): Promise<T | undefined | false> {
    const over = this.#over;
    let cause: unknown;
    try {
      const value = await attempt();
      if (!over || (value !== undefined && value !== false)) return value;
    } catch (error) {
      if (!over) throw error;
      cause = error;
    }
    const { code } = this.#status!;
    throw new HopelessError(`${this.name} ended with ${code} before this: ${what}`, { cause });
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#line(line);
    }
    if (rest !== "") this.#line(rest);
  }

  #line(line: string): void {
    this.#text.push(line);
    if (this.#text.length > KEPT_TEXT) this.#text.splice(0, KEPT_TEXT / 2);
    if (!line.startsWith("{")) return;
    try {
      this.#objects.push(JSON.parse(line));
    } catch { /* it only looked like JSON; it is in the text */ }
  }
}
