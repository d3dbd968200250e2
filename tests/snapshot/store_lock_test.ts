import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { lockStore, StoreLockedError } from "../../lib/snapshot/store_lock.ts";

const OWNER = { pid: 4711, host: "edge-1", started: "2026-01-02T03:04:05.000Z" };

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("store lock: a second one is refused and told who has it", () =>
  inFolder(async (folder) => {
    await using first = await lockStore(folder, OWNER);
    assertEquals([first.abandonedBy, first.unenforced], [undefined, undefined]);
    const second = { ...OWNER, pid: 4712 };
    const error = await assertRejects(() => lockStore(folder, second), StoreLockedError);
    assertEquals(error.owner, OWNER);
    for (const part of [folder, "4711", "edge-1", OWNER.started, "--store"]) {
      assertStringIncludes(error.message, part);
    }
  }));

Deno.test("store lock: let go of, it is free, and nobody abandoned it", () =>
  inFolder(async (folder) => {
    for (let i = 0; i < 3; i++) {
      await using lock = await lockStore(folder, OWNER);
      assertEquals(lock.abandonedBy, undefined);
    }
  }));

Deno.test("store lock: an owner that cannot be read is refused all the same", () =>
  inFolder(async (folder) => {
    await using _ = await lockStore(folder, OWNER);
    for (const text of ["", "{", "null", "x".repeat(5000)]) {
      await Deno.writeTextFile(`${folder}/lock`, text);
      const error = await assertRejects(() => lockStore(folder, OWNER), StoreLockedError);
      assertEquals(error.owner, undefined);
      assertStringIncludes(error.message, "another process");
    }
  }));

Deno.test("store lock: held by a live process it is refused; killed with SIGKILL it is free at once, and its owner is named", () =>
  inFolder(async (folder) => {
    const module = new URL("../../lib/snapshot/store_lock.ts", import.meta.url).href;
    const script = `const { lockStore } = await import(${JSON.stringify(module)});
      globalThis.lock = await lockStore(Deno.args[0], ${JSON.stringify(OWNER)});
      console.log("held");
      setInterval(() => {}, 1000);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-check", script, folder],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.getReader();
    try {
      const { value } = await reader.read();
      assertStringIncludes(new TextDecoder().decode(value), "held");
      await assertRejects(() => lockStore(folder, OWNER), StoreLockedError, "4711");
    } finally {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    }
    // A live process with the dead one's id (here: the file says it is us) changes nothing.
    await Deno.writeTextFile(`${folder}/lock`, JSON.stringify({ ...OWNER, pid: Deno.pid }));
    await using lock = await lockStore(folder, OWNER);
    assert(lock.abandonedBy?.pid === Deno.pid);
  }));
