import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { bears, loadToken } from "../../lib/admin/token.ts";

async function textOf(folder: string): Promise<string> {
  const token = await loadToken(folder);
  assert(token.kind === "token", JSON.stringify(token));
  return token.text;
}

Deno.test("token: made once, long, readable to its user alone, kept over restarts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const token = await textOf(folder);
    assertMatch(token, /^[0-9a-f]{64}$/);
    assertEquals((await Deno.stat(`${folder}/admin.token`)).mode! & 0o777, 0o600);
    assertEquals(await textOf(folder), token);
    for (const cut of ["", token.slice(0, 20)]) { // by a crash
      await Deno.writeTextFile(`${folder}/admin.token`, cut);
      await Deno.writeTextFile(`${folder}/admin.token.new`, cut, { mode: 0o644 });
      assertMatch(await textOf(folder), /^[0-9a-f]{64}$/);
      assertEquals((await Deno.stat(`${folder}/admin.token`)).mode! & 0o777, 0o600);
    }
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["admin.token"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("token: one chosen by a person is kept", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const chosen = "correct-horse-battery-staple-and-more";
    await Deno.writeTextFile(`${folder}/admin.token`, `${chosen}\n`);
    assertEquals(await textOf(folder), chosen);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("token: where it can be neither read nor made, there is none and it is said why", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/taken/admin.token`, { recursive: true });
    await Deno.mkdir(`${folder}/large`);
    await Deno.writeTextFile(`${folder}/large/admin.token`, "x".repeat(5000));
    for (const name of ["taken", "large", "absent"]) {
      const token = await loadToken(`${folder}/${name}`);
      assert(token.kind === "none", name);
      assertStringIncludes(token.reason, `${name}/admin.token can be neither read nor made: `);
    }
    assertEquals((await Deno.readTextFile(`${folder}/large/admin.token`)).length, 5000);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("token: only the whole token passes", () => {
  const token = "a".repeat(64);
  assert(bears(`Bearer ${token}`, token));
  assert(bears(`bearer  ${token}`, token));
  for (const header of [undefined, "", "Bearer", `Bearer ${token}a`, `Basic ${token}`, token]) {
    assert(!bears(header, token), header);
  }
});
