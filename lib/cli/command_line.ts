/**
 * The command line: which command with which options. Each command has a file of its own and is
 * loaded only when it is called.
 *
 * @module
 */
import { Command, CommanderError, Option } from "commander";
import { nearest } from "../config/nearest.ts";
import { EXIT } from "./exit.ts";
import { optionName } from "./option_name.ts";
import { addProbeOptions, type ProbeFlags } from "./probe_flags.ts";
import { addRenderOptions, type RenderFlags, renderWith } from "./render_flags.ts";
import { VERSION } from "./version.ts";

/** What every command gets from the entry. */
export interface CommandContext {
  /** The module to start as the loading worker; it is the program itself. */
  readonly workerUrl: string;
}

/** Every option of any command, as the library gives them. */
interface Options {
  readonly config?: string;
  readonly store?: string;
  readonly admin?: string;
  readonly tokenFile?: string;
  readonly format?: string;
  readonly watch?: boolean;
  readonly verbose?: boolean;
}

/** What has to be said for a command to know what it is about. */
type Needs = "config" | "config or admin";

/** Runs one command with its options; gives the exit code. */
type Action = (options: Options & { readonly config: string }, names: string[]) => Promise<number>;

/** As {@link Action}, of a command that asks a running Pinnace. */
type AskingAction = (options: Options, names: string[]) => Promise<number>;

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
      name === undefined
        ? act(program, run as AskingAction, options, [], { exit, needs: "config" })
        : unknownCommand(program, name),
  );
  offer(program.command("run"), run, exit).addOption(STORE)
    .description("serve the services of a configuration (what pinnace does without a command)");
  offer(
    program.command("validate"),
    async (options) => await (await import("./validate.ts")).validate(options),
    exit,
  ).description("check a configuration and print what is wrong with it");
  addRenderCommand(program, exit);
  addStatusCommand(program, exit);
  addProbeCommand(program, exit);
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

const TOKEN_FILE = new Option(
  "--token-file <file>",
  "the admin token, where reading needs one (default: that in the store)",
);

function addRenderCommand(program: Command, exit: (code: number) => void): void {
  const command = addRenderOptions(program.command("render"));
  const action: Action = async (options, names) => {
    const done = await renderWith(options as RenderFlags, names);
    return typeof done === "number" ? done : command.error(`error: ${done}`);
  };
  offer(command, action, exit);
}

function addStatusCommand(program: Command, exit: (code: number) => void): void {
  ask(
    program.command("status"),
    async (options) => {
      const { format = "text", watch = false, verbose = false, ...where } = options;
      const { status } = await import("./status.ts");
      return await status({ ...where, format: format as "text" | "json", watch, verbose });
    },
    exit,
  ).addOption(new Option("--format <format>", "text or json").choices(["text", "json"]))
    .option("-w, --watch", "show it again as it changes, until Ctrl-C")
    .option("-V, --verbose", "a line for each subscription of a peer")
    .description("show the peers, sinks and sources of a running Pinnace");
}

function addSnapshotCommands(program: Command, exit: (code: number) => void): void {
  const snapshots = program.command("snapshots").helpCommand(false)
    .description("look at the stored snapshots; confirm one that the guard holds back");
  ask(
    snapshots.command("list"),
    async (options) => await (await import("./snapshots.ts")).listSnapshots(options),
    exit,
  ).description("list the snapshots that a running Pinnace has stored, newest first");
  ask(
    snapshots.command("confirm").argument("<id>", "its id, as logged and as shown in the status"),
    async (options, [id]) =>
      await (await import("./snapshots.ts")).confirmSnapshot({ ...options, id: id! }),
    exit,
  ).description("publish the snapshot that the guard holds back");
}

function addProbeCommand(program: Command, exit: (code: number) => void): void {
  const command = addProbeOptions(program.command("probe"));
  command.action(async (address: string, given: ProbeFlags) => {
    const { readProbeOptions } = await import("./probe_options.ts");
    const options = readProbeOptions(address, given);
    if (typeof options === "string") return command.error(`error: ${options}`);
    exit(await (await import("./probe.ts")).probe(options));
  });
}

/** Gives a command its `--config` and what it does. */
function offer(command: Command, action: Action, exit: (code: number) => void): Command {
  return withAction(withConfig(command), action as AskingAction, { exit, needs: "config" });
}

/** Gives a command what it takes to find a running Pinnace, and what it does. */
function ask(command: Command, action: AskingAction, exit: (code: number) => void): Command {
  return withAction(withConfig(command), action, { exit, needs: "config or admin" })
    .addOption(ADMIN).addOption(STORE).addOption(TOKEN_FILE);
}

interface ActOptions {
  readonly exit: (code: number) => void;
  readonly needs: Needs;
}

function withAction(command: Command, action: AskingAction, options: ActOptions): Command {
  return command.action((...args: unknown[]) => {
    const names = (args.slice(0, -2) as (string | string[])[]).flat();
    return act(command, action, command.opts<Options>(), names, options);
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
  action: AskingAction,
  options: Options,
  names: string[],
  { exit, needs }: ActOptions,
): Promise<void> {
  // Checked here and not by the library, which would rather miss an option than see one misspelt.
  if (options.config === undefined && needs === "config") {
    return command.error("error: name a configuration: --config services.yaml");
  }
  if (options.config === undefined && options.admin === undefined) {
    return command.error(
      "error: name the running Pinnace: --admin host:port, or --config services.yaml",
    );
  }
  for (const [name, value] of Object.entries(options)) {
    // As a shell writes a variable that is not set; it would mean the folder one happens to be in.
    if (value === "") return command.error(`error: --${optionName(name)} is empty`);
  }
  exit(await action(options, names));
}

function unknownCommand(program: Command, name: string): never {
  const near = nearest(name, program.commands.map((command) => command.name()));
  const hint = near === undefined ? "" : `\n(Did you mean ${near}?)`;
  return program.error(`error: unknown command '${name}'${hint}`);
}
