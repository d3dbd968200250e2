/**
 * Paths as configured → absolute ones.
 *
 * @module
 */
import { resolve } from "node:path";
import type { TlsFiles } from "../model/settings.ts";
import { type Environment, expand, processEnvironment } from "./expand.ts";

/** What is wrong with something that was to be expanded, and what would be right. */
export interface Unexpandable {
  readonly ok: false;
  readonly message: string;
  readonly hint: string;
}

/** What expansion starts from. */
export interface ExpandOptions {
  /** The folder of the configuration, absolute: relative paths start there. */
  readonly folder: string;
  /** Where `${NAME}` is looked up. Default: the environment of the process. */
  readonly environment?: Environment;
}

/** The absolute path behind a configured one. */
export function expandFile(
  path: string,
  { folder, environment = processEnvironment }: ExpandOptions,
): { readonly ok: true; readonly path: string } | Unexpandable {
  const expansion = expand(path, environment);
  if (!expansion.ok) return expansion;
  if (expansion.text !== "") return { ok: true, path: resolve(folder, expansion.text) };
  return {
    ok: false,
    message: `${path === "" ? "an empty text" : path} is no path: there is nothing in it`,
    hint: "give its variables a value, or write the path",
  };
}

/** The same files by absolute paths. */
export function expandTlsFiles(
  files: TlsFiles,
  options: ExpandOptions,
): { readonly ok: true; readonly files: TlsFiles } | Unexpandable {
  const { kind, ...paths } = files;
  const expanded: Record<string, string> = {};
  for (const [key, path] of Object.entries(paths)) {
    const file = expandFile(path, options);
    if (!file.ok) return file;
    expanded[key] = file.path;
  }
  return { ok: true, files: { kind, ...expanded } as TlsFiles };
}
