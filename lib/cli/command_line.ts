/**
 * The command line: which command with which options. Each command has a file of its own and is
 * loaded only when it is called.
 *
 * @module
 */
import { Command, CommanderError, Option } from "commander";
import { VERSION } from "./version.ts";

/** Exit codes: fine; findings or failure; the command line itself is wrong. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** What every command gets from the entry. */
export interface CommandContext {
  /** The module to start as the loading worker; it is the program itself. */
  readonly workerUrl: string;
}

interface ConfigOptions {
  readonly config: string;
  readonly store?: string;
}

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
  const program = new Command("pinnace")
    .description("Keeps every mesh informed of the services that you write down in one file.")
    .version(`pinnace ${VERSION}`, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showHelpAfterError("(pinnace --help lists commands and options)")
    .exitOverride();

  withConfig(program.command("run", { isDefault: true }))
    .description("serve the services of a configuration (the default command)")
    .addOption(storeOption())
    .action(async (options: ConfigOptions) => {
      const { run } = await import("./run.ts");
      exit(await run({ ...options, ...context }));
    });

  withConfig(program.command("validate"))
    .description("check a configuration and print what is wrong with it")
    .action(async (options: ConfigOptions) => {
      const { validate } = await import("./validate.ts");
      exit(await validate(options));
    });

  withConfig(program.command("render"))
    .description("print the resources that sinks get, as YAML")
    .argument("[name...]", "only these, each as namespace/name")
    .action(async (names: string[], options: ConfigOptions) => {
      const { render } = await import("./render.ts");
      exit(await render({ ...options, names }));
    });

  addSnapshotCommands(program, exit);
  return program;
}

function addSnapshotCommands(program: Command, exit: (code: number) => void): void {
  const snapshots = program.command("snapshots")
    .description("look at the stored snapshots; confirm one that the guard holds back");
  withConfig(snapshots.command("list"))
    .description("list the stored snapshots, newest first")
    .addOption(storeOption())
    .action(async (options: ConfigOptions) => {
      const { listSnapshots } = await import("./snapshots.ts");
      exit(await listSnapshots(options));
    });
  withConfig(snapshots.command("confirm"))
    .description("publish the snapshot that the guard holds back")
    .argument("<id>", "its id, as logged and as shown in the status")
    .addOption(storeOption())
    .addOption(new Option("--admin <host:port>", "the running Pinnace; default: from the config"))
    .action(async (id: string, options: ConfigOptions & { admin?: string }) => {
      const { confirmSnapshot } = await import("./snapshots.ts");
      exit(await confirmSnapshot({ ...options, id }));
    });
}

function withConfig(command: Command): Command {
  return command.requiredOption("-c, --config <file|dir>", "the configuration, a file or a folder");
}

function storeOption(): Option {
  return new Option("--store <dir>", "where snapshots are kept (default: data/ beside the config)");
}
