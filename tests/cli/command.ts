/**
 * The program as a command, in a process of its own.
 *
 * @module
 */
const ROOT = new URL("../../", import.meta.url);

/** What came of a command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `pinnace ARGS…` with the permissions that it has in use. */
export async function pinnace(...args: string[]): Promise<CommandResult> {
  const { code, stdout, stderr } = await (await command(args, "piped")).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** `pinnace ARGS…` under way, with a pipe for its standard output. It is to be waited for. */
export async function startPinnace(...args: string[]): Promise<Deno.ChildProcess> {
  return (await command(args, "null")).spawn();
}

async function command(
  args: readonly string[],
  stderr: "piped" | "null",
): Promise<Deno.Command> {
  const task = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT))).tasks.pinnace;
  const words = String(task).split(" ").slice(1);
  return new Deno.Command(Deno.execPath(), {
    args: [...words, ...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr,
  });
}

/** A temporary folder with these files; it goes when disposed. */
export async function folder(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "pinnace-cli-" });
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
