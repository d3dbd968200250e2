import { assertEquals } from "@std/assert";
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
  assertEquals([...tokens.current], [["edge-a", "alpha"]]);
  assertEquals(problems.sort(), [
    "edge-b: the token file missing does not exist",
    "edge-c: the sources edge-a and edge-c have the same token; it counts as edge-a's",
  ]);
  folder.write("missing", "beta");
  folder.write("a", "");
  await until("both are read again", () => tokens.current.size === 3 || problems.length >= 4);
  assertEquals(tokens.current.get("edge-b"), "beta");
  assertEquals(tokens.current.get("edge-a"), "alpha", "the last good one");
});
