/**
 * A running Pinnace, however it is started: from source, as a bundle, as a binary.
 *
 * @module
 */
import { freePorts } from "../interop/lib/ports.ts";
import { Process } from "../interop/lib/process.ts";

/** How the program is started; its own arguments follow `args`. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = new URL("../../", import.meta.url);

/** The source, with the permissions of the start task. */
export async function sourceLaunch(): Promise<Launch> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const args = String(tasks.pinnace).split(" ").slice(1);
  return { command: Deno.execPath(), args, cwd: ROOT.pathname };
}

/** A Pinnace with a folder, a configuration and a store of its own. */
export class Running implements AsyncDisposable {
  readonly folder: string;
  readonly address: string;
  readonly admin: string;
  readonly #launch: Launch;
  #process: Process | undefined;

  private constructor(folder: string, launch: Launch) {
    const [port, admin] = freePorts(2);
    this.folder = folder;
    this.address = `127.0.0.1:${port}`;
    this.admin = `127.0.0.1:${admin}`;
    this.#launch = launch;
  }

  /** A folder and ports; nothing runs yet. */
  static async prepare(launch: Launch): Promise<Running> {
    return new Running(await Deno.makeTempDir({ prefix: "pinnace-cli-" }), launch);
  }

  /** Prepared, with this configuration, and ready. */
  static async start(launch: Launch, text: string): Promise<Running> {
    const running = await Running.prepare(launch);
    await running.write(text);
    await running.run();
    return running;
  }

  get process(): Process {
    if (this.#process === undefined) throw new Error("it does not run");
    return this.#process;
  }

  get config(): string {
    return `${this.folder}/pinnace.yaml`;
  }

  get store(): string {
    return `${this.folder}/store`;
  }

  /** Saves the configuration: its own settings, then `text`. */
  async write(text: string): Promise<void> {
    const head = [
      `listen: ["${this.address}"]`,
      `admin: "${this.admin}"`,
      `log: { level: debug, format: json }`,
    ];
    await Deno.writeTextFile(`${this.config}.new`, [...head, text].join("\n"));
    await Deno.rename(`${this.config}.new`, this.config);
  }

  /** Starts the process and waits until it is ready, at most `deadline` milliseconds. */
  async run(deadline = 30_000): Promise<void> {
    this.launch();
    await this.process.expect("it is ready", async () => {
      if (this.#process?.ended !== undefined) throw new Error("it has ended");
      return (await this.get("/readyz")).status === 200;
    }, { deadline, every: 30 });
  }

  /** Starts the process. */
  launch(): void {
    const { command, args, cwd, env } = this.#launch;
    const own = ["--config", this.config, "--store", this.store];
    this.#process = Process.start({
      name: "pinnace",
      command,
      args: [...args, ...own],
      cwd,
      ...(env === undefined ? {} : { env }),
    });
  }

  /** Asks the admin listener. */
  async get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://${this.admin}${path}`);
    return { status: response.status, text: await response.text() };
  }

  /** The status, as JSON. */
  // deno-lint-ignore no-explicit-any -- its schema has a test of its own
  async status(): Promise<any> {
    return JSON.parse((await this.get("/api/v1/status")).text);
  }

  /** Waits for a log line. */
  logged(pattern: RegExp): Promise<unknown> {
    return this.process.expect(
      `it logs ${pattern}`,
      () => this.process.text.some((line) => pattern.test(line)),
      { deadline: 20_000 },
    );
  }

  /** Ends the process by a signal; gives its exit code and how long that took, in milliseconds. */
  async end(signal: Deno.Signal): Promise<{ readonly code: number; readonly ms: number }> {
    const from = performance.now();
    this.process.signal(signal);
    const { code } = await this.process.end();
    this.#process = undefined;
    return { code, ms: performance.now() - from };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}
