import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileSourceStore } from "../../lib/receive/source_store.ts";
import { crashAt, forEveryChoice, SimulatedDisk } from "../snapshot/simulated_disk.ts";
import { contentOf, stored } from "./sets.ts";

const FOLDER = "/var/store";

/** Sets told apart by their number. The fourth is too large to be appended. */
const SETS = Array.from(
  { length: 6 },
  (_, i) => stored("edge", { "a/b": `${i}`.padEnd(i === 3 ? 100_000 : 1, "x"), [`a/${i}`]: "y" }),
);
const CONTENTS = SETS.map((set) => JSON.stringify(contentOf(set)));

/** What one process got done before it crashed, as indices into {@link SETS}; -1: nothing. */
interface Progress {
  saved: number;
  begun: number;
}

/** A process: opens the store, saves from `first` to `last`. True if it came to its end. */
async function run(
  files: SimulatedDisk,
  progress: Progress,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<boolean> {
  try {
    await using store = await FileSourceStore.open(FOLDER, { files });
    await store.load();
    for (let i = first; i <= last; i++) {
      progress.begun = i;
      await store.save(SETS[i]!);
      progress.saved = i;
    }
    return true;
  } catch (error) {
    assert(String(error).includes("crashed at operation"), String(error));
    return false;
  }
}

/** Opens what is left; fails unless it gives a set no older than `saved`, no newer than `begun`, undamaged, and can be saved to. */
async function check(files: SimulatedDisk, { saved, begun }: Progress): Promise<void> {
  await using store = await FileSourceStore.open(FOLDER, { files });
  const [found, ...more] = (await store.load()).map((source) => JSON.stringify(contentOf(source)));
  assertEquals(more, []);
  const allowed = CONTENTS.slice(Math.max(saved, 0), begun + 1);
  const nothingYet = found === undefined && saved < 0;
  assert(nothingYet || (found !== undefined && allowed.includes(found)), `lost: ${found}`);
  const wrong = store.findings().filter(({ rule }) => rule !== "store/unfinished");
  assertEquals(wrong, [], "damaged");
  const after = [stored("edge", { "a/after": "1" }), stored("edge", { "a/after": "2" })];
  for (const next of after) {
    await store.save(next);
    await using later = await FileSourceStore.open(FOLDER, { files: files.afterKill() });
    assertEquals((await later.load()).map(contentOf), [contentOf(next)]);
    assertEquals(later.findings(), []);
  }
}

/** Every crash point of a process that saves `last + 1` sets, every state a loss of power then leaves. */
async function explore(last: number, lie?: SimulatedDisk["lie"]): Promise<[number, number]> {
  let states = 0;
  for (let at = 1;; at++) {
    const files = new SimulatedDisk();
    files.lie = lie;
    files.fault = crashAt(at);
    const progress = { saved: -1, begun: -1 };
    const ended = await run(files, progress, { first: 0, last });
    states += await forEveryChoice((choose) => check(files.afterPowerLoss(choose), progress));
    if (ended) return [at - 1, states];
  }
}

Deno.test("source store: a loss of power at any operation leaves the set before or the new one", async () => {
  const [crashes, states] = await explore(5);
  assert(crashes > 25 && states > 100, `${crashes} crash points, ${states} states`);
});

Deno.test("source store: the test above notices a disk that does not flush files or folders", async () => {
  await assertRejects(() => explore(1, "sync"), Error);
  await assertRejects(() => explore(1, "syncFolder"), Error, "lost");
});

Deno.test("source store: kills and restarts lose nothing, whatever was half done", async () => {
  for (let at = 1, ended = false; !ended; at++) {
    const files = new SimulatedDisk();
    files.fault = crashAt(at);
    const progress = { saved: -1, begun: -1 };
    ended = await run(files, progress, { first: 0, last: 3 });
    const second = files.afterKill();
    second.fault = crashAt(at);
    await run(second, progress, { first: progress.begun + 1, last: 5 });
    await check(second.afterKill(), progress);
  }
});

Deno.test("source store: a loss of power leaves a whole set also where a process appends to what a killed one left", async () => {
  let states = 0;
  for (let at = 1, ended = false; !ended; at++) {
    for (let next = 1, nextEnded = false; !nextEnded; next++) {
      const files = new SimulatedDisk();
      files.fault = crashAt(at);
      const progress = { saved: -1, begun: -1 };
      ended = await run(files, progress, { first: 0, last: 1 });
      const second = files.afterKill();
      second.fault = crashAt(next);
      // What the first did not flush may go, until the second flushed: only what was promised counts.
      nextEnded = await run(second, progress, { first: progress.begun + 1, last: 2 });
      states += await forEveryChoice((choose) => check(second.afterPowerLoss(choose), progress));
    }
  }
  assert(states > 300, `${states} states`);
});
