/**
 * One process a store. The lock is the kernel's (an exclusive advisory lock on `<store>/lock`), so it
 * goes when its process goes, kill -9 included, and no process id that came into use again can be
 * taken for the owner. What the file says of its owner is only for people.
 *
 * @module
 */
import { join } from "node:path";
import { StoreError } from "./store.ts";

/** Who holds a store. */
export interface StoreOwner {
  readonly pid: number;
  readonly host: string;
  /** When it took the store. ISO 8601. */
  readonly started: string;
}

/** A store that is held. Disposing it lets go. */
export interface StoreLock extends AsyncDisposable {
  /** Why a second process would not be stopped: the file system has no locks. */
  readonly unenforced: string | undefined;
  /** The owner before, where it ended without letting go (killed, crashed). */
  readonly abandonedBy: StoreOwner | undefined;
}

/** Another process holds the store. */
export class StoreLockedError extends StoreError {
  override readonly name = "StoreLockedError";

  /** `owner` is undefined where the file does not (yet) say who it is. */
  constructor(readonly folder: string, readonly owner: StoreOwner | undefined) {
    const who = owner === undefined
      ? "another process"
      : `process ${owner.pid} on ${owner.host} (since ${owner.started})`;
    super(`the store ${folder} is in use by ${who}; stop it, or choose another with --store`);
  }
}

/**
 * Takes the store in `folder`, which must exist. Never waits.
 * Throws {@link StoreLockedError} if another has it, and the file system's error where the lock's file
 * cannot be opened for writing.
 */
export async function lockStore(folder: string, owner: StoreOwner): Promise<StoreLock> {
  const path = join(folder, "lock");
  const options = { read: true, write: true, create: true, mode: 0o600 };
  const file = await Deno.open(path, options);
  try {
    const taken = await tryLock(file);
    if (taken === false) throw new StoreLockedError(folder, await readOwner(file));
    const abandonedBy = await readOwner(file);
    await writeOwner(file, owner);
    return {
      unenforced: taken === true ? undefined : taken,
      abandonedBy,
      // The file stays: removed, two processes could each lock a file of that name.
      async [Symbol.asyncDispose]() {
        try {
          await file.truncate(0);
        } finally {
          file.close();
        }
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Whether the lock was free; text: why there are no locks. */
async function tryLock(file: Deno.FsFile): Promise<boolean | string> {
  try {
    return await file.tryLock(true);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Longest owner that is read. Bytes. */
const MAX_OWNER = 1024;

async function readOwner(file: Deno.FsFile): Promise<StoreOwner | undefined> {
  const bytes = new Uint8Array(MAX_OWNER);
  await file.seek(0, Deno.SeekMode.Start);
  const length = await file.read(bytes) ?? 0;
  try {
    const { pid, host, started } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, length)));
    return { pid: Number(pid), host: String(host), started: String(started) };
  } catch {
    return undefined; // empty, or half written
  }
}

async function writeOwner(file: Deno.FsFile, owner: StoreOwner): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(owner) + "\n");
  try {
    await file.truncate(0);
    await file.seek(0, Deno.SeekMode.Start);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  } catch {
    // A full disk must not keep the last published snapshot from being served: the lock is held.
  }
}
