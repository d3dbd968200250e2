/**
 * The first tour of the README, read as a test runs it.
 *
 * What is between its headings is run in order. Of a command only this is replaced: the launcher
 * (`npx -y deno@… task pinnace`), by the running Deno with the permissions that the task gives; and
 * ports, each by a free one. `pinnace.example`, the receiver to an istiod elsewhere, is this machine.
 *
 * @module
 */
import { runArguments } from "./pinnace.ts";
import { freePorts } from "./ports.ts";

/** A code block of the tour. */
export type Block = Commands | Settings | Shown;

/** What is typed in one terminal (`sh`). */
export interface Commands {
  readonly kind: "commands";
  readonly terminal: number;
  /** Whether Ctrl-C comes first. */
  readonly stops: boolean;
  /** Whether the last command is one that goes on until it is stopped. */
  readonly serves: boolean;
  /** What comes before the last command. */
  readonly before: string;
  /** The last command; empty where there is none. */
  readonly last: string;
}

/** Settings of a mesh (`yaml`). */
export interface Settings {
  readonly kind: "settings";
  readonly text: string;
}

/** What the commands before print (`text`). `…` as a line: any lines; at the end of one: any text. */
export interface Shown {
  readonly kind: "shown";
  readonly lines: readonly string[];
}

const LAUNCHER = /^npx -y deno@\S+ task pinnace\b/;
const HEADING = /^# terminal (\d)(?:: (.*))?$/;
const CTRL_C = "press Ctrl-C";

/** The blocks of the tour, in order. Throws where a block is of a form that this does not know. */
export async function readTour(): Promise<readonly Block[]> {
  const readme = await Deno.readTextFile(new URL("../../../README.md", import.meta.url));
  const section = /^## A first tour$(.*?)^## /ms.exec(readme)?.[1];
  if (section === undefined) throw new Error("the README has no first tour");
  const text = withFreePorts(section).replaceAll("pinnace.example", "127.0.0.1");
  const launcher = [Deno.execPath(), ...await runArguments()].join(" ");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, body]) => {
    const lines = body!.trimEnd().split("\n");
    switch (language) {
      case "sh":
        return commandsOf(lines, launcher);
      case "yaml":
        return { kind: "settings", text: body! };
      case "text":
        return { kind: "shown", lines };
      default:
        throw new Error(`the tour has a block of ${language}: sh, yaml and text are known`);
    }
  });
}

function commandsOf(lines: readonly string[], launcher: string): Commands {
  const [, terminal, word] = HEADING.exec(lines[0]!) ?? [];
  if (terminal === undefined) throw new Error(`no terminal is named: ${lines[0]}`);
  const written = lines.slice(1);
  const serves = /^npx\b.* task pinnace --config \S+$/.test(written.at(-1) ?? "");
  const typed = written.map((line) => line.replace(LAUNCHER, launcher));
  if (typed.some((line) => line.startsWith("npx"))) throw new Error(`unknown launcher: ${lines}`);
  const from = lastCommand(typed);
  return {
    kind: "commands",
    terminal: Number(terminal),
    stops: word === CTRL_C,
    serves,
    before: typed.slice(0, from).join("\n"),
    last: typed.slice(from).join("\n"),
  };
}

/** Index of the line where the last command begins; one with a here-document has several lines. */
function lastCommand(lines: readonly string[]): number {
  if (lines.at(-1) !== "END") return Math.max(0, lines.length - 1);
  return lines.findLastIndex((line) => line.endsWith("<<'END'"));
}

/** The ports of addresses that are given, each replaced by the same free one throughout. */
function withFreePorts(text: string): string {
  const address = /((?:127\.0\.0\.1|pinnace\.example):)(\d+)/g;
  const named = [...new Set([...text.matchAll(address)].map(([, , port]) => port!))];
  const free = freePorts(named.length);
  return text.replace(address, (_, host, port) => `${host}${free[named.indexOf(port)]}`);
}
