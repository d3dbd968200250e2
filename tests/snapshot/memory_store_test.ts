import { assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "../../lib/snapshot/memory_store.ts";
import { snapshotOf } from "./snapshots.ts";

const { signal } = new AbortController();
const numbered = (i: number) => snapshotOf({ "a/b": String(i) });

Deno.test("memory store: keeps the newest, in order, and no copy of the newest", async () => {
  await using store = new MemoryStore({ keep: 3, now: () => 42 });
  assertEquals(await store.load(), undefined);
  for (const i of [0, 1, 2, 3, 3]) await store.save(numbered(i), { signal });
  assertEquals((await store.load())?.snapshot.id, numbered(3).id);
  assertEquals(
    (await store.list()).map(({ id, sequence, savedAt, resources }) => [
      id,
      sequence,
      savedAt,
      resources,
    ]),
    [3, 2, 1].map((i) => [numbered(i).id, i + 1, 42, 1]),
  );
  assertEquals((await store.read(numbered(1).id))?.sequence, 2);
  assertEquals(await store.read(numbered(0).id), undefined);
});

Deno.test("memory store: begins with its seed, and counts on from there", async () => {
  const seed = { snapshot: numbered(0), savedAt: 1, sequence: 9 };
  await using store = new MemoryStore({ keep: 3, now: () => 2, seed });
  assertEquals(await store.load(), seed);
  await store.save(numbered(1), { signal });
  assertEquals((await store.load())?.sequence, 10);
});

Deno.test("memory store: a save given up before it began saves nothing", async () => {
  await using store = new MemoryStore({ keep: 3, now: () => 2 });
  const given = AbortSignal.abort(new Error("given up"));
  await assertRejects(() => store.save(numbered(0), { signal: given }), Error, "given up");
  assertEquals(await store.load(), undefined);
});
