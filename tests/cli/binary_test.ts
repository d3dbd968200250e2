import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundle, compile, PERMISSIONS } from "../../scripts/compile.ts";
import { freePort } from "../interop/lib/ports.ts";
import { folder } from "./command.ts";
import { readEmbedded } from "./embedded.ts";
import { smoke } from "./smoke.ts";

const ROOT = new URL("../../", import.meta.url);

/** Finds nothing but what it is given. */
const ALONE = ["--no-config", "--no-lock", "--no-remote", "--no-npm", "--cached-only"];

Deno.test("binary: one module is the whole program, and all that is compiled", async (t) => {
  await using dir = await folder({});
  const bundled = `${dir.path}/pinnace.js`;
  const built = await bundle(bundled);
  assert(built.ok, built.output);
  const program = await Deno.readTextFile(bundled);

  await t.step("it holds program, worker and descriptor, no tests, nothing of tests", () => {
    const modules = [...program.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, name]) => name!);
    for (const name of ["main.ts", "lib/config/worker.ts", "proto/descriptor.ts"]) {
      assert(modules.includes(name), `${name} is not in it`);
    }
    const known = /^(main\.ts|lib\/|proto\/descriptor\.ts$|vendor\/std_log\/|npm:)/;
    assertEquals(modules.filter((name) => !known.test(name)), []);
    assertEquals(modules.filter((name) => /^npm:(fast-check|[^/]*assert)/.test(name)), []);
    assertEquals(program.match(/from "node:(assert|test)[^"]*"/g), null);
    const imported = [...program.matchAll(/^import .* from "([^"]+)";$/gm)].map(([, of]) => of!);
    assert(imported.length > 5);
    assertEquals(imported.filter((of) => !of.startsWith("node:")), []);
  });

  await t.step("it does all that the source does, from an empty folder, offline", async () => {
    await smoke({
      command: Deno.execPath(),
      args: ["run", "--no-prompt", ...ALONE, ...PERMISSIONS, bundled],
      cwd: dir.path,
      env: { DENO_DIR: `${dir.path}/cache` },
    });
  });

  await t.step("compiled, nothing else is embedded, and least is allowed", async () => {
    const binary = `${dir.path}/pinnace`;
    // Deno itself stands in for the runtime that is to be fetched; what is embedded is the same.
    const made = await compile(bundled, binary, {
      env: { ...Deno.env.toObject(), DENORT_BIN: Deno.execPath() },
    });
    assert(made.ok, made.output);
    const runtime = (await Deno.stat(Deno.execPath())).size;
    const { files, permissions } = await readEmbedded(binary, runtime);
    assertEquals([...files.keys()], ["pinnace.js"]);
    assert(files.get("pinnace.js") === program, "the bundle is embedded as it is");
    const allowed = Object.entries(permissions)
      .filter(([name, value]) => name.startsWith("allow_") && value !== null);
    assertEquals(Object.fromEntries(allowed.filter(([name]) => name !== "allow_import")), {
      allow_env: [],
      allow_net: [],
      allow_read: [],
      allow_write: [],
      allow_sys: ["hostname"],
    });
    assertEquals([permissions["deny_import"], permissions["prompt"]], [[], false]);
  });
});

Deno.test("binary: where DENORT_BIN names no file, one line says so, exit code 1", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "compile"],
    cwd: ROOT,
    env: { DENORT_BIN: "/nowhere/denort" },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  assertEquals([code, text.decode(stdout)], [1, ""]);
  assertMatch(text.decode(stderr), /^DENORT_BIN is \/nowhere\/denort, .* denort [\d.]+\n$/);
});

Deno.test("binary: where the runtime cannot be had, one line says which and names DENORT_BIN", async () => {
  await using dir = await folder({ "tiny.js": "console.log(1);", "denort": "not a program" });
  const [tiny, to] = [`${dir.path}/tiny.js`, `${dir.path}/tiny`];
  const proxy = `http://127.0.0.1:${freePort()}`; // nobody is there
  const { DENORT_BIN: _, ...env } = Deno.env.toObject();
  const offline = { DENO_DIR: `${dir.path}/cache`, HTTPS_PROXY: proxy, https_proxy: proxy };
  const unfetched = await compile(tiny, to, { env: { ...env, ...offline } });
  const version = Deno.version.deno.replaceAll(".", "\\.");
  assertEquals(unfetched.ok, false);
  assertMatch(
    unfetched.output,
    new RegExp(`^denort ${version} cannot be fetched \\(.+\\); set DENORT_BIN to a local .*\\n$`),
  );
  const junk = await compile(tiny, to, { env: { ...env, DENORT_BIN: `${dir.path}/denort` } });
  assertEquals(junk.ok, false);
  assertMatch(junk.output, /^DENORT_BIN is .*\/denort, which is not usable \(.+\); .*\n$/);
});
