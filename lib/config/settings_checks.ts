/**
 * Checks that several settings share: variables that are set, addresses that are addresses, plaintext
 * that is meant.
 *
 * @module
 */
import { isLoopback } from "../model/loopback.ts";
import type { TlsFiles } from "../model/settings.ts";
import { DEFAULTS } from "./defaults.ts";
import { type Environment, expand } from "./expand.ts";
import { expandAddress } from "./expand_address.ts";
import { type Path, type Problem, problem } from "./problem.ts";

/** Files of a TLS identity as written: a folder, or each by its own path. */
export type TlsFilesInput = string | {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
};

/** The same problem, but nothing that keeps a file from being used. */
export function warning(rule: string, path: Path, message: string, hint?: string): Problem {
  return { ...problem(rule, path, message, hint), severity: "warning" };
}

/** A wave is kept for a later version; who asks for a later one than the first is told. */
export function checkWave(wave: number | undefined, path: Path): Problem[] {
  if (wave === undefined || wave === DEFAULTS.wave) return [];
  const message = "`wave` has no effect in this version, which pushes to all at once";
  return [warning("config/no-effect", path, message)];
}

/** What is wrong with an address: of a listener, whose port may be 0, or of someone to dial. */
export function checkAddress(
  address: string,
  path: Path,
  environment: Environment,
  { anyPort }: { readonly anyPort: boolean },
): Problem[] {
  const expanded = expandAddress(address, environment);
  if (!expanded.ok) {
    const rule = expanded.reason === "variable" ? "config/environment" : "config/value";
    return [problem(rule, path, expanded.message, expanded.hint)];
  }
  if (expanded.port === 0 && !anyPort) {
    return [problem("config/value", path, `${address} has no port that can be dialled`)];
  }
  return [];
}

/** What is wrong with the path of a file or folder, before anybody looks for it. */
export function checkPath(text: string, path: Path, environment: Environment): Problem[] {
  const expansion = expand(text, environment);
  if (!expansion.ok) {
    return [problem("config/environment", path, expansion.message, expansion.hint)];
  }
  if (expansion.text !== "") return [];
  const message = `${text} is empty, so it is no path`;
  return [problem("config/value", path, message, "give its variables a value, or write the path")];
}

/** What is wrong with the paths of a TLS identity. */
export function checkTlsFiles(
  input: TlsFilesInput,
  path: Path,
  environment: Environment,
): Problem[] {
  if (typeof input === "string") return checkPath(input, path, environment);
  return (["cert", "key", "ca"] as const).flatMap((key) => {
    const file = input[key];
    return file === undefined ? [] : checkPath(file, [...path, key], environment);
  });
}

/** The files of a TLS identity, normalised. */
export function normaliseTlsFiles(input: TlsFilesInput): TlsFiles {
  if (typeof input === "string") return { kind: "folder", folder: input };
  const { cert, key, ca } = input;
  return {
    kind: "files",
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Whether it is known that what is sent to this address, or taken there, leaves the machine. */
export function isOffLoopback(address: string, environment: Environment): boolean {
  const expanded = expandAddress(address, environment);
  return expanded.ok && !isLoopback(expanded.host);
}

/** The address of an item that may be written as a text. */
export function addressOf(input: string | { readonly address: string }): string {
  return typeof input === "string" ? input : input.address;
}

/** Where the address of such an item stands, the item being at `path`. */
export function addressPath(input: string | { readonly address: string }, path: Path): Path {
  return typeof input === "string" ? path : [...path, "address"];
}
