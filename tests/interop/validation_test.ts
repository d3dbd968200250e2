/**
 * Istio's own validation, built from its module, against our `istio/*` rules: on every object both must
 * say the same, and as often.
 */
import { assert, assertEquals } from "@std/assert";
import type { Finding } from "../../lib/model/finding.ts";
import { completeServiceEntry, completeWorkloadEntry } from "../../lib/convert/messages.ts";
import { runRules } from "../../lib/convert/rules/rule.ts";
import { SERVICE_ENTRY_RULES } from "../../lib/convert/rules/service_entry_rules.ts";
import { WORKLOAD_ENTRY_RULES } from "../../lib/convert/rules/workload_entry_rules.ts";
import { serviceEntryCodec, workloadEntryCodec } from "../../lib/wire/messages.ts";
import { byChance } from "./validation/chance.ts";
import { corners, singleChanges, type Subject } from "./validation/subjects.ts";

const FOLDER = new URL("./validation/", import.meta.url);
const PROGRAM = new URL("./bin/istio-validation", import.meta.url).pathname;

/** Objects made by chance in each run. */
const BY_CHANCE = 10_000;

/** After these Istio looks no further, so that the number of complaints says nothing. */
const FINAL = ["istio/dry-run-annotation", "istio/internal-annotation", "istio/selector-labels"];

const ISTIO_RULES = [
  ...new Set([...SERVICE_ENTRY_RULES, ...WORKLOAD_ENTRY_RULES].map(({ id }) => id)),
].filter((id) => id.startsWith("istio/")).sort();

const hasGo = await succeeds("go", ["version"]);

Deno.test({
  name: "istio rules: Istio's own validation says the same of every object",
  ignore: !hasGo && (Deno.env.get("CI") ?? "") === "",
  fn: async (t) => {
    assert(hasGo, "the Go toolchain is needed to build Istio's validation, and `go` is not there");
    await build();
    const seed = Number(Deno.env.get("SEED") ?? Math.floor(Math.random() * 2 ** 32));
    const suites: readonly [string, () => Subject[]][] = [
      ["made by hand", () => [...corners()]],
      ["one value changed", () => [...singleChanges()]],
      [`by chance (SEED=${seed})`, () => [...byChance(seed, BY_CHANCE)]],
    ];
    const seen = new Set<string>();
    for (const [name, make] of suites) {
      await t.step(name, async () => {
        const subjects = make();
        const figures = compare(subjects, await ask(subjects), seen);
        // deno-lint-ignore no-console -- figures of a run are for whoever reads its log
        console.log(`${name}: ${figures}`);
      });
    }
    await t.step("every rule found something, so that none agrees by saying nothing", () => {
      assertEquals([...seen].sort(), ISTIO_RULES);
    });
  },
});

/** What Istio says of an object. */
interface Verdict {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

function compare(
  subjects: readonly Subject[],
  verdicts: readonly Verdict[],
  seen: Set<string>,
): string {
  assertEquals(verdicts.length, subjects.length);
  const differences: string[] = [];
  let [valid, warned] = [0, 0];
  subjects.forEach((subject, index) => {
    const istio = verdicts[index]!;
    const ours = judge(subject);
    for (const { rule } of ours) seen.add(rule);
    if (istio.errors.length === 0) valid++;
    if (istio.errors.length === 0 && istio.warnings.length > 0) warned++;
    if (!agree(istio, ours)) differences.push(describe(subject, istio, ours));
  });
  assertEquals(
    differences.length,
    0,
    `${differences.length} of ${subjects.length} differ:\n${differences.slice(0, 10).join("\n")}`,
  );
  const refused = subjects.length - valid;
  return `${subjects.length} objects, ${refused} refused and ${warned} warned of by both`;
}

function agree(istio: Verdict, ours: readonly Finding[]): boolean {
  const errors = ours.filter(({ severity }) => severity === "error");
  if (errors.some(({ rule }) => FINAL.includes(rule))) return istio.errors.length > 0;
  return istio.errors.length === errors.length &&
    istio.warnings.length === ours.length - errors.length;
}

/** Our findings, by the rules that are to agree with Istio; none is held back. */
function judge({ kind, metadata, spec }: Subject): Finding[] {
  const options = { limit: Infinity };
  const findings = kind === "ServiceEntry"
    ? runRules(SERVICE_ENTRY_RULES, { metadata, spec: completeServiceEntry(spec) }, options)
    : runRules(WORKLOAD_ENTRY_RULES, { metadata, spec: completeWorkloadEntry(spec) }, options);
  return findings.filter(({ rule }) => rule.startsWith("istio/"));
}

function describe(subject: Subject, istio: Verdict, ours: readonly Finding[]): string {
  return [
    `${subject.title}: ${JSON.stringify({ ...subject, title: undefined })}`,
    `  Istio: ${JSON.stringify(istio)}`,
    `  ours:  ${JSON.stringify(ours.map(({ rule, message }) => `${rule}: ${message}`))}`,
  ].join("\n");
}

/** Istio's verdict on each object, in their order. */
async function ask(subjects: readonly Subject[]): Promise<Verdict[]> {
  const lines = subjects.map(({ kind, metadata, spec }) => {
    const bytes = kind === "ServiceEntry"
      ? serviceEntryCodec.encode(spec)
      : workloadEntryCodec.encode(spec);
    return JSON.stringify({ kind, ...metadata, spec: bytes.toBase64() }) + "\n";
  });
  // Istio's features are switched by the environment: none, so that its defaults hold.
  const child = new Deno.Command(PROGRAM, {
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  await ReadableStream.from(lines).pipeThrough(new TextEncoderStream()).pipeTo(child.stdin);
  const { success, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  assert(success, decoder.decode(stderr));
  return decoder.decode(stdout).trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function build(): Promise<void> {
  const { success, stderr } = await new Deno.Command("go", {
    args: ["build", "-o", PROGRAM, "."],
    cwd: FOLDER,
    env: { GOFLAGS: "-buildvcs=false -mod=mod" },
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, `go build: ${new TextDecoder().decode(stderr)}`);
}

async function succeeds(command: string, args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output())
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
