import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundle, compile, OUTPUT, PERMISSIONS } from "../../scripts/compile.ts";
import { smoke } from "./smoke.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("binary: the bundle alone does all that the source does, from an empty folder, offline", async () => {
  const built = await bundle();
  assert(built.ok, built.output);
  const folder = await Deno.makeTempDir({ prefix: "pinnace-bundle-" });
  try {
    await Deno.copyFile(new URL(OUTPUT.bundle, ROOT), `${folder}/pinnace.js`);
    const offline = ["--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"];
    await smoke({
      command: Deno.execPath(),
      args: ["run", "--no-prompt", ...offline, ...PERMISSIONS, `${folder}/pinnace.js`],
      cwd: folder,
      env: { DENO_DIR: `${folder}/cache` },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("binary: it may run nothing and load no native library", () => {
  const allowed = PERMISSIONS.map((permission) => permission.replace(/^--allow-(\w+).*/, "$1"));
  assertEquals(allowed.toSorted(), ["env", "net", "read", "sys", "write"]);
});

Deno.test("binary: compiled, it holds the program, its worker and the descriptor, and no tests", async () => {
  const built = await bundle();
  assert(built.ok, built.output);
  // Deno itself stands in for the runtime that is to be fetched; what is embedded is the same.
  const compiled = await withEnv("DENORT_BIN", Deno.execPath(), () => compile());
  assert(compiled.ok, compiled.output);
  const runtime = (await Deno.stat(Deno.execPath())).size;
  const embedded = await tailOf(new URL(OUTPUT.binary, ROOT), Math.floor(runtime / 2));
  const has = (text: string) => embedded.includes(text);
  // Names that only the program, only its worker and only the descriptor have.
  for (
    const text of ["ResourceSink/EstablishResourceStream", "LoadWorker", "subjectAltNames"]
  ) {
    assert(has(text), `${text} is not embedded`);
  }
  for (const text of ["fast-check", "class AssertionError extends", "Deno.test("]) {
    assert(!has(text), `${text} is embedded`);
  }
});

Deno.test("binary: where the runtime cannot be had, one line says what to set", async () => {
  const { success, stderr } = await withEnv(
    "DENORT_BIN",
    "/nowhere/denort",
    () =>
      new Deno.Command(Deno.execPath(), {
        args: ["task", "--quiet", "compile"],
        cwd: ROOT,
        stdin: "null",
      }).output(),
  );
  const text = new TextDecoder().decode(stderr).trimEnd();
  assertEquals(success, false);
  assertMatch(text, /^denort .* DENORT_BIN .*$/); // one line: `.` matches no line end
});

async function withEnv<T>(name: string, value: string, run: () => Promise<T>): Promise<T> {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  try {
    return await run();
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
}

/** What a file holds from `from` on, as Latin-1: every byte a character. */
async function tailOf(path: URL, from: number): Promise<string> {
  using file = await Deno.open(path);
  await file.seek(from, Deno.SeekMode.Start);
  const chunks: string[] = [];
  const latin = new TextDecoder("latin1");
  for await (const chunk of file.readable) chunks.push(latin.decode(chunk));
  return chunks.join("");
}
