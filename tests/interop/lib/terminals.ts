/**
 * Terminals of one person who tries things out: in each a command at a time, all in one folder.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { Process } from "./process.ts";
import type { Commands } from "./tour.ts";
import { until } from "./wait.ts";

/** What a command printed, and how it ended. */
interface Outcome {
  readonly lines: readonly string[];
  readonly code: number;
}

/** Terminals in a temporary folder. Disposing them ends what runs in them. */
export class Terminals implements AsyncDisposable {
  readonly #folder: string;
  readonly #running = new Map<number, Process>();
  /** What printed last, and what it printed. */
  #last: { readonly command: string; outcome: Outcome } | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens them. */
  static async open(): Promise<Terminals> {
    return new Terminals(await Deno.makeTempDir({ prefix: "pinnace-tour-" }));
  }

  /** Types the commands of a block; gives how many lines of commands they are. */
  async run({ terminal, stops, serves, before, last }: Commands): Promise<number> {
    if (stops) await this.#stop(terminal);
    assert(!this.#running.has(terminal), `in terminal ${terminal} something runs`);
    if (before !== "") assertEquals((await this.#type(before)).code, 0, before);
    if (serves) await this.#serve(terminal, last);
    else if (last !== "") this.#last = { command: last, outcome: await this.#type(last) };
    return before.split("\n").length + (last === "" ? 0 : 1);
  }

  /**
   * The last command printed these lines. A person is slower than a test, so it is typed again until it
   * does; what it says of errors goes with exit code 1, everything else with 0.
   */
  async expect(shown: readonly string[]): Promise<void> {
    const last = this.#last!;
    const wanted = pattern(shown);
    const code = shown.some((line) => line.includes(": error: ")) ? 1 : 0;
    await until(`${last.command} prints ${shown.join(" ⏎ ")}`, async () => {
      if (wanted.test(plain(last.outcome.lines)) && last.outcome.code === code) return true;
      const { lines } = last.outcome;
      last.outcome = await this.#type(last.command);
      throw new Error(`it printed ${lines.join(" ⏎ ")}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running.values()) await process[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #serve(terminal: number, command: string): Promise<void> {
    const process = Process.start({
      name: `terminal ${terminal}`,
      command: "bash",
      args: ["-c", `exec ${command}`],
      cwd: this.#folder,
      env: { NO_COLOR: "1" },
    });
    this.#running.set(terminal, process);
    // A Pinnace that only dials out says that instead.
    const started = /\bserving\b|no port for sinks and clients is open/;
    await process.expect("it serves", () => process.text.some((line) => started.test(line)));
  }

  async #stop(terminal: number): Promise<void> {
    const process = this.#running.get(terminal);
    assert(process !== undefined, `nothing runs in terminal ${terminal}`);
    process.signal("SIGINT");
    assertEquals((await process.end()).code, 0);
    this.#running.delete(terminal);
  }

  async #type(commands: string): Promise<Outcome> {
    const shell = new Deno.Command("bash", {
      args: ["-e", "-c", commands],
      cwd: this.#folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    });
    const { code, stdout } = await shell.output();
    return { code, lines: new TextDecoder().decode(stdout).trimEnd().split("\n") };
  }
}

/** Output without what differs from run to run: ports, durations, and how wide columns are. */
function plain(lines: readonly string[]): string {
  return lines.map((line) =>
    line.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT").replaceAll(/\b\d+(?:ms|s|m)\b/g, "TIME")
      .replaceAll(/ +/g, " ").trimEnd()
  ).join("\n");
}

function pattern(shown: readonly string[]): RegExp {
  const lines = plain(shown).split("\n").map((line) => {
    if (line === "…") return "(?:.*\\n)*?.*";
    return line.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/…$/, ".*");
  });
  return new RegExp(`^${lines.join("\n")}$`);
}
