import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FileSourceStore, MAX_SOURCES } from "../../lib/receive/source_store.ts";
import { disk } from "../../lib/snapshot/file_layer.ts";
import { StoreError } from "../../lib/snapshot/store.ts";
import { SimulatedDisk } from "../snapshot/simulated_disk.ts";
import { changed, contentOf, large, stored } from "./sets.ts";

const FOLDER = "/var/store";
const RECEIVED = `${FOLDER}/received`;

const open = (files: SimulatedDisk) => FileSourceStore.open(FOLDER, { files });

/** What the next process finds. */
async function found(files: SimulatedDisk): Promise<unknown[]> {
  await using store = await open(files.afterKill());
  const sources = await store.load();
  assertEquals(store.findings(), []);
  return sources.map(contentOf);
}

Deno.test("source store: on a real disk, the next process finds every set, changes and all", async () => {
  const folder = await Deno.makeTempDir();
  try {
    let edge = large("spiffe://example.org/edge/1", 700);
    const other = stored("10.0.0.1", { "a/b": "text" }, { firstSeen: 5 });
    {
      await using store = await FileSourceStore.open(`${folder}/new`, { files: disk });
      assertEquals(await store.load(), []);
      await store.save(edge);
      await store.save(other);
      for (let i = 0; i < 5; i++) {
        edge = changed(edge, { [`shop/svc-${i}`]: `new ${i}`, "shop/more": `${i}` }, [
          "shop/svc-9",
        ]);
        await store.save(edge);
      }
    }
    await using store = await FileSourceStore.open(`${folder}/new`, { files: disk });
    assertEquals((await store.load()).map(contentOf), [other, edge].map(contentOf));
    assertEquals(store.findings(), []);
    const { mode } = await Deno.stat(`${folder}/new/received`);
    if (Deno.build.os !== "windows") assertEquals(mode! & 0o077, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("source store: the first save writes, flushes, renames and flushes the folder; the next appends and flushes", async () => {
  const files = new SimulatedDisk();
  await using store = await open(files);
  const one = stored("edge", { "a/b": "1" });
  files.log.length = 0;
  await store.save(one);
  const steps = files.log.map((line) => line.split(" ")[0]);
  assertEquals(steps[0], "create");
  assertEquals(steps.filter((s) => s !== "write" && s !== "create"), [
    "sync",
    "rename",
    "syncFolder",
  ]);
  files.log.length = 0;
  const two = changed(one, { "a/c": "2" });
  await store.save(two);
  assertEquals(files.log.map((line) => line.split(" ")[0]), ["write", "sync", "write"]);
  assertEquals(await found(files), [contentOf(two)]);
});

Deno.test("source store: what is there is not written again; who proved its name better is, though the set is the same", async () => {
  const files = new SimulatedDisk();
  await using store = await open(files);
  const one = stored("edge", { "a/b": "1" });
  await store.save(one);
  files.log.length = 0;
  await store.save(stored("edge", { "a/b": "1" }));
  assertEquals(files.log, []);
  const later = { ...one, namedBy: "dns" };
  await store.save(later);
  assertEquals(await found(files), [contentOf(later)]);
  {
    await using next = await open(files);
    await next.load();
    files.log.length = 0;
    await next.save(later);
    assertEquals(files.log, [], "nor by the next process");
  }
});

Deno.test("source store: a version that the source alone tells differently is saved", async () => {
  const files = new SimulatedDisk();
  await using store = await open(files);
  const one = stored("edge", { "a/b": "1", "a/c": "2" });
  await store.save(one);
  const told = new Map(one.set.told.get("ServiceEntry")!).set("a/b", "other");
  const two = { ...one, set: { ...one.set, told: new Map([["ServiceEntry", told]]) } };
  await store.save(two);
  assertEquals(await found(files), [contentOf(two)]);
});

Deno.test("source store: a source forgotten is gone, and only it", async () => {
  const files = new SimulatedDisk();
  await using store = await open(files);
  const [one, two] = [stored("edge-1", { "a/b": "1" }), stored("edge-2", { "a/b": "2" })];
  await store.save(one);
  await store.save(two);
  await store.remove("edge-1");
  await store.remove("never there");
  assertEquals(await found(files.afterPowerLoss(() => 0)), [contentOf(two)]);
  await store.save(one);
  assertEquals((await found(files)).length, 2);
});

Deno.test("source store: a damaged file is set aside and reported, the others are read; saving works again", async () => {
  const files = new SimulatedDisk();
  {
    await using store = await open(files);
    await store.save(stored("edge-1", { "a/b": "1" }));
    await store.save(stored("edge-2", { "a/b": "2" }));
  }
  const [first] = files.names(RECEIVED);
  files.corrupt(`${RECEIVED}/${first}`, (bytes) => {
    bytes[bytes.length - 40]! ^= 1;
    return bytes;
  });
  const heard: string[] = [];
  const options = { files, onFinding: ({ rule }: { rule: string }) => void heard.push(rule) };
  await using store = await FileSourceStore.open(FOLDER, options);
  const sources = await store.load();
  assertEquals(sources.length, 1);
  assertEquals([store.findings().map(({ rule }) => rule), heard], [["store/damaged"], [
    "store/damaged",
  ]]);
  assert(files.names(RECEIVED).includes(`${first}.damaged`));
  for (const name of ["edge-1", "edge-2"]) await store.save(stored(name, { "a/b": "3" }));
  assertEquals((await found(files)).length, 2);
});

Deno.test("source store: a set under another's name is not taken for its own", async () => {
  const files = new SimulatedDisk();
  {
    await using store = await open(files);
    await store.save(stored("edge-1", { "a/b": "1" }));
  }
  const [name] = files.names(RECEIVED);
  await files.rename(`${RECEIVED}/${name}`, `${RECEIVED}/0123456789abcdef.source`);
  await using store = await open(files);
  assertEquals(await store.load(), []);
  assertStringIncludes(store.findings()[0]!.message, "another name");
});

Deno.test("source store: a file of a newer release is left alone, also when its source comes again", async () => {
  const files = new SimulatedDisk();
  {
    await using store = await open(files);
    await store.save(stored("edge", { "a/b": "1" }));
  }
  const [name] = files.names(RECEIVED);
  const newer = new TextEncoder().encode("pinnace-source 3 -\nwhatever");
  files.corrupt(`${RECEIVED}/${name}`, () => newer);
  await using store = await open(files);
  assertEquals(await store.load(), []);
  assertEquals(store.findings().map(({ rule }) => rule), ["store/newer"]);
  await store.remove("edge");
  assertEquals(await files.read(`${RECEIVED}/${name}`), newer);
  const own = stored("edge", { "a/b": "2" });
  await store.save(own);
  assertEquals(await files.read(`${RECEIVED}/${name}.newer`), newer);
  assertEquals(await found(files), [contentOf(own)]);
});

Deno.test("source store: a file that the disk will not read is passed over, not set aside", async () => {
  const files = new SimulatedDisk();
  {
    await using store = await open(files);
    await store.save(stored("edge", { "a/b": "1" }));
  }
  const next = files.afterKill();
  next.fault = (operation) => {
    if (operation === "read") throw new Error("EIO");
  };
  await using store = await open(next);
  assertEquals(await store.load(), []);
  assertEquals(store.findings().map(({ rule }) => rule), ["store/unreadable"]);
  assertEquals((await found(next)).length, 1);
});

Deno.test("source store: a full disk at any operation leaves a whole set, and later saves work", async () => {
  const [one, two] = [stored("edge", { "a/b": "1" }), stored("edge", { "a/b": "2" })];
  for (const hasJournal of [true, false]) {
    for (let at = 1, failed = true; failed; at++) {
      const files = new SimulatedDisk();
      {
        await using first = await open(files);
        await first.save(one);
        await using other = await open(files);
        await other.load();
        const store = hasJournal ? first : other;
        let count = 0;
        files.fault = (operation) => {
          if (operation === "remove" || ++count !== at) return;
          throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
        };
        failed = await store.save(two).then(() => false, (error) => {
          assert(error instanceof StoreError);
          assertStringIncludes(error.message, "edge");
          return true;
        });
        files.fault = () => {};
        const [left] = await leftOf(files);
        assert([one, two].map((s) => JSON.stringify(contentOf(s))).includes(JSON.stringify(left)));
        // What was there before, too: nobody knows what the file now holds.
        await store.save(one);
        assertEquals(await leftOf(files), [contentOf(one)]);
        await store.save(two);
        assertEquals(await leftOf(files), [contentOf(two)]);
        assertEquals(files.names(RECEIVED).length, 1);
      }
    }
  }
});

/** What the next process finds, be it with findings. */
async function leftOf(files: SimulatedDisk): Promise<unknown[]> {
  await using store = await open(files.afterKill());
  return (await store.load()).map(contentOf);
}

Deno.test("source store: more sources than it keeps are refused, those there go on", async () => {
  const files = new SimulatedDisk();
  await using store = await open(files);
  for (let i = 0; i < MAX_SOURCES; i++) await store.save(stored(`edge-${i}`, { "a/b": "1" }));
  const error = await assertRejects(() => store.save(stored("one more", {})), StoreError);
  assertStringIncludes(error.message, "receive.keep");
  await store.save(stored("edge-3", { "a/b": "2" }));
  await store.remove("edge-4");
  await store.save(stored("one more", { "a/b": "1" }));
  assertEquals((await found(files)).length, MAX_SOURCES);
  await using unaware = await open(files);
  await unaware.save(stored("yet another", { "a/b": "1" }));
  await using next = await open(files);
  assertEquals((await next.load()).length, MAX_SOURCES);
  assertEquals(next.findings().map(({ rule }) => rule), ["store/too-many"]);
  assertEquals(files.names(RECEIVED).length, MAX_SOURCES + 1);
});

Deno.test("source store: a folder that cannot be made or read is an error that names it", async () => {
  const files = new SimulatedDisk();
  files.fault = (operation) => {
    if (operation === "makeFolder") throw new Deno.errors.PermissionDenied("no");
  };
  const error = await assertRejects(() => open(files), StoreError);
  assertStringIncludes(error.message, RECEIVED);
});
