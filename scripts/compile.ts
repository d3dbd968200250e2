/**
 * Makes the binary: bundles the program into one module, so that only what is used goes in, and
 * compiles that with the least permissions. Usage: deno task compile [--target TRIPLE]
 *
 * Compiling needs `denort`, the runtime without the tools, which Deno fetches; where it cannot, the
 * environment variable DENORT_BIN names a local one of the same version.
 *
 * @module
 */

/** What the program may do: nothing is run, no native library is loaded. */
export const PERMISSIONS = [
  "--allow-net",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys=hostname",
] as const;

/** Where things are put, relative to the repository. */
export const OUTPUT = { bundle: "dist/pinnace.js", binary: "dist/pinnace" } as const;

const ROOT = new URL("../", import.meta.url);

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Runs deno in the repository. */
async function deno(...args: string[]): Promise<Outcome> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder();
  return { ok: success, output: text.decode(stdout) + text.decode(stderr) };
}

/** Bundles the program into {@link OUTPUT}.bundle. */
export async function bundle(): Promise<Outcome> {
  await Deno.mkdir(new URL("dist/", ROOT), { recursive: true });
  return await deno("bundle", "--output", OUTPUT.bundle, "main.ts");
}

/** Compiles the bundle into {@link OUTPUT}.binary. */
export function compile(...options: string[]): Promise<Outcome> {
  const out = ["--output", OUTPUT.binary];
  return deno(
    "compile",
    "--no-config",
    "--no-check",
    "--no-prompt",
    ...PERMISSIONS,
    ...options,
    ...out,
    OUTPUT.bundle,
  );
}

/** What a person is told of a failure: one line where it is the missing runtime. */
function explain(output: string): string {
  if (!/denort/i.test(output)) return output;
  return `denort ${Deno.version.deno} could not be fetched; set DENORT_BIN to a local denort of this ` +
    "very version and try again\n";
}

if (import.meta.main) {
  for (const step of [bundle, () => compile(...Deno.args)]) {
    const { ok, output } = await step();
    if (ok) continue;
    await Deno.stderr.write(new TextEncoder().encode(explain(output)));
    Deno.exit(1);
  }
  const { size } = await Deno.stat(new URL(OUTPUT.binary, ROOT));
  const text = `${OUTPUT.binary}: ${(size / 1e6).toFixed(0)} MB, allowed: ${
    PERMISSIONS.join(" ")
  }\n`;
  await Deno.stdout.write(new TextEncoder().encode(text));
}
