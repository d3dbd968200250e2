// deno-lint-ignore-file no-console -- a program of its own, whose output is the console
/**
 * The crash run: the program is killed with SIGKILL again and again, at any moment, while its files
 * change. Whatever it serves first after that was configured as it is, and is never older than what a
 * peer had ACKed. Half of the starts find a broken configuration, so that only the store can serve.
 * Usage: crash.ts [--kills N] [--seed N]
 *
 * @module
 */
import { parseArgs } from "node:util";
import { dump } from "js-yaml";
import { runArguments } from "../interop/lib/pinnace.ts";
import { freePort } from "../interop/lib/ports.ts";
import { Process } from "../interop/lib/process.ts";
import { pause } from "../interop/lib/wait.ts";
import { runAdsClient } from "./ads_client.ts";
import type { Finding } from "./bench.ts";
import { History, servicesOf } from "./crash_history.ts";

/** How often, and with which seed. */
export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
}

/** The first push after a start must come within this. Milliseconds. */
const START_WITHIN = 30_000;

/** Kills `kills` times; says what came of it. */
export async function crashScenario({ kills, seed }: CrashOptions): Promise<Finding> {
  const run = await CrashRun.prepare(seed);
  try {
    // After a few there is nothing more to learn, and what waits in vain takes long.
    for (let life = 1; life <= kills && run.violations < 5; life++) await run.live(life);
    return run.verdict();
  } finally {
    await Deno.remove(run.folder, { recursive: true });
  }
}

/** What one life of the program is to be. */
interface Plan {
  readonly name: string;
  /** Whether the configuration is broken when the program starts. */
  readonly broken: boolean;
  /** Kill so long after the start, come what may, or, undefined, after the first ACK. Milliseconds. */
  readonly early: number | undefined;
  /** Time from the first ACK to the kill. Milliseconds. */
  readonly late: number;
}

class CrashRun {
  readonly folder: string;
  readonly #address = `127.0.0.1:${freePort()}`;
  readonly #history = new History();
  readonly #random: () => number;
  readonly #starts: number[] = [];
  #lives = 0;
  #fromStoreAlone = 0;
  #early = 0;
  #unsaved = 0;
  #leftovers = 0;
  #saved = 0;
  #lastError = "no connection";

  private constructor(folder: string, seed: number) {
    this.folder = folder;
    this.#random = randomOf(seed);
  }

  static async prepare(seed: number): Promise<CrashRun> {
    return new CrashRun(await Deno.makeTempDir({ prefix: "pinnace-crash-" }), seed);
  }

  /** Promises broken so far. */
  get violations(): number {
    return this.#history.violations.length;
  }

  /** One life: start, serve while the configuration changes, be killed. */
  async live(number: number): Promise<void> {
    this.#lives = number;
    const plan = this.#plan(number);
    const history = this.#history;
    history.begin();
    await (plan.broken ? this.#break() : this.#write());
    const startedAt = performance.now();
    const program = await this.#start();
    const end = new AbortController();
    const acked = Promise.withResolvers<void>();
    const client = runAdsClient(this.#address, {
      pushed: (held) => {
        if (history.seen === undefined) this.#starts.push(performance.now() - startedAt);
        history.push(held, plan.name);
      },
      acked: () => {
        history.ack();
        acked.resolve();
      },
      failed: (message) => this.#lastError = message,
    }, { signal: end.signal });
    const writer = this.#keepWriting(acked.promise, plan, end.signal);
    await this.#untilKill(plan, acked.promise, program);
    program.signal("SIGKILL");
    await program.end();
    end.abort();
    await Promise.all([client, writer]);
    await this.#look(plan, program);
  }

  #plan(number: number): Plan {
    const broken = number > 1 && this.#random() < 0.5;
    const early = number > 1 && this.#random() < 0.2 ? this.#random() * 2000 : undefined;
    const name = `life ${number}${broken ? " (configuration broken)" : ""}`;
    return { name, broken, early, late: this.#random() * 500 };
  }

  async #start(): Promise<Process> {
    const files = ["--config", this.#config, "--store", `${this.folder}/store`];
    const args = [...await runArguments(), ...files];
    return Process.start({ name: "pinnace", command: Deno.execPath(), args });
  }

  async #untilKill({ name, early, late }: Plan, acked: Promise<void>, program: Process) {
    const ended = program.expect("it ends", () => program.ended !== undefined, {
      deadline: START_WITHIN + 5_000,
    }).then(() => "ended" as const, () => "late" as const);
    if (early !== undefined) {
      this.#early++;
      await Promise.race([pause(early), ended]);
    } else {
      const what = await Promise.race([
        acked.then(() => "acked" as const),
        ended,
        pause(START_WITHIN).then(() => "late" as const),
      ]);
      if (what === "acked") await pause(late);
      else {this.#history.violations.push(
          `${name}: nothing was served (${this.#lastError}); ${program.describe()}`,
        );}
    }
    if (program.ended !== undefined) {
      this.#history.violations.push(`${name}: it ended by itself; ${program.describe()}`);
    }
  }

  /** Another revision every few milliseconds; where the configuration is broken, from the first ACK on. */
  async #keepWriting(acked: Promise<void>, { broken }: Plan, signal: AbortSignal): Promise<void> {
    if (broken) await Promise.race([acked, aborted(signal)]);
    while (!signal.aborted) {
      await this.#write();
      await pause(this.#random() * 60);
    }
  }

  async #write(): Promise<void> {
    this.#history.written++;
    await this.#replace({ services: servicesOf(this.#history.written) });
  }

  #break(): Promise<void> {
    return this.#replace({ services: [{ name: "No Name Is Like This" }] });
  }

  async #replace(config: Readonly<Record<string, unknown>>): Promise<void> {
    const text = dump({
      listen: [{ address: this.#address }],
      admin: false, // nobody asks; and its default port may be taken
      push: { quiet: "5ms", max: "20ms" },
      log: { level: "info", format: "json" },
      ...config,
    });
    await Deno.writeTextFile(`${this.#config}.new`, text);
    await Deno.rename(`${this.#config}.new`, this.#config);
  }

  get #config(): string {
    return `${this.folder}/pinnace.yaml`;
  }

  /** What the killed program left behind. */
  async #look({ broken, name }: Plan, program: Process): Promise<void> {
    if (broken && this.#history.seen !== undefined) this.#fromStoreAlone++;
    for (const line of program.text) {
      const save = /\bpublished\b.*\bsave\W{1,3}(saved|slow|failed)\b/.exec(line)?.[1];
      if (save === "saved") this.#saved++;
      else if (save !== undefined) this.#unsaved++;
    }
    for (const file of await namesIn(`${this.folder}/store/snapshots`)) {
      if (file.endsWith(".tmp")) this.#leftovers++;
      if (file.endsWith(".damaged")) this.#history.violations.push(`${name}: damaged: ${file}`);
    }
  }

  verdict(): Finding {
    const { written, acks, ahead, violations } = this.#history;
    const starts = this.#starts.toSorted((a, b) => a - b).map(Math.round);
    const median = starts[starts.length >> 1];
    return {
      ok: violations.length === 0 && acks > this.#lives && this.#fromStoreAlone > 0,
      what:
        `${this.#lives} kills (${this.#early} at any moment of the start): ${written} revisions ` +
        `written, ${acks} ACKed, ${starts.length} starts served (${this.#fromStoreAlone} from the ` +
        `store alone, ${ahead} with more than was ACKed), first push after ${median} ms ` +
        `(${starts[0]} to ${starts.at(-1)}); ${this.#leftovers} unfinished files left; ` +
        `${this.#saved} published saved, ${this.#unsaved} before that` +
        violations.slice(0, 5).map((violation) => `\n     ${violation}`).join(""),
    };
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []; // killed before it was made
    throw error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { kills: { type: "string", default: "100" }, seed: { type: "string" } },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const { ok, what } = await crashScenario({ kills: Number(values.kills), seed });
  console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
  Deno.exit(ok ? 0 : 1);
}
