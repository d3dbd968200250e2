import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type AdminServer, openAdmin } from "../../lib/admin/http.ts";
import { type Status, statusSchema } from "../../lib/admin/status.ts";
import { type StatusOptions, statusUntil } from "../../lib/cli/status.ts";
import { until } from "../interop/lib/wait.ts";
import { status } from "../admin/statuses.ts";
import { folder, pinnace, startPinnace } from "./command.ts";
import { KeptScreen } from "./probed_server.ts";

const TOKEN = "t".repeat(64);

/** An admin listener that shows what `shown` gives. */
function admin(shown: () => Status, host = "127.0.0.1", port = 0): AdminServer {
  return openAdmin({
    host,
    port,
    token: { kind: "token", text: TOKEN },
    sources: {
      health: () => ({ ok: true }),
      ready: () => ({ ok: true }),
      metrics: () => Promise.resolve(""),
      status: shown,
      events: () => [],
      snapshots: () => Promise.resolve([]),
      confirm: () => ({ ok: true }),
    },
  });
}

/** The command under way. */
function start(options: Partial<StatusOptions>, out = new KeptScreen()) {
  const err = new KeptScreen();
  const told = new AbortController();
  const all: StatusOptions = { format: "text", watch: false, verbose: false, ...options };
  const code = statusUntil(all, { out, err }, told.signal);
  return { out, err, told, code };
}

Deno.test("status: a table, or JSON as the schema says", async () => {
  await using server = admin(status);
  const table = start({ admin: server.address });
  assertEquals([await table.code, table.err.text], [0, ""]);
  assertMatch(table.out.text, /^edge-1 .*\nsnapshot [^]*\nPEERS\nADDRESS /);
  const json = start({ admin: server.address, format: "json" });
  assertEquals(await json.code, 0);
  assertEquals(statusSchema.parse(JSON.parse(json.out.text)), status());
});

Deno.test("status: where nobody answers, or somebody else, it says so and gives 1", async () => {
  using gone = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${gone.addr.port}`;
  gone.close();
  const nobody = start({ admin: address });
  assertEquals([await nobody.code, nobody.out.text], [1, ""]);
  assertStringIncludes(nobody.err.text, `error: no Pinnace answers on ${address}: `);
  await using other = admin(() => ({ version: "9" }) as Status);
  const another = start({ admin: other.address });
  assertEquals(await another.code, 1);
  assertStringIncludes(another.err.text, "is no Pinnace of this version");
  const wrong = start({ admin: "localhost" });
  assertEquals([await wrong.code, wrong.err.text], [1, "error: localhost is not host:port\n"]);
});

Deno.test("status: off loopback the token comes from --token-file, or from the store", async () => {
  await using dir = await folder({ "admin.token": `${TOKEN}\n`, "other": "no" });
  await using server = admin(status, "0.0.0.0");
  const at = `127.0.0.1:${server.address.split(":").at(-1)}`;
  for (const where of [{ tokenFile: `${dir.path}/admin.token` }, { store: dir.path }]) {
    assertEquals(await start({ admin: at, ...where }).code, 0);
  }
  const without = start({ admin: at });
  assertEquals(await without.code, 1);
  assertMatch(without.err.text, /needs `authorization.*say --store or --token-file/);
  const missing = start({ admin: at, tokenFile: `${dir.path}/nope` });
  assertEquals(await missing.code, 1);
  assertMatch(missing.err.text, /nope is not there/);
});

Deno.test("status: on a terminal a watch draws in place, cut to its size, and leaves it as it was", async () => {
  let shown = status();
  await using server = admin(() => shown);
  const screen = new KeptScreen({ isTerminal: true, columns: 60, rows: 8 });
  const { out, told, code } = start({ admin: server.address, watch: true }, screen);
  await until("the first frame", () => out.text.includes("more lines"));
  assert(out.text.startsWith("\x1b[?1049h\x1b[?25l\x1b[H"), JSON.stringify(out.text));
  shown = { ...shown, instance: "edge-2" };
  await until("the next", () => out.text.includes("\x1b[H\x1b[Kedge-2"));
  told.abort();
  assertEquals(await code, 0);
  assert(out.text.endsWith("\x1b[?25h\x1b[?1049l"), JSON.stringify(out.text));
  const frames = out.text.split("\x1b[H").slice(1);
  for (const frame of frames) {
    const lines = frame.split("\x1b[J")[0]!.split("\n");
    assertEquals(lines.length, 8);
    for (const line of lines) assert(line.replace("\x1b[K", "").length <= 60, line);
  }
});

Deno.test("status: on a small terminal a watch shows each section, however many peers there are", async () => {
  const [peer] = status().peers;
  const peers = Array.from({ length: 200 }, (_, key) => ({ ...peer!, key }));
  await using server = admin(() => ({ ...status(), peers }));
  const screen = new KeptScreen({ isTerminal: true, columns: 80, rows: 24 });
  const { out, told, code } = start({ admin: server.address, watch: true }, screen);
  await until("the first frame", () => out.text.includes("CHANGES"));
  for (const title of ["PEERS  … 198 more", "SINKS", "SOURCES"]) {
    assertStringIncludes(out.text, title);
  }
  told.abort();
  assertEquals(await code, 0);
});

Deno.test("status: elsewhere a watch says what changed, and nothing when only time passes", async () => {
  let shown = status();
  let asked = 0;
  await using server = admin(() => {
    asked++;
    const [peer] = shown.peers;
    const [sink] = shown.sinks;
    const state = asked % 2 === 0 ? "dialling" : "waiting";
    const links = sink!.links.slice(1).map((
      link,
    ) => ({ ...link, state, attempts: asked } as const));
    return {
      ...shown,
      peers: [{ ...peer!, bytesSent: asked, oldestUnackedMs: asked }],
      sinks: [{ ...sink!, links }],
    };
  });
  const { out, told, code } = start({ admin: server.address, watch: true });
  await until("it looked again", () => asked >= 3);
  assertEquals(out.text.match(/^edge-1/gm)?.length, 1);
  shown = { ...shown, instance: "edge-2" };
  await until("the change", () => /^edge-2/m.test(out.text));
  told.abort();
  assertEquals(await code, 0);
  assert(!out.text.includes("\x1b"));
});

Deno.test("status: a watch outlives the process it watches, and says that it is away", async () => {
  const server = admin(status);
  const { address } = server;
  const { out, told, code } = start({ admin: address, watch: true, format: "json" });
  await until("the first", () => out.text.includes("\n"));
  await server[Symbol.asyncDispose]();
  await until("it is away", () => out.text.includes('{"error":"no Pinnace answers on'));
  await using _ = admin(status, "127.0.0.1", Number(address.split(":")[1]));
  await until("it is back", () => out.text.trim().split("\n").length >= 3);
  told.abort();
  assertEquals(await code, 0);
  for (const line of out.text.trim().split("\n")) JSON.parse(line);
});

Deno.test("status: a watch ends when nobody reads it any more", async () => {
  let shown = status();
  await using server = admin(() => shown);
  for (const format of ["text", "json"] as const) {
    const { out, err, code } = start({ admin: server.address, watch: true, format });
    await until("the first", () => out.text.includes("\n"));
    out.leave();
    shown = { ...shown, instance: `${shown.instance}-again` };
    assertEquals([await code, err.text], [0, ""]);
  }
});

Deno.test("status: a watch whose pipe is closed at the other end ends", async () => {
  let shown = status();
  await using server = admin(() => shown);
  const process = await startPinnace("status", "--watch", "--admin", server.address);
  const reader = process.stdout.getReader();
  await reader.read();
  await reader.cancel();
  shown = { ...shown, instance: "edge-2" };
  const late = setTimeout(() => process.kill(), 30_000);
  const { code, signal } = await process.status;
  clearTimeout(late);
  assertEquals([code, signal], [0, null]);
});

Deno.test("status: told to stop, it waits for no answer", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silent.accept();
  const { told, code } = start({ admin: `127.0.0.1:${silent.addr.port}`, watch: true });
  using _ = await accepted;
  const began = performance.now();
  told.abort();
  assertEquals(await code, 1);
  assert(performance.now() - began < 5000);
});

Deno.test("snapshots: what the guard holds back of ourselves and of sources is listed, fit for a terminal", async () => {
  const shown = status();
  const [edge] = shown.sources;
  await using server = admin(() => ({ ...shown, sources: [{ ...edge!, name: "edge\x1b[2J" }] }));
  const { code, stdout } = await pinnace("snapshots", "list", "--admin", server.address);
  assertEquals([code, stdout.split("\n")], [0, [
    "held  held back: it would remove too much",
    "h1  held back, of edge\\u{1b}[2J: it would remove too much",
    "",
  ]]);
});
