/**
 * Which files a configuration consists of.
 *
 * @module
 */
import { basename, dirname, isAbsolute, join, matchesGlob, relative, resolve } from "node:path";
import { type Path, type Problem, problem } from "./problem.ts";

/** One file of the configuration. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** Relative to the configuration's folder, with `/`; what a ServiceRecord calls `file`. */
  readonly name: string;
}

/** The files that `--config` stands for. */
export interface Root {
  /** Folder that relative paths start from. Absolute. */
  readonly folder: string;
  readonly files: readonly ConfigFile[];
  readonly watch: readonly string[];
}

/** What `include` came to. */
export interface Included {
  readonly files: readonly ConfigFile[];
  readonly watch: readonly string[];
  readonly problems: readonly Problem[];
  /** Whether a file that is not there now may only be out of reach, so that it is not gone. */
  readonly mayBeOutOfReach: (name: string) => boolean;
}

/** Files beyond this number are refused. */
export const MAX_FILES = 20_000;

const EXTENSION = /\.(?:ya?ml|json)$/i;
const MAGIC = /[*?[{]/;
/** Folders that `**` goes down at most. */
const MAX_DEPTH = 16;

/**
 * The files behind `--config`: the file itself, or a folder's *.yaml, *.yml and *.json.
 * @throws {RootError} where there is nothing to read.
 */
export function findRoot(config: string): Root {
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(config);
  } catch (error) {
    throw new RootError(`${config} ${reasonOf(error)}`, "check what --config names", {
      cause: error,
    });
  }
  if (!info.isDirectory) {
    const folder = dirname(config);
    return { folder, files: [{ path: config, name: basename(config) }], watch: [config] };
  }
  let names: string[];
  try {
    names = listFolder(config);
  } catch (error) {
    throw new RootError(`the folder ${config} ${reasonOf(error)}`, undefined, { cause: error });
  }
  if (names.length === 0) {
    throw new RootError(
      `the folder ${config} holds no configuration`,
      "put a *.yaml, *.yml or *.json file there",
    );
  }
  const files = names.map((name) => ({ path: join(config, name), name }));
  return { folder: config, files, watch: [config] };
}

/** There is no configuration at all. */
export class RootError extends Error {
  override readonly name = "RootError";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

/** The files behind `include`, each once, without those of the root; sorted by name. */
export function findIncluded(include: readonly string[], root: Root): Included {
  const found = new Map<string, ConfigFile>();
  const own = new Set(root.files.map(({ path }) => path));
  const watch: string[] = [];
  const problems: Problem[] = [];
  const unreachable: ((name: string) => boolean)[] = [];
  include.forEach((entry, index) => {
    const path = ["include", index];
    try {
      const expansion = expandEntry(resolve(root.folder, entry), entry, path);
      watch.push(...expansion.watch);
      problems.push(...expansion.problems);
      for (const file of expansion.files) {
        if (!own.has(file)) found.set(file, { path: file, name: nameIn(root.folder, file) });
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      watch.push(reachable(resolve(root.folder, entry)));
      unreachable.push(coverage(entry, root.folder));
      problems.push(problem("config/include", path, `${entry} ${reasonOf(error)}`));
    }
  });
  if (found.size > MAX_FILES) {
    const message = `\`include\` names ${found.size} files, more than ${MAX_FILES}`;
    problems.push(problem("config/include", ["include"], message));
    unreachable.push(() => true);
  }
  const files = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    files: files.slice(0, MAX_FILES),
    watch,
    problems,
    mayBeOutOfReach: (name) => unreachable.some((covers) => covers(name)),
  };
}

interface Expansion {
  readonly files: readonly string[];
  readonly watch: readonly string[];
  readonly problems: readonly Problem[];
}

/** One entry: a pattern, a folder or a file. Throws what the file system throws. */
function expandEntry(absolute: string, entry: string, path: Path): Expansion {
  if (MAGIC.test(entry)) {
    const { base, segments } = splitPattern(absolute);
    const files: string[] = [];
    const folders: string[] = [];
    walk(base, segments, 0, files, folders);
    return { files, watch: folders, problems: emptiness(files, entry, path) };
  }
  const info = Deno.statSync(absolute);
  if (!info.isDirectory) return { files: [absolute], watch: [absolute], problems: [] };
  const files = listFolder(absolute).map((name) => join(absolute, name));
  return { files, watch: [absolute], problems: emptiness(files, entry, path) };
}

function emptiness(files: readonly string[], entry: string, path: Path): Problem[] {
  if (files.length > 0) return [];
  return [{ ...problem("config/include", path, `${entry} holds no file`), severity: "warning" }];
}

/** Names of the configuration files in a folder; those that begin with a dot are not looked at. */
function listFolder(folder: string): string[] {
  const names: string[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    if (isConfigName(entry.name) && !isFolder(folder, entry)) names.push(entry.name);
  }
  return names.sort();
}

function isConfigName(name: string): boolean {
  return EXTENSION.test(name) && !name.startsWith(".");
}

/** The part of a pattern before its first wildcard, and the segments from there on. */
function splitPattern(pattern: string): { base: string; segments: string[] } {
  const segments = pattern.split(/[/\\]/);
  const first = segments.findIndex((segment) => MAGIC.test(segment));
  return { base: segments.slice(0, first).join("/") || "/", segments: segments.slice(first) };
}

function walk(
  folder: string,
  segments: readonly string[],
  depth: number,
  files: string[],
  folders: string[],
): void {
  folders.push(folder);
  const [segment, ...rest] = segments;
  if (segment === "**") {
    walkDeep(folder, rest, depth, files, folders);
    return;
  }
  for (const entry of Deno.readDirSync(folder)) {
    if (!matchesGlob(entry.name, segment!)) continue;
    const path = join(folder, entry.name);
    if (!isFolder(folder, entry)) {
      if (rest.length === 0 && isConfigName(entry.name)) files.push(path);
    } else if (rest.length > 0) walk(path, rest, depth + 1, files, folders);
  }
}

/** `**`: the rest of the pattern here and in every folder below. Links to folders are not followed, since they can form a circle. */
function walkDeep(
  folder: string,
  rest: readonly string[],
  depth: number,
  files: string[],
  folders: string[],
): void {
  walk(folder, rest.length === 0 ? ["*"] : rest, depth, files, folders);
  if (depth >= MAX_DEPTH) return;
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isDirectory && !entry.name.startsWith(".")) {
      walkDeep(join(folder, entry.name), rest, depth + 1, files, folders);
    }
  }
}

function isFolder(folder: string, entry: Deno.DirEntry): boolean {
  if (!entry.isSymlink) return entry.isDirectory;
  try {
    return Deno.statSync(join(folder, entry.name)).isDirectory;
  } catch {
    return false; // a link to nowhere: reading it will say so
  }
}

/** Whether a file of this name could have come from an entry that cannot be read now. */
function coverage(entry: string, folder: string): (name: string) => boolean {
  const absolute = resolve(folder, entry);
  const base = MAGIC.test(entry) ? splitPattern(absolute).base : absolute;
  return (name) => {
    const path = resolve(folder, name);
    return path === base || path.startsWith(base.endsWith("/") ? base : `${base}/`);
  };
}

/** The nearest folder above that exists: where something missing will appear. */
function reachable(path: string): string {
  for (let current = path;; current = dirname(current)) {
    try {
      Deno.statSync(current);
      return current;
    } catch {
      if (dirname(current) === current) return current;
    }
  }
}

function nameIn(folder: string, path: string): string {
  const name = relative(folder, path).replaceAll("\\", "/");
  return isAbsolute(name) ? path : name;
}

/** Why a file system call failed, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "is not there";
  if (error instanceof Deno.errors.NotADirectory) return "is not there";
  if (error instanceof Deno.errors.PermissionDenied) return "may not be read: permission denied";
  if (error instanceof Deno.errors.NotCapable) return "may not be read by this process";
  if (error instanceof Deno.errors.FilesystemLoop) return "is a link to itself";
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
