/**
 * The command line: which command with which options. Each command has a file of its own and is
 * loaded only when it is called.
 *
 * @module
 */
import { Command, CommanderError, Option } from "commander";
import { nearest } from "../config/nearest.ts";
import { EXIT } from "./exit.ts";
import { VERSION } from "./version.ts";

/** What every command gets from the entry. */
export interface CommandContext {
  /** The module to start as the loading worker; it is the program itself. */
  readonly workerUrl: string;
}

interface Options {
  readonly config: string;
  readonly store?: string;
  readonly admin?: string;
}

/** Runs one command with its options; gives the exit code. */
type Action = (options: Options, names: string[]) => Promise<number>;

/** Runs the command that `args` names and gives the exit code. Writes to standard output and error. */
export async function runCommandLine(
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  let code: number = EXIT.ok;
  const program = buildProgram(context, (value) => code = value);
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

function buildProgram(context: CommandContext, exit: (code: number) => void): Command {
  const run: Action = async (options) =>
    await (await import("./run.ts")).run({ ...options, ...context });
  const program = new Command("pinnace")
    .description("Keeps every mesh informed of the services that you write down in one file.")
    .version(`pinnace ${VERSION}`, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .usage("--config <file|dir> [options]\n       pinnace <command> [options]")
    .enablePositionalOptions()
    .exitOverride();
  program.configureOutput({
    outputError: (text, write) => write(`${text.trimEnd()}\n${SEE_HELP}`),
  });
  withConfig(program).addOption(STORE).argument("[command]").action(
    (name: string | undefined, options: Partial<Options>) =>
      name === undefined ? act(program, run, options, [], exit) : unknownCommand(program, name),
  );
  offer(program.command("run"), run, exit).addOption(STORE)
    .description("serve the services of a configuration (what pinnace does without a command)");
  offer(
    program.command("validate"),
    async (options) => await (await import("./validate.ts")).validate(options),
    exit,
  ).description("check a configuration and print what is wrong with it");
  offer(
    program.command("render").argument("[name...]", "only these, each as namespace/name"),
    async (options, names) => await (await import("./render.ts")).render({ ...options, names }),
    exit,
  ).description("print the resources that sinks get, as YAML");
  addSnapshotCommands(program, exit);
  return program;
}

const SEE_HELP = "(pinnace --help lists commands and options)\n";

const STORE = new Option(
  "--store <dir>",
  "where snapshots are kept (default: data/ beside the configuration)",
);

const ADMIN = new Option(
  "--admin <host:port>",
  "the running Pinnace (default: `admin` of the configuration)",
);

function addSnapshotCommands(program: Command, exit: (code: number) => void): void {
  const snapshots = program.command("snapshots").helpCommand(false)
    .description("look at the stored snapshots; confirm one that the guard holds back");
  offer(
    snapshots.command("list"),
    async (options) => await (await import("./snapshots.ts")).listSnapshots(options),
    exit,
  ).addOption(STORE).addOption(ADMIN)
    .description("list the snapshots that a running Pinnace has stored, newest first");
  offer(
    snapshots.command("confirm").argument("<id>", "its id, as logged and as shown in the status"),
    async (options, [id]) =>
      await (await import("./snapshots.ts")).confirmSnapshot({ ...options, id: id! }),
    exit,
  ).addOption(STORE).addOption(ADMIN)
    .description("publish the snapshot that the guard holds back");
}

/** Gives a command its `--config` and what it does. */
function offer(command: Command, action: Action, exit: (code: number) => void): Command {
  return withConfig(command).action((...args: unknown[]) => {
    const names = (args.slice(0, -2) as (string | string[])[]).flat();
    return act(command, action, command.opts<Partial<Options>>(), names, exit);
  });
}

function withConfig(command: Command): Command {
  return command.option(
    "-c, --config <file|dir>",
    "the configuration: a file, or a folder of files",
  );
}

async function act(
  command: Command,
  action: Action,
  options: Partial<Options>,
  names: string[],
  exit: (code: number) => void,
): Promise<void> {
  const { config } = options;
  // Checked here and not by the library, which would rather miss an option than see one misspelt.
  if (config === undefined) {
    return command.error("error: name a configuration: --config services.yaml");
  }
  for (const [name, value] of Object.entries(options)) {
    // As a shell writes a variable that is not set; it would mean the folder one happens to be in.
    if (value === "") return command.error(`error: --${name} is empty`);
  }
  exit(await action({ ...options, config }, names));
}

function unknownCommand(program: Command, name: string): never {
  const near = nearest(name, program.commands.map((command) => command.name()));
  const hint = near === undefined ? "" : `\n(Did you mean ${near}?)`;
  return program.error(`error: unknown command '${name}'${hint}`);
}
