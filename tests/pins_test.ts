import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../", import.meta.url);

async function documents(): Promise<string[]> {
  const docs: string[] = ["README.md", "CONTRIBUTING.md"];
  for await (const entry of Deno.readDir(new URL("docs/", ROOT))) {
    if (entry.name.endsWith(".md")) docs.push(`docs/${entry.name}`);
  }
  return docs;
}

Deno.test("pins: every document names the version of Deno that .deno-version pins", async () => {
  const pinned = (await Deno.readTextFile(new URL(".deno-version", ROOT))).trim();
  const named: string[] = [];
  for (const path of await documents()) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    named.push(
      ...[...text.matchAll(/\bdeno@([\w.-]+)/g)].map(([, version]) => `${path} ${version}`),
    );
  }
  assert(named.length >= 4, "documents say how to run Pinnace");
  assertEquals(named.filter((name) => !name.endsWith(` ${pinned}`)), []);
});
