import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openStore, type OpenStoreOptions } from "../../lib/snapshot/open_store.ts";
import { type lockStore, StoreLockedError } from "../../lib/snapshot/store_lock.ts";
import { SimulatedDisk } from "./simulated_disk.ts";
import { snapshotOf } from "./snapshots.ts";

const { signal } = new AbortController();
const FOLDER = "/var/store";
const OWNER = { pid: 4711, host: "edge-1", started: "2026-01-02T03:04:05.000Z" };

/** A lock that counts who has it. */
class Lock {
  held = 0;
  readonly take: typeof lockStore = () => {
    this.held++;
    return Promise.resolve({
      abandonedBy: undefined,
      unenforced: undefined,
      [Symbol.asyncDispose]: () => {
        this.held--;
        return Promise.resolve();
      },
    });
  };
}

function options(files: SimulatedDisk, lock = new Lock()): OpenStoreOptions {
  return { files, lock: lock.take, owner: OWNER, now: () => 0 };
}

async function withOneSnapshot(): Promise<SimulatedDisk> {
  const files = new SimulatedDisk();
  await using opened = await openStore(FOLDER, options(files));
  await opened.store.save(snapshotOf({ "a/b": "saved" }), { signal });
  return files;
}

Deno.test("open store: a folder that can be written is locked and kept", async () => {
  const lock = new Lock();
  const files = await withOneSnapshot();
  {
    await using opened = await openStore(FOLDER, options(files, lock));
    assertEquals([lock.held, opened.store.durable], [1, true]);
    assertEquals(opened.store.place, FOLDER);
    assertEquals((await opened.store.load())?.snapshot.id, snapshotOf({ "a/b": "saved" }).id);
    assertEquals(opened.store.findings(), []);
  }
  assertEquals(lock.held, 0);
});

Deno.test("open store: a store that another process has is an error, never a store in memory", async () => {
  const files = await withOneSnapshot();
  const lock = () => Promise.reject(new StoreLockedError(FOLDER, OWNER));
  await assertRejects(() => openStore(FOLDER, { ...options(files), lock }), StoreLockedError);
});

Deno.test("open store: a folder that can only be read serves what it holds from memory, and says so", async () => {
  const files = await withOneSnapshot();
  files.fault = (operation) => {
    if (["create", "rename", "remove"].includes(operation)) {
      throw new Error("Read-only file system (os error 30)");
    }
  };
  const lock = () => Promise.reject(new Error("Read-only file system (os error 30)"));
  const told: string[] = [];
  await using opened = await openStore(FOLDER, {
    ...options(files),
    lock,
    onFinding: (finding) => told.push(finding.message),
  });
  const { store } = opened;
  assertEquals(store.durable, false);
  assertEquals((await store.load())?.snapshot.id, snapshotOf({ "a/b": "saved" }).id);
  const [finding] = store.findings();
  assertEquals([finding?.rule, finding?.position?.file], ["store/unwritable", FOLDER]);
  assertStringIncludes(finding!.message, "Read-only file system");
  assertStringIncludes(finding!.message, "memory");
  assertEquals(told, [finding!.message]);
  await store.save(snapshotOf({ "a/b": "new" }), { signal });
  assertEquals((await store.load())?.snapshot.id, snapshotOf({ "a/b": "new" }).id);
});

Deno.test("open store: a folder that cannot be made gives an empty store in memory", async () => {
  const files = new SimulatedDisk();
  files.fault = (operation) => {
    if (operation === "makeFolder") throw new Deno.errors.PermissionDenied("os error 13");
  };
  const lock = new Lock();
  await using opened = await openStore(FOLDER, options(files, lock));
  assertEquals(await opened.store.load(), undefined);
  assertEquals(opened.store.findings().map((f) => f.rule), ["store/unwritable"]);
  assertEquals(lock.held, 0);
});

Deno.test("open store: a folder that fails once it is locked is let go of", async () => {
  const files = new SimulatedDisk();
  files.fault = (operation) => {
    if (operation === "list") throw new Error("os error 5");
  };
  const lock = new Lock();
  await using opened = await openStore(FOLDER, options(files, lock));
  assertEquals([opened.store.durable, lock.held], [false, 0]);
});

Deno.test("open store: a file system without locks is used, and said so", async () => {
  const files = await withOneSnapshot();
  const lock = new Lock();
  const take: typeof lockStore = async (folder, owner) => {
    const held = await lock.take(folder, owner);
    return { ...held, abandonedBy: OWNER, unenforced: "os error 95" };
  };
  await using opened = await openStore(FOLDER, { ...options(files), lock: take });
  assert(opened.store.durable);
  assertEquals(opened.abandonedBy, OWNER);
  assertEquals(opened.store.findings().map((f) => f.rule), ["store/unlocked"]);
});
