import { assertEquals, assertStringIncludes } from "@std/assert";
import { MemorySourceStore } from "../../lib/receive/memory_source_store.ts";
import { openSourceStore } from "../../lib/receive/open_source_store.ts";
import { SimulatedDisk } from "../snapshot/simulated_disk.ts";
import { contentOf, stored } from "./sets.ts";

const FOLDER = "/var/store";
const EDGE = stored("edge", { "a/b": "1" });

async function filled(): Promise<SimulatedDisk> {
  const files = new SimulatedDisk();
  await using opened = await openSourceStore(FOLDER, { files, durable: true });
  await opened.store.save(EDGE);
  return files;
}

Deno.test("open source store: a folder that can be written keeps sets", async () => {
  const files = await filled();
  await using opened = await openSourceStore(FOLDER, { files, durable: true });
  assertEquals((await opened.store.load()).map(contentOf), [contentOf(EDGE)]);
  assertEquals([opened.durable, opened.store.findings()], [true, []]);
});

Deno.test("open source store: a folder that cannot be written gives what it holds from memory, and says so", async () => {
  for (const durable of [true, false]) {
    const files = await filled();
    let isBroken = durable;
    files.fault = (operation, path) => {
      // Once only: what is broken for writing may still be read.
      if (!isBroken || operation !== "syncFolder" || path !== `${FOLDER}/received`) return;
      isBroken = false;
      throw new Error("read-only file system");
    };
    const heard: string[] = [];
    const onFinding = ({ message }: { message: string }) => void heard.push(message);
    await using opened = await openSourceStore(FOLDER, { files, durable, onFinding });
    assertEquals(opened.durable, false);
    assertEquals(opened.store.findings().map(({ rule }) => rule), ["store/unwritable"]);
    assertStringIncludes(heard[0]!, "memory only");
    assertEquals((await opened.store.load()).map(contentOf), [contentOf(EDGE)]);
    files.fault = () => {
      throw new Error("not to be touched");
    };
    await opened.store.save(stored("other", { "a/b": "1" }));
    assertEquals((await opened.store.load()).length, 2);
  }
});

Deno.test("memory source store: what is saved is there, who came first comes first, until it is removed", async () => {
  const store = new MemorySourceStore();
  const first = stored("first", { "a/b": "1" }, { firstSeen: 1 });
  await store.save(EDGE);
  await store.save(first);
  assertEquals(await store.load(), [first, EDGE]);
  const changed = stored("edge", { "a/b": "2" });
  await store.save(changed);
  assertEquals(await store.load(), [first, changed]);
  await store.remove("first");
  await store.remove("never there");
  assertEquals(await store.load(), [changed]);
  assertEquals(store.findings(), []);
});
