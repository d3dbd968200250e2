// deno-lint-ignore-file no-console -- a program of its own, whose output is the console
/**
 * The chaos run's part for receivers: sources that break every rule, beside edges that keep them.
 * Usage: source_chaos.ts [--seconds N] [--rounds N] [--seed N]
 *
 * @module
 */
import { parseArgs } from "node:util";
import type { Finding } from "./bench.ts";
import { pullChaos } from "./pull_bench.ts";
import { ReceiverBench } from "./receiver_bench.ts";

/** How often, how long and with which seed. */
export interface SourceChaosOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly seed: number;
}

/** How much memory may grow from the first round to a later one. */
const GROWTH = 1.3;

/** Attacks receivers, then one that pulls; reports what had to hold. */
export async function sourceChaos(
  options: SourceChaosOptions,
  report: (finding: Finding) => void,
): Promise<void> {
  await attackReceivers(options, report);
  for (const finding of await pullChaos(options)) report(finding);
}

async function attackReceivers(
  { seconds, rounds, seed }: SourceChaosOptions,
  report: (finding: Finding) => void,
): Promise<void> {
  await using bench = await ReceiverBench.start();
  const memory: number[][] = [];
  for (let round = 1; round <= rounds; round++) {
    const longer = round === 1 ? 2 : 1; // until everything was needed once that is kept for further use
    const options = { seconds: longer * seconds, seed: seed + round - 1, round };
    const findings = await bench.attack(options);
    for (const finding of findings) report(finding);
    for (const finding of await bench.aftermath(round)) report(finding);
    memory.push(await bench.settledMemory());
  }
  for (const finding of await bench.verdicts()) report(finding);
  ["plaintext", "TLS"].forEach((name, i) => {
    const bytes = memory.map((round) => round[i]!);
    report({
      ok: bytes.every((one) => one <= GROWTH * bytes[0]!),
      what: `${name} receiver: memory after each round: ` +
        `${bytes.map((one) => `${Math.round(one / 1e6)} MB`).join(", ")}; ` +
        `at most ${GROWTH} times the first`,
    });
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seconds: { type: "string", default: "15" },
      rounds: { type: "string", default: "2" },
      seed: { type: "string" },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  let failed = 0;
  const options = { seconds: Number(values.seconds), rounds: Number(values.rounds), seed };
  await sourceChaos(options, ({ ok, what }) => {
    if (!ok) failed++;
    console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
  });
  Deno.exit(failed === 0 ? 0 : 1);
}
