// deno-lint-ignore-file no-console -- a program of its own, whose output is the console
/**
 * The crash run of a receiver: it is killed with SIGKILL again and again, at any moment, while two
 * sources push. Whatever it serves first after that is, of each source, a set that the source once
 * pushed, whole, and never older than what the source was told to be taken (ACK); and it tells the
 * source to hold no less. In half of the lives the sources are away until something was served.
 * Usage: receiver_crash.ts [--kills N] [--seed N]
 *
 * @module
 */
import { parseArgs } from "node:util";
import { Pinnace } from "../interop/lib/pinnace.ts";
import { freePort } from "../interop/lib/ports.ts";
import { pause } from "../interop/lib/wait.ts";
import { type Held, runAdsClient } from "./ads_client.ts";
import type { Finding } from "./bench.ts";
import { randomOf } from "./crash.ts";
import { namesOf, runCrashSource } from "./crash_source.ts";

/** How often, and with which seed. */
export interface ReceiverCrashOptions {
  readonly kills: number;
  readonly seed: number;
}

/** The first push after a start must come within this. Milliseconds. */
const START_WITHIN = 30_000;

/** What is known of one source, over all lives of the receiver. */
class SourceHistory {
  readonly name: string;
  /** Newest revision pushed, or about to be. */
  pushed = 0;
  /** Newest revision ACKed. */
  acked = 0;
  /** What had been ACKed when this life began. */
  atStart = 0;
  acks = 0;
  /** Newest revision that the client saw in this life. */
  seen: number | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The revision that is held, whole; undefined where it is none. 0: nothing at all. */
  revisionOf(held: ReadonlyMap<string, string>): number | undefined {
    const own = [...held].filter(([name]) => name.startsWith(`${this.name}/`));
    if (own.length === 0) return 0;
    const revision = Number(own[0]![1].slice(1));
    if (!Number.isSafeInteger(revision) || revision > this.pushed) return undefined;
    const names = namesOf(this.name, revision);
    const isWhole = own.length === names.length &&
      names.every((name) => held.get(name) === `r${revision}`);
    return isWhole ? revision : undefined;
  }
}

/** Kills a receiver `kills` times; says what came of it. */
export async function receiverCrashScenario(
  { kills, seed }: ReceiverCrashOptions,
): Promise<Finding> {
  const address = `127.0.0.1:${freePort()}`;
  await using pinnace = await Pinnace.prepare({
    instance: "receiver",
    services: [],
    receive: { address },
    admin: false,
    log: { level: "info", format: "json" },
  });
  const run = new ReceiverCrashRun(pinnace, address, seed);
  for (let life = 1; life <= kills && run.violations.length < 5; life++) await run.live(life);
  return run.verdict();
}

class ReceiverCrashRun {
  readonly violations: string[] = [];
  readonly #pinnace: Pinnace;
  readonly #address: string;
  readonly #random: () => number;
  readonly #sources = [new SourceHistory("site-a"), new SourceHistory("site-b")];
  readonly #starts: number[] = [];
  #lives = 0;
  #fromStoreAlone = 0;
  #ahead = 0;
  #resumed = 0;
  #lastError = "no connection";

  constructor(pinnace: Pinnace, address: string, seed: number) {
    this.#pinnace = pinnace;
    this.#address = address;
    this.#random = randomOf(seed);
  }

  /** One life: start, be dialled, serve, be killed. */
  async live(number: number): Promise<void> {
    this.#lives = number;
    const life = `life ${number}`;
    const away = number > 1 && this.#random() < 0.5;
    const late = this.#random() * 500;
    for (const source of this.#sources) {
      source.atStart = source.acked;
      source.seen = undefined;
    }
    const startedAt = performance.now();
    await this.#pinnace.run({ ready: false });
    const end = new AbortController();
    const served = Promise.withResolvers<void>();
    const client = runAdsClient(this.#pinnace.address, {
      pushed: (held) => {
        const isFirst = this.#sources[0]!.seen === undefined;
        this.#judge(held, `${life}${away ? " (sources away)" : ""}`, isFirst);
        if (!isFirst) return;
        this.#starts.push(performance.now() - startedAt);
        if (away) this.#fromStoreAlone++;
      },
      acked: () => served.resolve(),
      failed: (message) => this.#lastError = message,
    }, { signal: end.signal });
    const acks = this.#sources.reduce((sum, source) => sum + source.acks, 0);
    const sources = this.#dialIn(life, away ? served.promise : Promise.resolve(), end.signal);
    const what = await Promise.race([
      served.promise.then(() => this.#moreAcks(acks + 4)),
      pause(START_WITHIN).then(() => "late" as const),
    ]);
    if (what === "late") {
      const { process } = this.#pinnace;
      this.violations.push(`${life}: too late (${this.#lastError}); ${process.describe()}`);
    } else await pause(late);
    await this.#pinnace.kill();
    end.abort();
    await Promise.all([client, ...sources]);
  }

  verdict(): Finding {
    const starts = this.#starts.toSorted((a, b) => a - b).map(Math.round);
    const of = this.#sources.map(({ name, pushed, acks }) =>
      `${name}: ${pushed} revisions pushed, ${acks} ACKed`
    );
    return {
      ok: this.violations.length === 0 && this.#fromStoreAlone > 0 && this.#resumed > 0,
      what:
        `${this.#lives} kills of a receiver: ${of.join("; ")}; ${starts.length} starts served ` +
        `(${this.#fromStoreAlone} with the sources away, ${this.#ahead} sets newer than ACKed), ` +
        `first push after ${starts[starts.length >> 1]} ms (${starts[0]} to ${starts.at(-1)}); ` +
        `${this.#resumed} times a source was told what is held` +
        this.violations.slice(0, 5).map((violation) => `\n     ${violation}`).join(""),
    };
  }

  /** Resolves once there were so many ACKs over all lives. */
  async #moreAcks(count: number): Promise<void> {
    while (this.#sources.reduce((sum, { acks }) => sum + acks, 0) < count) await pause(5);
  }

  #dialIn(life: string, from: Promise<void>, signal: AbortSignal): readonly Promise<void>[] {
    return this.#sources.map(async (source) => {
      let isFirst = true;
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve(), { once: true })
      );
      await Promise.race([from, aborted]);
      await runCrashSource(source.name, {
        address: this.#address,
        signal,
        hooks: {
          next: () => ++source.pushed,
          acked: (revision) => {
            source.acks++;
            source.acked = Math.max(source.acked, revision);
          },
          asked: (held) => {
            if (isFirst) this.#judgeTold(source, held, life);
            isFirst = false;
          },
          failed: (message) => this.#lastError = message,
        },
      });
    });
  }

  #judge(held: Held, life: string, isFirst: boolean): void {
    for (const source of this.#sources) {
      const revision = source.revisionOf(held);
      const about = `${life}: ${source.name}`;
      if (revision === undefined) {
        const labels = [...new Set(held.values())].slice(0, 5);
        this.violations.push(`${about}: among ${held.size} of ${labels}: never pushed like this`);
      } else if (isFirst && revision < source.atStart) {
        this.violations.push(`${about}: began with r${revision}, r${source.atStart} was ACKed`);
      } else if (revision < (source.seen ?? 0)) {
        this.violations.push(`${about}: went back from r${source.seen} to r${revision}`);
      }
      if (isFirst && (revision ?? 0) > source.atStart) this.#ahead++;
      source.seen = revision ?? source.seen ?? 0;
    }
  }

  /** What a source is told to be held when it comes back. */
  #judgeTold(
    source: SourceHistory,
    held: ReadonlyMap<string, string> | undefined,
    life: string,
  ): void {
    if (source.atStart === 0) return;
    const revision = held && source.revisionOf(held);
    if (revision === undefined || revision < source.atStart) {
      this.violations.push(
        `${life}: ${source.name} is told r${revision} (${held?.size} names) to be held, ` +
          `r${source.atStart} was ACKed`,
      );
    } else this.#resumed++;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { kills: { type: "string", default: "30" }, seed: { type: "string" } },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const { ok, what } = await receiverCrashScenario({ kills: Number(values.kills), seed });
  console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
  Deno.exit(ok ? 0 : 1);
}
