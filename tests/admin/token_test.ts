import { assert, assertEquals } from "@std/assert";
import { bears, loadToken } from "../../lib/admin/token.ts";

Deno.test("token: made once, long, readable to its user alone, kept over restarts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const token = await loadToken(folder);
    assertEquals(token.length, 64);
    assertEquals((await Deno.stat(`${folder}/admin.token`)).mode! & 0o777, 0o600);
    assertEquals(await loadToken(folder), token);
    await Deno.writeTextFile(`${folder}/admin.token`, ""); // cut off by a crash
    assert((await loadToken(folder)).length === 64);
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
