/**
 * Makes the binary: bundles the program into one module, so that only what is used goes in, and
 * compiles that with the least permissions. Usage: deno task compile [--target TRIPLE]
 *
 * Compiling needs `denort`, the runtime without the tools, which Deno fetches; where it cannot, the
 * environment variable DENORT_BIN names a local one of the same version.
 *
 * @module
 */
import { VERSION } from "../lib/cli/version.ts";

/** What the program may do: nothing is run, no native library is loaded, no code is fetched. */
export const PERMISSIONS = [
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys=hostname",
  "--deny-import",
] as const;

/** How a step went. */
export interface Outcome {
  readonly ok: boolean;
  /** For the person who asked; one line wherever it is known what is wrong. */
  readonly output: string;
}

/** How to compile. */
export interface CompileOptions {
  /** Further arguments of `deno compile`. */
  readonly options?: readonly string[];
  /** The environment; default: that of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = new URL("../", import.meta.url);

/** Bundles the program into the file `to` (absolute). */
export async function bundle(to: string): Promise<Outcome> {
  const outcome = await deno(["bundle", "--output", to, "main.ts"]);
  if (outcome.ok) await Deno.writeTextFile(to, namePackages(await Deno.readTextFile(to)));
  return outcome;
}

/** Compiles a bundle into the binary `to` (both absolute). */
export async function compile(
  bundled: string,
  to: string,
  { options = [], env = Deno.env.toObject() }: CompileOptions = {},
): Promise<Outcome> {
  const fixed = ["compile", "--no-config", "--no-check", "--no-prompt", ...PERMISSIONS];
  const outcome = await deno([...fixed, ...options, "--output", to, bundled], env);
  if (outcome.ok) return outcome;
  return { ok: false, output: explain(outcome.output, env["DENORT_BIN"]) };
}

/** Packages by name and version, not by where this machine keeps them: the bundle is the same everywhere. */
function namePackages(text: string): string {
  return text.replaceAll(/(?:\.\.\/)*[^\s"'`]*\/npm\/[^\s"'`/]+\/(?=[^\s"'`/])/g, "npm:");
}

/** What a person is told of a failure: one line where the runtime to embed is missing or no such thing. */
function explain(output: string, denort: string | undefined): string {
  if (!/base binary|denort|Writing binary bytes/.test(output)) return output;
  const wanted = `denort ${Deno.version.deno}`;
  const cause = [...output.matchAll(/^ +(?:\d+: )?(\S.*)$/gm)].map(([, text]) => text!)
    .filter((text) => !/^<unknown>|base binary|Writing binary bytes|Could not find/.test(text))
    .at(-1) ?? "no reason given";
  return denort === undefined
    ? `${wanted} cannot be fetched (${cause}); set DENORT_BIN to a local ${wanted} and try again\n`
    : `DENORT_BIN is ${denort}, which is not usable (${cause}); it has to name a ${wanted}\n`;
}

function ownDenort(): string | undefined {
  return Deno.env.get("DENORT_BIN");
}

/** Runs deno in the repository. */
async function deno(
  args: readonly string[],
  env: Readonly<Record<string, string>> = Deno.env.toObject(),
): Promise<Outcome> {
  return await output(Deno.execPath(), args, { ...env, NO_COLOR: "1" });
}

async function output(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const process = new Deno.Command(command, {
    args: [...args],
    env,
    clearEnv: true,
    cwd: ROOT,
    stdin: "null",
  });
  const { success, stdout, stderr } = await process.output();
  const text = new TextDecoder();
  return { ok: success, output: text.decode(stdout) + text.decode(stderr) };
}

/** What is wrong with a binary for this machine, if anything is. */
async function tryOut(binary: string): Promise<string> {
  const { output: said } = await output(binary, ["--version"], Deno.env.toObject());
  if (said.trim() === `pinnace ${VERSION}`) return "";
  return `it does not start as pinnace: ${ownDenort()} is no denort ${Deno.version.deno}\n`;
}

/** Makes `dist/pinnace`; gives the exit code. */
async function main(options: readonly string[]): Promise<number> {
  const say = (text: string) => Deno.stderr.write(new TextEncoder().encode(text));
  const denort = ownDenort();
  if (denort !== undefined && !(await Deno.stat(denort).catch(() => undefined))?.isFile) {
    await say(explain("denort\n  it is not a file\n", denort)); // known before anything is made
    return 1;
  }
  const folder = new URL("dist/", ROOT).pathname;
  await Deno.mkdir(folder, { recursive: true });
  const [bundled, binary] = [`${folder}pinnace.js`, `${folder}pinnace`];
  for (
    const step of [() => bundle(bundled), () => compile(bundled, binary, { options })]
  ) {
    const { ok, output } = await step();
    if (ok) continue;
    await say(output);
    return 1;
  }
  if (options.some((option) => option.startsWith("--target"))) return 0;
  const megabytes = ((await Deno.stat(binary)).size / 1e6).toFixed(0);
  await say(`dist/pinnace: ${megabytes} MB, permissions: ${PERMISSIONS.join(" ")}\n`);
  await say(await tryOut(binary));
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
