import { assert, assertEquals } from "@std/assert";
import { FileSourceStore } from "../../lib/receive/source_store.ts";
import { disk, type NewFile } from "../../lib/snapshot/file_layer.ts";
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

Deno.test("source store: small changes of a large set are small writes, and the file stays bounded", async () => {
  const folder = await Deno.makeTempDir();
  try {
    let edge = large("edge", 500);
    await using store = await FileSourceStore.open(folder, { files: disk });
    await store.save(edge);
    const [name] = await disk.list(`${folder}/received`);
    const size = () => disk.size(`${folder}/received/${name}`);
    const base = await size();
    let [largest, rewritten] = [base, 0];
    for (let i = 0; i < 300; i++) {
      const before = await size();
      edge = changed(edge, { [`shop/svc-${i}`]: `${i}`.padEnd(600, "y") });
      await store.save(edge);
      const after = await size();
      largest = Math.max(largest, after);
      if (after < before) rewritten++;
      else assert(after - before < 2000, `${after - before}`);
    }
    assert(rewritten > 0 && rewritten < 10, `${rewritten}`);
    assert(largest < 2.5 * base, `${largest} of ${base}`);
    await using next = await FileSourceStore.open(folder, { files: disk });
    assertEquals((await next.load()).map(contentOf), [contentOf(edge)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Counts the files that are open, and the bytes written. */
function counted(files: SimulatedDisk): { opened: number; written: number } {
  const count = { opened: 0, written: 0 };
  const wrap = (open: (path: string) => Promise<NewFile>) => async (path: string) => {
    const file = await open(path);
    count.opened++;
    let isOpen = true;
    return {
      write: (bytes: Uint8Array) => {
        count.written += bytes.length;
        return file.write(bytes);
      },
      sync: () => file.sync(),
      [Symbol.asyncDispose]: () => {
        if (isOpen) count.opened--;
        isOpen = false;
        return Promise.resolve();
      },
    };
  };
  files.create = wrap(files.create.bind(files));
  files.append = wrap(files.append.bind(files));
  return count;
}

Deno.test("source store: of many sources only some files stay open, and small changes are small writes for all, after a restart too", async () => {
  let files = new SimulatedDisk();
  const edges = Array.from({ length: 70 }, (_, i) => large(`edge-${i}`, 50, 20));
  for (let round = 0; round < 2; round++) {
    const count = counted(files);
    {
      await using store = await open(files);
      if (round > 0) assertEquals((await store.load()).length, edges.length);
      else for (const edge of edges) await store.save(edge);
      for (const again of [1, 2]) {
        count.written = 0;
        for (const [i, edge] of edges.entries()) {
          edges[i] = changed(edge, { "shop/svc-7": `${round}/${again}` });
          await store.save(edges[i]!);
          assert(count.opened <= 64, `${count.opened}`);
        }
        assert(count.written < 800 * edges.length, `${count.written}`);
      }
      assert(count.opened > 10);
    }
    assertEquals(count.opened, 0);
    assertEquals((await found(files)).length, edges.length);
    files = files.afterKill();
  }
  await using store = await open(files);
  const byName = new Map((await store.load()).map((source) => [source.name, contentOf(source)]));
  for (const edge of edges) assertEquals(byName.get(edge.name), contentOf(edge));
});

Deno.test("source store: a file that was removed or changed meanwhile is written anew", async () => {
  const files = new SimulatedDisk();
  const one = stored("edge", { "a/b": "1" });
  const two = changed(one, { "a/c": "2" });
  await (await open(files)).save(one);
  const path = `${RECEIVED}/${files.names(RECEIVED)[0]}`;
  for (const meddle of [() => files.remove(path), () => cutShort(files, path)]) {
    await using store = await open(files);
    await store.load();
    await meddle();
    await store.save(two);
    assertEquals(await found(files), [contentOf(two)]);
    await store.save(one);
  }
});

function cutShort(files: SimulatedDisk, path: string): Promise<void> {
  files.corrupt(path, (bytes) => bytes.subarray(0, bytes.length - 1));
  return Promise.resolve();
}

Deno.test("source store: a changed byte in an old change is damage, and no set is made of what is before it", async () => {
  const files = new SimulatedDisk();
  {
    await using store = await open(files);
    let edge = large("edge", 30);
    await store.save(edge);
    for (let i = 0; i < 20; i++) {
      edge = changed(edge, { [`shop/new-${i}`]: `new ${i} content` });
      await store.save(edge);
    }
  }
  const [name] = files.names(RECEIVED);
  files.corrupt(`${RECEIVED}/${name}`, (bytes) => {
    const text = String.fromCharCode(...bytes);
    bytes[text.indexOf('new-1"') + 4]! ^= 1;
    return bytes;
  });
  await using store = await open(files);
  const sources = await store.load();
  assertEquals(sources, []);
  assertEquals(store.findings().map(({ rule }) => rule), ["store/damaged"]);
  assertEquals(files.names(RECEIVED), [`${name}.damaged`]);
});
