import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigLoader } from "../../lib/config/loader.ts";
import type { LoadResult, PositionsResult } from "../../lib/config/messages.ts";
import { makeSeed } from "../../lib/config/seed.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

const REAL = new URL("./testdata/loading_worker.ts", import.meta.url);
const script = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);
const FAILING = script('addEventListener("message", () => { throw new Error("made to fail"); });');
const HANGING = script('addEventListener("message", () => { for (;;); });');
const start = (url: URL) => () => new Worker(url, { type: "module" });

const ONE = "services:\n  - name: orders\n    ports: [80/HTTP]\n    endpoints: [10.0.0.1]\n";

function entries(result: LoadResult): readonly string[] {
  return result.changes.find(({ kind }) => kind === "ServiceEntry")?.names ?? [];
}

Deno.test("loader: the first load holds everything, the next only what changed", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", ONE);
  await using loader = new ConfigLoader({ config, createWorker: start(REAL) });
  const first = await loader.load();
  assertEquals([first.ok, first.usable, first.full], [true, true, true]);
  assertEquals(entries(first), ["default/orders"]);
  const record = first.changes.find(({ kind }) => kind === "Service")!;
  const json = JSON.parse(new TextDecoder().decode(record.bytes.subarray(0, record.lengths[0])));
  assertEquals(json.file, "c.yaml");
  assertEquals(json.service.hosts, ["orders.default.svc.cluster.local"]);

  folder.write("c.yaml", `${ONE}  - name: bills\n    ports: [80]\n    endpoints: [10.0.0.2]\n`);
  assertEquals(await loader.probe(), true);
  const second = await loader.load();
  assertEquals([second.full, entries(second)], [false, ["default/bills"]]);
  assertEquals(await loader.probe(), false);
  assertEquals((await loader.load()).changes, []);
  const everything = await loader.load({ full: true });
  assertEquals(everything.full, true);
  assertEquals(entries(everything).length, 2);
});

Deno.test("loader: lines and columns follow the result", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", `${ONE}    prots: []\n`);
  const { promise, resolve } = Promise.withResolvers<PositionsResult>();
  await using loader = new ConfigLoader({
    config,
    createWorker: start(REAL),
    onPositions: resolve,
  });
  const result = await loader.load();
  assertEquals(result.usable, false);
  const positions = await promise;
  assertEquals(positions.id, result.id);
  assertEquals(positions.findings[0]?.position, { file: config, line: 5, column: 5 });
});

Deno.test("loader: a worker that dies is a finding and is replaced", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", ONE);
  let url = FAILING;
  await using loader = new ConfigLoader({ config, createWorker: () => start(url)() });
  const failed = await loader.load();
  assertEquals([failed.ok, failed.usable, failed.watch], [false, false, [config]]);
  assertEquals(failed.findings[0]?.rule, "config/worker");
  assertStringIncludes(failed.findings[0]!.message, "made to fail");
  assertEquals(loader.failures, 1);
  url = REAL;
  const next = await loader.load();
  assertEquals([next.usable, next.full, loader.failures], [true, true, 0]);
});

Deno.test("loader: a new worker starts from what is published, so a broken file loses nothing", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", ONE);
  await using first = new ConfigLoader({ config, createWorker: start(REAL) });
  const published = await first.load();
  const { names, versions, bytes } = published.changes.find(({ kind }) => kind === "Service")!;
  const record = { name: names[0]!, version: versions[0]!, bytes };

  folder.write("c.yaml", "services: [");
  const seed = () => makeSeed([record], published.settings!);
  await using second = new ConfigLoader({ config, createWorker: start(REAL), seed });
  const result = await second.load();
  assertEquals([result.ok, result.usable, result.full], [false, true, true]);
  assertEquals(result.kept, ["c.yaml"]);
  assertEquals(result.settings, published.settings);
  assertEquals(entries(result), ["default/orders"]);
});

Deno.test("loader: a worker that hangs is replaced when its time is over", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", ONE);
  let url = HANGING;
  await using loader = new ConfigLoader({
    config,
    createWorker: () => start(url)(),
    deadline: 2000,
  });
  const failed = await loader.load();
  assertStringIncludes(failed.findings[0]!.message, "no answer within 2 s");
  assertEquals(await loader.probe(), false, "polling does not try again at once");
  url = FAILING;
  const next = await loader.load();
  assertStringIncludes(next.findings[0]!.message, "made to fail", "another worker answered");
  assertEquals(loader.failures, 2);
});

Deno.test("loader: an aborted load rejects with the reason, and the next load holds everything", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", ONE);
  await using loader = new ConfigLoader({ config, createWorker: start(REAL) });
  await loader.load();
  const stop = new AbortController();
  const load = loader.load({ signal: stop.signal });
  stop.abort(new Error("changed my mind"));
  await assertRejects(() => load, Error, "changed my mind");
  folder.write("c.yaml", ONE.replace("orders", "bills"));
  const aborting = new AbortController();
  const running = loader.load({ signal: aborting.signal });
  await new Promise((resolve) => setTimeout(resolve, 0)); // it is on its way to the worker
  aborting.abort(new Error("again"));
  await assertRejects(() => running, Error, "again");
  const next = await loader.load();
  assertEquals([next.full, entries(next)], [true, ["default/bills"]]);
});

Deno.test("loader: once disposed it answers nothing more", async () => {
  using folder = new TempFolder();
  const loader = new ConfigLoader({
    config: folder.write("c.yaml", ONE),
    createWorker: start(REAL),
  });
  const running = loader.load();
  const rejected = assertRejects(() => running, DOMException, "closed");
  await loader[Symbol.asyncDispose]();
  await rejected;
  await assertRejects(() => loader.load(), DOMException, "closed");
});
