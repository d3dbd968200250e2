/**
 * Istio's own validation, built from its module, against our `istio/*` rules: on every object both must
 * say the same, and as often. What Istio says of the objects made by hand is kept beside the golden
 * files, so that the quick tests hold our rules to it as well; UPDATE_GOLDEN=1 writes it anew.
 * And of what services become it must take everything.
 */
import { assert, assertEquals } from "@std/assert";
import { encodeResource } from "../../lib/convert/convert.ts";
import { renderResource } from "../../lib/convert/render.ts";
import { serviceEntryCodec, workloadEntryCodec } from "../../lib/wire/messages.ts";
import { OWN_KINDS } from "../../lib/model/own_names.ts";
import { byChance } from "./validation/chance.ts";
import { type Made, objectsByChance } from "./validation/services.ts";
import { corners, singleChanges, type Subject } from "./validation/subjects.ts";
import {
  agree,
  type Count,
  describe,
  ISTIO_RULES,
  judge,
  writeCounts,
} from "./validation/verdicts.ts";

const FOLDER = new URL("./validation/", import.meta.url);
const PROGRAM = new URL("./bin/istio-validation", import.meta.url).pathname;
const KEPT = new URL("../testdata/convert/istio_verdicts.txt", import.meta.url);

/** Objects made by chance in each run. */
const BY_CHANCE = 10_000;

/** Services made by chance in each run; about every second is refused by us. */
const SERVICES_BY_CHANCE = 6_000;

const hasGo = await succeeds("go", ["version"]);

Deno.test({
  name: "istio rules: Istio's own validation says the same of every object" +
    (hasGo ? "" : " (needs the Go toolchain, which is not there)"),
  ignore: !hasGo && (Deno.env.get("CI") ?? "") === "",
  fn: async (t) => {
    assert(hasGo, "the Go toolchain is needed to build Istio's validation, and `go` is not there");
    await build();
    const seed = Number(Deno.env.get("SEED") ?? Math.floor(Math.random() * 2 ** 32));
    const seen = new Set<string>();
    const check = async (name: string, subjects: readonly Subject[]) => {
      const verdicts = await ask(subjects.map(question));
      const figures = compare(subjects, verdicts, seen);
      // deno-lint-ignore no-console -- figures of a run are for whoever reads its log
      console.log(`${name}: ${figures}`);
      return verdicts;
    };
    await t.step("objects made by hand", async () => {
      keep(await check("made by hand", [...corners(), ...singleChanges()]));
    });
    await t.step(`objects made by chance (SEED=${seed})`, async () => {
      await check("made by chance", [...byChance(seed, BY_CHANCE)]);
    });
    await t.step(`what services become (SEED=${seed})`, async () => {
      await takesAll([...objectsByChance(seed, SERVICES_BY_CHANCE)]);
    });
    await t.step("every rule found something, so that none agrees by saying nothing", () => {
      assertEquals([...seen].sort(), ISTIO_RULES);
    });
  },
});

/** What Istio says of an object. */
interface Verdict {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** How our rendering of the object, read by Istio, differs from our encoding; empty if it does not. */
  readonly unlike: string;
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
    if (!agree(count(istio), ours) || istio.unlike !== "") {
      differences.push(describe(subject, istio, ours));
    }
  });
  assertEquals(
    differences.length,
    0,
    `${differences.length} of ${subjects.length} differ:\n${differences.slice(0, 10).join("\n")}`,
  );
  const refused = subjects.length - valid;
  return `${subjects.length} objects, ${refused} refused and ${warned} warned of by both`;
}

function count({ errors, warnings }: Verdict): Count {
  return { errors: errors.length, warnings: warnings.length };
}

function keep(verdicts: readonly Verdict[]): void {
  const text = writeCounts(verdicts.map(count)).replace(/(.{1,98})( |$)/g, "$1\n");
  if (Deno.env.get("UPDATE_GOLDEN") === "1") Deno.writeTextFileSync(KEPT, text);
  assertEquals(text, Deno.readTextFileSync(KEPT), "Istio's verdicts moved: UPDATE_GOLDEN=1");
}

/** Istio refuses none of these objects, and of what directs traffic it does not even warn. */
async function takesAll(made: readonly Made[]): Promise<void> {
  const verdicts = await ask(made.map(({ question }) => question));
  assertEquals(verdicts.length, made.length);
  const wrong = made.flatMap(({ kind, title, question }, index) => {
    const { errors, warnings, unlike } = verdicts[index]!;
    const said = [...errors, ...(kind === "ServiceEntry" ? [] : warnings)];
    return said.length === 0 && unlike === ""
      ? []
      : [`${kind} of ${title}\n  ${JSON.stringify({ said, unlike, question })}`];
  });
  assertEquals(wrong.length, 0, `${wrong.length} refused:\n${wrong.slice(0, 5).join("\n")}`);
  const counts = [...Map.groupBy(made, ({ kind }) => kind)].map(([kind, all]) =>
    `${all.length} ${kind}`
  );
  // deno-lint-ignore no-console -- figures of a run are for whoever reads its log
  console.log(`what services become: ${counts.join(", ")}`);
  for (const kind of OWN_KINDS) {
    assert(made.filter((one) => one.kind === kind).length > 500, kind);
  }
}

/** Istio's verdict on each object, in their order. */
async function ask(questions: readonly unknown[]): Promise<Verdict[]> {
  const lines = questions.map((one) => JSON.stringify(one) + "\n");
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

function question({ kind, metadata, spec }: Subject): unknown {
  const body = kind === "ServiceEntry"
    ? serviceEntryCodec.pack(spec)
    : workloadEntryCodec.pack(spec);
  const written = renderResource(encodeResource(metadata, body)).spec;
  return { kind, ...metadata, spec: body.value.toBase64(), written };
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
