/**
 * Which folders must be watched so that a change of certain files and folders is noticed, whatever way
 * it comes: written in place, renamed over, deleted and made again, or by a link that points elsewhere.
 * A watch on a file itself dies with the file, so what is watched is always the folder around it.
 *
 * @module
 */
import { basename, dirname, join, resolve, sep } from "node:path";

/** What is of interest in one folder. */
interface Interest {
  readonly names: Set<string>;
  /** Whether the folder is itself part of the configuration, so that new files in it count. */
  whole: boolean;
}

/** Folders to watch, and what in them matters. */
export interface WatchTargets {
  readonly folders: readonly string[];
  /** Changes when a folder was replaced by another of the same name: watches on it are dead then. */
  readonly identity: string;
  /** Whether an event at this path can concern the configuration. */
  readonly concerns: (path: string) => boolean;
}

/** Links that are followed at most, as the system does. */
const MAX_LINKS = 40;

/** The targets for these files and folders, absolute, whether they exist or not. */
export async function findWatchTargets(paths: readonly string[]): Promise<WatchTargets> {
  const finder = new TargetFinder();
  for (const path of paths) await finder.add(path);
  return await finder.targets();
}

class TargetFinder {
  readonly #interests = new Map<string, Interest>();
  readonly #infos = new Map<string, Promise<Deno.FileInfo | undefined>>();

  /** Follows `path` from the root, part by part: every link on the way is something that can be changed. */
  async add(path: string, links = MAX_LINKS): Promise<void> {
    const parts = resolve(path).split(sep).filter((part) => part !== "");
    let folder = resolve(sep);
    for (const [index, part] of parts.entries()) {
      const current = join(folder, part);
      const info = await this.#info(current);
      const isLast = index === parts.length - 1;
      if (info === undefined || info.isSymlink || isLast) this.#interest(folder).names.add(part);
      if (info === undefined) return; // it will appear here
      if (info.isSymlink) {
        const target = resolve(folder, await readLink(current));
        if (links > 0) await this.add(join(target, ...parts.slice(index + 1)), links - 1);
        return;
      }
      if (isLast && info.isDirectory) this.#interest(current).whole = true;
      folder = current;
    }
  }

  async targets(): Promise<WatchTargets> {
    const interests = this.#interests;
    const folders = [...interests.keys()].sort();
    const infos = await Promise.all(folders.map((folder) => this.#info(folder)));
    const names = new Set([...interests.values()].flatMap((interest) => [...interest.names]));
    return {
      folders: folders.filter((_, index) => infos[index] !== undefined),
      identity: JSON.stringify(
        folders.map((folder, index) => [folder, infos[index]?.dev, infos[index]?.ino]),
      ),
      concerns: (path) => {
        const name = basename(path);
        // Some systems report a folder under another of its names: then the file's name has to do.
        if (names.has(name) || interests.has(path)) return true;
        if (name.startsWith("..")) return true; // how Kubernetes swaps what it mounts
        const interest = interests.get(dirname(path));
        return interest !== undefined && interest.whole && mayMatter(name);
      },
    };
  }

  #interest(folder: string): Interest {
    let interest = this.#interests.get(folder);
    if (interest === undefined) {
      interest = { names: new Set(), whole: false };
      this.#interests.set(folder, interest);
    }
    return interest;
  }

  #info(path: string): Promise<Deno.FileInfo | undefined> {
    let info = this.#infos.get(path);
    if (info === undefined) {
      info = Deno.lstat(path).catch(() => undefined);
      this.#infos.set(path, info);
    }
    return info;
  }
}

async function readLink(path: string): Promise<string> {
  try {
    return await Deno.readLink(path);
  } catch {
    return basename(path); // no link any more: as good as itself
  }
}

/** A configuration file, or a folder that a pattern may go down to; not what editors leave beside them. */
function mayMatter(name: string): boolean {
  return !name.startsWith(".") && (/\.(?:ya?ml|json)$/i.test(name) || !name.includes("."));
}
