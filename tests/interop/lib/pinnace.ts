/**
 * The program under test: always the running program with the permissions of the start task, in a
 * process of its own, never imported.
 *
 * @module
 */
import { dump, loadAll } from "js-yaml";
import { Metrics } from "./metrics.ts";
import { freePorts } from "./ports.ts";
import { Process } from "./process.ts";

/** A service as it is written in the configuration. */
export type ServiceConfig = Readonly<Record<string, unknown>>;

/** What a test says of the configuration; the rest is chosen here. */
export interface PinnaceConfig {
  readonly services: readonly ServiceConfig[];
  /** Any other key. */
  readonly [key: string]: unknown;
}

/** How the program is run. */
export interface PinnaceOptions {
  /** What comes before the program: another network namespace, say. */
  readonly prefix?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A resource as `render` prints it. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

const ROOT = new URL("../../../", import.meta.url);

/** A Pinnace with a configuration and a store of its own, in a temporary folder that goes with it. */
export class Pinnace implements AsyncDisposable {
  /** Its own folder: the configuration's, whose relative paths start there. */
  readonly folder: string;
  readonly #options: PinnaceOptions;
  readonly #port: number;
  readonly #admin: number;
  #process: Process | undefined;

  private constructor(folder: string, options: PinnaceOptions) {
    const [port, admin] = freePorts(2);
    this.folder = folder;
    this.#options = options;
    this.#port = port!;
    this.#admin = admin!;
  }

  /** Writes the configuration and starts the program; resolves once it can serve. */
  static async start(config: PinnaceConfig, options: PinnaceOptions = {}): Promise<Pinnace> {
    const pinnace = await Pinnace.prepare(config, options);
    try {
      await pinnace.run();
      return pinnace;
    } catch (error) {
      await pinnace[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Writes the configuration without starting anything. */
  static async prepare(config: PinnaceConfig, options: PinnaceOptions = {}): Promise<Pinnace> {
    const folder = await Deno.makeTempDir({ prefix: "pinnace-interop-" });
    const pinnace = new Pinnace(folder, options);
    await pinnace.write(config);
    return pinnace;
  }

  /** `host:port` where sinks and clients dial. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** The running process. */
  get process(): Process {
    if (this.#process === undefined) throw new Error("Pinnace is not running");
    return this.#process;
  }

  /** Replaces the configuration file, as an editor does: another file, renamed. */
  async write(config: PinnaceConfig): Promise<void> {
    const text = dump({
      instance: "interop",
      listen: [{ address: this.address }],
      admin: `127.0.0.1:${this.#admin}`,
      log: { level: "debug", format: "json" },
      ...config,
    });
    await Deno.writeTextFile(`${this.#config}.new`, text);
    await Deno.rename(`${this.#config}.new`, this.#config);
  }

  /** Starts the program; resolves once it can serve, or, where its admin listener cannot be reached from here, at once. */
  async run({ ready = true } = {}): Promise<void> {
    const { prefix = [], env = {} } = this.#options;
    const [command, ...args] = [...prefix, Deno.execPath(), ...await runArguments()];
    this.#process = Process.start({
      name: "pinnace",
      command: command!,
      args: [...args, "--config", this.#config, "--store", `${this.folder}/store`],
      env,
    });
    if (!ready) return;
    await this.#process.expect("/readyz is 200", async () => {
      if (this.#process?.ended !== undefined) return undefined;
      const response = await fetch(this.#url("/readyz"));
      await response.body?.cancel();
      return response.ok;
    });
  }

  /** Ends the program as an operator does; fails where it does not end well. */
  async stop(): Promise<void> {
    this.process.signal("SIGTERM");
    const { code } = await this.process.end();
    if (code !== 0) throw new Error(`exit code ${code}\n${this.process.describe()}`);
    this.#process = undefined;
  }

  /** Ends the program as a power cut does. */
  async kill(): Promise<void> {
    this.process.signal("SIGKILL");
    await this.process.end();
    this.#process = undefined;
  }

  /** What `/metrics` says now. */
  metrics(): Promise<Metrics> {
    return Metrics.scrape(this.#url("/metrics"));
  }

  /** What `/api/v1/status` says now. */
  async status(): Promise<Record<string, unknown>> {
    const response = await fetch(this.#url("/api/v1/status"));
    if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`);
    return await response.json();
  }

  /** What the command `render` prints for the configuration as it now is, by `namespace/name`. */
  async render(): Promise<ReadonlyMap<string, Rendered>> {
    const documents = await this.renderAll();
    return new Map(documents.map((d) => [`${d.metadata.namespace}/${d.metadata.name}`, d]));
  }

  /** All that the command `render` prints: objects of several kinds may have one name. */
  async renderAll(): Promise<readonly Rendered[]> {
    const command = new Deno.Command(Deno.execPath(), {
      args: [...await runArguments(), "render", "--config", this.#config],
      stdout: "piped",
      stderr: "piped",
    });
    const { code, stdout, stderr } = await command.output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    if (code !== 0) throw new Error(`render exits with ${code}: ${decode(stderr)}`);
    return loadAll(decode(stdout)) as Rendered[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  get #config(): string {
    return `${this.folder}/pinnace.yaml`;
  }

  #url(path: string): string {
    return `http://127.0.0.1:${this.#admin}${path}`;
  }
}

/** `deno` arguments of the start task up to the program, which is named absolutely. */
export async function runArguments(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const words = String(tasks.start).split(" ");
  const program = words.indexOf("main.ts");
  if (words[0] !== "deno" || program < 0) {
    throw new Error(`the start task is not as the tests know it: ${tasks.start}`);
  }
  return [...words.slice(1, program), new URL("main.ts", ROOT).pathname];
}
