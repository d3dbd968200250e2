import { assert, assertEquals } from "@std/assert";
import { SourceTokens } from "../../lib/cli/source_tokens.ts";
import { until } from "../interop/lib/wait.ts";
import { TempFolder } from "../config/testdata/temp_folder.ts";

Deno.test("source tokens: each is its source's; a file that cannot be used keeps only its own source out", async () => {
  using folder = new TempFolder();
  const paths = new Map([
    ["edge-a", folder.write("a", "alpha\n")],
    ["edge-b", folder.at("missing")],
    ["edge-c", folder.write("c", "alpha")],
  ]);
  const problems: string[] = [];
  const tell = (source: string, message?: string) => {
    problems.push(`${source}: ${message?.replaceAll(`${folder.path}/`, "")}`);
  };
  await using tokens = await SourceTokens.open(paths, tell, { poll: 50 });
  assertEquals(owners(tokens, "alpha", "beta"), ["edge-a", undefined]);
  assertEquals(problems.sort(), [
    "edge-b: the token file missing does not exist",
    "edge-c: the sources edge-a and edge-c have the same token; it counts as edge-a's",
  ]);
  folder.write("missing", "beta");
  await until("it is read", () => tokens.current.ownerOf("beta") === "edge-b");
  assertEquals(tokens.current.ownerOf("alpha"), "edge-a");
});

Deno.test("source tokens: a file that is taken away or emptied takes its token with it, one that is replaced does not", async () => {
  using folder = new TempFolder();
  const paths = new Map([
    ["edge-a", folder.write("a", "alpha")],
    ["edge-b", folder.write("b", "beta")],
    ["edge-c", folder.write("c", "gamma")],
  ]);
  const problems: string[] = [];
  let changes = 0;
  const tell = (source: string, message?: string) => {
    problems.push(`${source}: ${message?.replaceAll(`${folder.path}/`, "")}`);
  };
  await using tokens = await SourceTokens.open(paths, tell, { poll: 50 });
  tokens.onChange(() => changes++);
  Deno.removeSync(folder.at("a"));
  folder.write("b", "\n");
  folder.write("c", "two\nlines");
  await until("two are gone", () => {
    return tokens.current.ownerOf("alpha") === undefined &&
      tokens.current.ownerOf("beta") === undefined;
  });
  assertEquals(tokens.current.ownerOf("gamma"), "edge-c", "the last good one");
  assert(tokens.current.has("edge-a"), "nobody else can take its name");
  assert(changes === 1 || changes === 2, `${changes}`);
  for (
    const said of [
      "edge-a: the token file a does not exist",
      "edge-a: the token file a does not exist: nobody comes in as this source",
      "edge-b: the token file b is empty",
      "edge-b: the token file b is empty: nobody comes in as this source",
      "edge-c: the token file c has more than one line; it must hold the token alone",
    ]
  ) assert(problems.includes(said), `${said} is not among ${problems.join("; ")}`);
  folder.write("a", "alpha-2");
  await until("it is back", () => tokens.current.ownerOf("alpha-2") === "edge-a");
  assertEquals(problems.at(-1), "edge-a: undefined");
});

function owners(tokens: SourceTokens, ...all: readonly string[]): (string | undefined)[] {
  return all.map((token) => tokens.current.ownerOf(token));
}
