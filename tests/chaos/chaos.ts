// deno-lint-ignore-file no-console -- a program that reports on standard output
/**
 * The chaos run: the program as its users run it, honest peers attached, a change every second, and
 * beside them clients, sinks and sources that break every rule. Usage: chaos.ts [--short] [--seed N]
 * [--rounds N]
 *
 * What must hold: no crash; every honest stream sees every revision and is never ended; memory after a
 * later round is within 1.3 times of that after the first; dial-out comes back in time.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { crashScenario } from "./crash.ts";
import { Bench, type Finding } from "./bench.ts";
import { receiverCrashScenario } from "./receiver_crash.ts";
import { sourceChaos } from "./source_chaos.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    short: { type: "boolean", default: false },
    seed: { type: "string" },
    rounds: { type: "string", default: "2" },
  },
});
const seconds = values.short ? 15 : 60;
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const rounds = Number(values.rounds);

/** How much memory may grow from the first round to a later one. */
const GROWTH = 1.3;

const findings: Finding[] = [];
const report = (finding: Finding) => {
  findings.push(finding);
  console.log(`${finding.ok ? "ok  " : "FAIL"} ${finding.what}`);
};

console.log(`seed ${seed}, ${rounds} rounds, ${seconds} s each of abuse, frames and hostile sinks`);
{
  await using bench = await Bench.start();
  const memory: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const options = { seconds, seed: seed + round, round: round + 1 };
    report(await bench.abuse("abuse.mjs", options));
    report(await bench.abuse("frame_fuzz.mjs", options));
    report(await bench.hostileSinks(options));
    memory.push(await bench.settledMemory());
  }
  for (const finding of await bench.verdicts()) report(finding);
  const growth = memory.map((bytes) => bytes / memory[0]!);
  report({
    ok: growth.every((factor) => factor <= GROWTH),
    what: `memory after each round: ${
      memory.map((b) => `${Math.round(b / 1e6)} MB`).join(", ")
    }; ` +
      `at most ${GROWTH} times the first`,
  });
}
await sourceChaos({ seconds: values.short ? 8 : 60, seed, rounds }, report);
report(await crashScenario({ kills: values.short ? 100 : 1000, seed }));
report(await receiverCrashScenario({ kills: values.short ? 30 : 300, seed }));

const failed = findings.filter((finding) => !finding.ok).length;
console.log(`${findings.length - failed} passed, ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
