/**
 * The peers that come with their language's own packages: a folder of `peers/` is copied beside the
 * built ones and made ready there by that language's own tools, which pin every version. A small
 * script under the peer's name starts it.
 *
 * @module
 */
import { BIN, binary } from "./binaries.ts";
import type { Peer } from "./peers.ts";

/** A program in a language with packages of its own. */
export interface InstalledPeer extends Peer {
  /** Its sources, relative to `tests/interop/`. */
  readonly folder: string;
  /** Says the tool's version; where it cannot be run, the peer cannot be made. */
  readonly tool: readonly string[];
  /** Where to get the tool. */
  readonly missing: string;
  /** What makes it ready, one after another, in the copy. */
  readonly steps: readonly (readonly string[])[];
  /** What starts it; `@/` at the start of a word stands for the copy. */
  readonly run: readonly string[];
}

/** Every peer that is installed. */
export const INSTALLS: readonly InstalledPeer[] = [
  {
    binary: "grpc-python",
    what: "gRPC client of Python (C-core)",
    folder: "peers/grpc-python",
    tool: ["python3", "--version"],
    missing: "Python 3 is not installed",
    steps: [
      ["python3", "-m", "venv", "venv"],
      [
        ...["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check"],
        ...["--only-binary=:all:", "--requirement=requirements.txt"],
      ],
    ],
    run: ["@/venv/bin/python", "@/client.py"],
  },
  {
    binary: "grpc-node",
    what: "gRPC client of Node.js (grpc-js-xds)",
    folder: "peers/grpc-node",
    tool: ["node", "--version"],
    missing: "Node.js is not installed",
    steps: [["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]],
    run: ["node", "@/client.cjs"],
  },
  {
    binary: "grpc-java",
    what: "gRPC client of Java (grpc-java)",
    folder: "peers/grpc-java",
    tool: ["mvn", "--version"],
    missing: "Maven, with a JDK of 17 or later, is not installed",
    steps: [[
      ...["mvn", "--batch-mode", "--quiet", "compile", "dependency:copy-dependencies"],
      ...["-DincludeScope=runtime", "-DoutputDirectory=lib"],
    ]],
    run: ["java", "-XX:TieredStopAtLevel=1", "-cp", "@/target/classes:@/lib/*", "interop.Client"],
  },
  {
    binary: "dubbo",
    what: "Dubbo 3.2.8, provider and consumer (75 MB of libraries)",
    folder: "peers/dubbo",
    tool: ["mvn", "--version"],
    missing: "Maven, with a JDK of 17 or later, is not installed",
    steps: [[
      ...["mvn", "--batch-mode", "--quiet", "compile", "dependency:copy-dependencies"],
      ...["-DincludeScope=runtime", "-DoutputDirectory=lib"],
    ]],
    run: ["java", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp", "@/target/classes:@/lib/*"],
  },
];

/** What the tool says of its version; undefined: there is none. */
export async function toolVersion(tool: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command(tool[0]!, { args: tool.slice(1) }).output();
    return success ? new TextDecoder().decode(stdout).trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Copies the peer's folder, makes it ready there and writes its script. Throws with what the tools say. */
export async function install(peer: InstalledPeer): Promise<void> {
  const copy = new URL(`${peer.binary}.d/`, BIN);
  await removeIfThere(copy);
  await copyFolder(new URL(`../${peer.folder}/`, import.meta.url), copy);
  for (const [command, ...args] of peer.steps) await step(copy, command!, args);
  const words = peer.run.map((word) => quoted(word.replaceAll("@/", copy.pathname)));
  const script = `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`;
  await Deno.writeTextFile(binary(peer.binary), script, { mode: 0o755 });
}

async function step(cwd: URL, command: string, args: readonly string[]): Promise<void> {
  // A path that is relative to the copy.
  const program = command.includes("/") ? new URL(command, cwd).pathname : command;
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (success) return;
  // Maven says on standard output what is wrong.
  const said = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  throw new Error(`${command} ${args.join(" ")}: ${said.trim().slice(-2000)}`);
}

async function copyFolder(from: URL, to: URL): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const entry of Deno.readDir(from)) {
    if (entry.isDirectory) {
      await copyFolder(new URL(`${entry.name}/`, from), new URL(`${entry.name}/`, to));
    } else if (entry.isFile) {
      await Deno.copyFile(new URL(entry.name, from), new URL(entry.name, to));
    }
  }
}

async function removeIfThere(folder: URL): Promise<void> {
  try {
    await Deno.remove(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** As the shell takes it for one word. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
