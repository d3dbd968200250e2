/**
 * The few file operations that the store needs, so that a test can put a full, a failing, a slow or
 * a forgetful disk in the place of the real one. Errors are those of the file system, unchanged.
 *
 * @module
 */
import { dirname } from "node:path";

/** A file being written, from where it was opened to its end. Disposing it closes it. */
export interface NewFile extends AsyncDisposable {
  /** Appends all of `bytes`. */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything written is on the disk (fsync). */
  sync(): Promise<void>;
}

/** File operations, each of them one step that a crash can come before or after. */
export interface FileLayer {
  /** Makes a folder whose parent exists; false if there is one already. */
  makeFolder(path: string): Promise<boolean>;
  /** Makes a file that must not exist yet, for writing. Readable by its owner only. */
  create(path: string): Promise<NewFile>;
  /** Opens a file that is there, for writing at its end. */
  append(path: string): Promise<NewFile>;
  /** The content of a file, or its first `limit` bytes. */
  read(path: string, limit?: number): Promise<Uint8Array>;
  /** Length of a file. Bytes. */
  size(path: string): Promise<number>;
  /** Gives a file another name in the same folder, in place of what had that name. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Names of the files (not folders) in a folder, in any order. */
  list(folder: string): Promise<string[]>;
  /** Resolves when the folder's entries, as they now are, are on the disk (fsync of the folder). */
  syncFolder(folder: string): Promise<void>;
}

/** The real disk. */
export const disk: FileLayer = {
  async makeFolder(path) {
    try {
      await Deno.mkdir(path, { mode: 0o700 });
      return true;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      if ((await Deno.stat(path)).isDirectory) return false;
      throw new Deno.errors.NotADirectory(`${path} is there, but is not a folder`);
    }
  },

  async create(path) {
    return new DiskFile(await Deno.open(path, { write: true, createNew: true, mode: 0o600 }));
  },

  async append(path) {
    return new DiskFile(await Deno.open(path, { append: true }));
  },

  async read(path, limit) {
    if (limit === undefined) return await Deno.readFile(path);
    using file = await Deno.open(path, { read: true });
    const bytes = new Uint8Array(limit);
    let length = 0;
    while (length < limit) {
      const count = await file.read(bytes.subarray(length));
      if (count === null) break;
      length += count;
    }
    return bytes.subarray(0, length);
  },

  async size(path) {
    return (await Deno.stat(path)).size;
  },

  rename: (from, to) => Deno.rename(from, to),

  remove: (path) => Deno.remove(path),

  async list(folder) {
    const names: string[] = [];
    for await (const entry of Deno.readDir(folder)) if (entry.isFile) names.push(entry.name);
    return names;
  },

  async syncFolder(folder) {
    // Windows opens no folder as a file; NTFS journals its entries itself.
    if (Deno.build.os === "windows") return;
    using file = await Deno.open(folder, { read: true });
    try {
      await file.sync();
    } catch (error) {
      // A file system that has no such operation (some network and FUSE ones) has nothing to flush.
      if (!isUnsupported(error)) throw error;
    }
  },
};

/**
 * Makes a folder and those above it, and flushes each one's entry in the one above, so that what is
 * later flushed inside can be found. Throws the file system's error.
 */
export async function makeFolders(folder: string, files: FileLayer): Promise<void> {
  const made = await makeMissing(folder, files);
  for (let path = folder; dirname(path) !== path; path = dirname(path)) {
    try {
      // Also what was there before: who made it may have been killed before this.
      await files.syncFolder(dirname(path));
    } catch (error) {
      if (made.includes(path)) throw error;
    }
  }
}

/** Makes a folder and those above it; gives back those that were not there. */
async function makeMissing(folder: string, files: FileLayer): Promise<string[]> {
  try {
    return await files.makeFolder(folder) ? [folder] : [];
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(folder) === folder) throw error;
    const above = await makeMissing(dirname(folder), files);
    return await files.makeFolder(folder) ? [...above, folder] : above;
  }
}

class DiskFile implements NewFile {
  readonly #file: Deno.FsFile;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#file.close();
    return Promise.resolve();
  }
}

function isUnsupported(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return error instanceof Deno.errors.NotSupported || code === "EINVAL" || code === "ENOTSUP" ||
    code === "EOPNOTSUPP";
}
