import { assert, assertEquals } from "@std/assert";
import { readSmallFile } from "../../lib/transport/small_file.ts";
import { systemAuthorities } from "../../lib/transport/system_authorities.ts";
import { TempFolder } from "./certificates.ts";

Deno.test("small file: what it takes to read one goes by its size, not by the largest allowed", async () => {
  await using folder = await TempFolder.create();
  const path = folder.at("token");
  await Deno.writeTextFile(path, "secret\n");
  let bytes = 0;
  const before = globalThis.Uint8Array;
  globalThis.Uint8Array = new Proxy(before, {
    construct(target, [first, ...rest], of) {
      if (typeof first === "number") bytes += first;
      return Reflect.construct(target, [first, ...rest], of);
    },
  });
  try {
    assertEquals(await readSmallFile(path, 8 * 1024 * 1024), { ok: true, text: "secret\n" });
  } finally {
    globalThis.Uint8Array = before;
  }
  assert(bytes < 1000, `${bytes} bytes were allocated`);
});

Deno.test("small file: up to the largest allowed it is read whole, beyond that it is refused", async () => {
  await using folder = await TempFolder.create();
  const path = folder.at("file");
  for (const length of [0, 1, 99, 100]) {
    await Deno.writeTextFile(path, "x".repeat(length));
    assertEquals(await readSmallFile(path, 100), { ok: true, text: "x".repeat(length) });
  }
  await Deno.writeTextFile(path, "x".repeat(101));
  const reason = "is larger than 100 bytes";
  assertEquals(await readSmallFile(path, 100), { ok: false, missing: false, reason });
});

Deno.test("small file: one that grows while it is read is read whole, or refused", async () => {
  await using folder = await TempFolder.create();
  const path = folder.at("file");
  await Deno.writeTextFile(path, "x".repeat(5000));
  const { stat } = Deno;
  Deno.stat = async (at) => ({ ...await stat(at), size: 3 }); // as it was a moment before
  try {
    assertEquals(await readSmallFile(path, 5000), { ok: true, text: "x".repeat(5000) });
    const reason = "is larger than 4999 bytes";
    assertEquals(await readSmallFile(path, 4999), { ok: false, missing: false, reason });
  } finally {
    Deno.stat = stat;
  }
});

Deno.test("system authorities: a file is read once, and again as soon as it is another", async () => {
  await using folder = await TempFolder.create();
  const path = folder.at("ca.crt");
  const write = async (text: string, at: number, to = path) => {
    await Deno.writeTextFile(to, text);
    await Deno.utime(to, at, at);
  };
  const { open } = Deno;
  let opened = 0;
  Deno.open = (...args) => {
    opened++;
    return open(...args);
  };
  try {
    const read = () => systemAuthorities(() => path);
    await write("one", 1_700_000_000);
    assertEquals([await read(), await read(), opened], ["one", "one", 1]);
    await write("two", 1_700_000_001);
    assertEquals([await read(), await read(), opened], ["two", "two", 2]);
    await write("six", 1_700_000_001, folder.at("new"));
    await Deno.rename(folder.at("new"), path);
    assertEquals([await read(), opened], ["six", 3]);
    await Deno.writeTextFile(path, "ten"); // just now: it may change again within the clock's grain
    assertEquals([await read(), await read(), opened], ["ten", "ten", 5]);
  } finally {
    Deno.open = open;
  }
});
