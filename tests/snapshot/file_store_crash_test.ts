import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { FileStore } from "../../lib/snapshot/file_store.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { type Choose, crashAt, forEveryChoice, SimulatedDisk } from "./simulated_disk.ts";
import { snapshotOf } from "./snapshots.ts";

const { signal } = new AbortController();
const FOLDER = "/var/store";

/** Snapshots told apart by their number; every other one is like one before, as when a change is taken back. */
const SNAPSHOTS = Array.from({ length: 6 }, (_, i) => snapshotOf({ "a/b": `${i === 4 ? 2 : i}` }));

function open(files: SimulatedDisk): Promise<FileStore> {
  return FileStore.open(FOLDER, { files, now: () => 0, keep: 2 });
}

/** What one process got done before it crashed, as indices into what it was to save. */
interface Progress {
  /** The newest whose save resolved. */
  saved: number;
  /** The newest whose save had begun. */
  begun: number;
}

/** A process: opens the store, saves from `first` to `last`. True if it came to its end. */
async function run(
  files: SimulatedDisk,
  progress: Progress,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<boolean> {
  try {
    await using store = await open(files);
    await store.load();
    for (let i = first; i <= last; i++) {
      progress.begun = i;
      await store.save(SNAPSHOTS[i]!, { signal });
      progress.saved = i;
    }
    return true;
  } catch (error) {
    assert(String(error).includes("crashed at operation"), String(error));
    return false;
  }
}

/** Opens what is left; fails unless it gives a snapshot no older than `saved`, no newer than `begun`, and no damage. */
async function check(files: SimulatedDisk, { saved, begun }: Progress): Promise<void> {
  await using store = await open(files);
  const stored = await store.load();
  const allowed = SNAPSHOTS.slice(Math.max(saved, 0), begun + 1).map((s) => s.id);
  const found = stored?.snapshot.id;
  const nothingYet = found === undefined && saved < 0;
  assert(
    nothingYet || (found !== undefined && allowed.includes(found)),
    `lost: ${found} is none of ${allowed}`,
  );
  assertEquals(store.findings(), [], "damaged");
  const next = snapshotOf({ "a/b": "after" });
  await store.save(next, { signal });
  assertEquals((await store.load())?.snapshot.id, next.id);
}

/** Every crash point of a process that saves `last + 1` snapshots, every state a loss of power then leaves. */
async function explore(
  last: number,
  lie?: SimulatedDisk["lie"],
): Promise<{ crashes: number; states: number }> {
  let states = 0;
  for (let at = 1;; at++) {
    const files = new SimulatedDisk();
    files.lie = lie;
    files.fault = crashAt(at);
    const progress = { saved: -1, begun: -1 };
    const ended = await run(files, progress, { first: 0, last });
    states += await forEveryChoice((choose) => check(files.afterPowerLoss(choose), progress));
    if (ended) return { crashes: at - 1, states };
  }
}

Deno.test("file store: a loss of power at any operation leaves the snapshot before or the new one", async () => {
  const { crashes, states } = await explore(4);
  assert(crashes > 40 && states > 300, `${crashes} crash points, ${states} states`);
});

Deno.test("file store: the test above notices a disk that does not flush files or folders", async () => {
  await assertRejects(() => explore(1, "sync"), Error, "damaged");
  await assertRejects(() => explore(1, "syncFolder"), Error, "lost");
});

Deno.test("file store: what was served after a kill is not undone by a loss of power", async () => {
  for (let at = 1, ended = false; !ended; at++) {
    const files = new SimulatedDisk();
    files.fault = crashAt(at);
    const progress = { saved: -1, begun: -1 };
    ended = await run(files, progress, { first: 0, last: 3 });
    const later = files.afterKill();
    await using store = await open(later);
    const served = (await store.load())?.snapshot.id;
    const index = SNAPSHOTS.findIndex((s: Snapshot) => s.id === served);
    assert(index >= progress.saved, "a kill lost what was saved");
    await forEveryChoice((choose) =>
      check(later.afterPowerLoss(choose), { saved: index, begun: Math.max(index, progress.begun) })
    );
  }
});

Deno.test("file store: crashes one after the other, kills and losses of power mixed, lose nothing", async () => {
  const life = fc.record({
    crashAt: fc.integer({ min: 1, max: 40 }),
    saves: fc.integer({ min: 0, max: 2 }),
    power: fc.boolean(),
    choices: fc.array(fc.nat(1000), { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 5 }), async (lives) => {
      let files = new SimulatedDisk();
      const progress = { saved: -1, begun: -1 };
      for (const { crashAt: at, saves, power, choices } of lives) {
        files.fault = crashAt(at);
        const first = progress.begun + 1;
        const last = Math.min(first + saves, SNAPSHOTS.length) - 1;
        await run(files, progress, { first, last });
        files = power ? files.afterPowerLoss(chooser(choices)) : files.afterKill();
      }
      await check(files, progress);
    }),
    { numRuns: 300 },
  );
});

function chooser(choices: readonly number[]): Choose {
  let at = 0;
  return (count) => (choices[at++] ?? 0) % count;
}
