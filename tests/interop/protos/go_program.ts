/**
 * Builds and runs the Go programs of this folder.
 *
 * @module
 */

/** A Go program, built. Its binary is removed when it is disposed. */
export class GoProgram implements AsyncDisposable {
  private constructor(readonly path: string, readonly folder: string) {}

  /** Builds the module in a folder beside this file. Throws an Error with what the compiler said. */
  static async build(module: string): Promise<GoProgram> {
    const folder = await Deno.makeTempDir();
    const program = new GoProgram(`${folder}/${module}`, folder);
    const { success, stderr } = await new Deno.Command("go", {
      args: ["build", "-o", program.path, "."],
      cwd: new URL(module, import.meta.url).pathname,
      env: { GOFLAGS: "-buildvcs=false -mod=mod" },
    }).output();
    if (success) return program;
    await program[Symbol.asyncDispose]();
    throw new Error(`go build in ${module} failed:\n${new TextDecoder().decode(stderr)}`);
  }

  /** What the program writes, given these arguments and this input. Throws an Error with what it complained of. */
  async run(args: readonly string[], input = ""): Promise<string> {
    const child = new Deno.Command(this.path, {
      args: [...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writing = new Response(input).body?.pipeTo(child.stdin) ?? child.stdin.close();
    const [{ success, stdout, stderr }] = await Promise.all([child.output(), writing]);
    const decoder = new TextDecoder();
    if (!success) throw new Error(`${args[0]} failed: ${decoder.decode(stderr)}`);
    return decoder.decode(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Whether tests that need Go must be skipped: it is not there, and this is not CI, where it has to be. */
export async function withoutGo(): Promise<boolean> {
  try {
    await new Deno.Command("go", { args: ["version"] }).output();
    return false;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const message = "the wire types are not compared with Istio's and Envoy's: no `go` on the PATH";
  if ((Deno.env.get("CI") ?? "") !== "") throw new Error(message);
  // deno-lint-ignore no-console
  console.warn(`skipped: ${message}`);
  return true;
}
