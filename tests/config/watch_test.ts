import { assert, assertEquals } from "@std/assert";
import { ConfigReader } from "../../lib/config/load.ts";
import { ConfigWatcher, type FsEvents, type WatcherOptions } from "../../lib/config/watch.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

/** Events alone: without polling that could stand in for them. */
const EVENTS_ALONE = { quiet: 20, max: 200, poll: 3_600_000 };

/** A file system that never says a word. */
function silence(): FsEvents {
  const { promise, resolve } = Promise.withResolvers<void>();
  const next = () => promise.then(() => ({ done: true as const, value: undefined }));
  return { close: resolve, [Symbol.asyncIterator]: () => ({ next }) };
}

const text = (...names: string[]) =>
  `services:${names.length === 0 ? " []" : ""}\n` +
  names.map((name) => `  - { name: ${name}, ports: [80], endpoints: [10.0.0.1] }\n`).join("");

/** A watched configuration, loaded at every change, as the program does it. */
class Watched implements AsyncDisposable {
  readonly reader: ConfigReader;
  readonly watcher: ConfigWatcher;
  readonly sinceTimes: number[] = [];
  loads = 0;
  readonly errors: unknown[] = [];

  constructor(config: string, options: Partial<WatcherOptions> = {}) {
    this.reader = new ConfigReader(config, { converter: PLAIN_CONVERTER, hostName: "test" });
    this.watcher = new ConfigWatcher({
      watchFs: (folders) => Deno.watchFs(folders, { recursive: false }),
      ...EVENTS_ALONE,
      probe: () => Promise.resolve(this.reader.hasChanged()),
      onError: (error) => void this.errors.push(error),
      onChange: (since) => {
        this.sinceTimes.push(since);
        this.load();
      },
      ...options,
    });
  }

  load(): void {
    this.loads++;
    this.watcher.update(this.reader.load().watch);
  }

  /** Waits until exactly these services are in effect. */
  async until(...names: string[]): Promise<void> {
    await this.#until(() => this.names.join() === names.join(), () => this.names.join());
  }

  /** Waits until it was loaded more often than this. */
  async untilLoaded(moreThan: number): Promise<void> {
    await this.#until(() => this.loads > moreThan, () => `${this.loads} loads`);
  }

  async #until(holds: () => boolean, found: () => string): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!holds()) {
      assert(Date.now() < deadline, `waited in vain: ${found()}`);
      await delay(10);
    }
  }

  get names(): string[] {
    return this.reader.services.map(({ service }) => service.name).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watcher[Symbol.asyncDispose]();
  }
}

/** Loads, and waits until events are really flowing. */
async function started(config: string, options?: Partial<WatcherOptions>): Promise<Watched> {
  const watched = new Watched(config, options);
  watched.load();
  await delay(100);
  return watched;
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("watch: a file saved in place", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a")));
  const before = Date.now();
  folder.write("c.yaml", text("a", "b"));
  await watched.until("a", "b");
  const since = watched.sinceTimes[0]!;
  assert(since >= before && since <= Date.now(), "the time is that of the first event");
});

Deno.test("watch: a file saved under another name and renamed over", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a")));
  for (const name of ["b", "c", "d"]) {
    Deno.renameSync(folder.write(".c.yaml.swp", text(name)), folder.at("c.yaml"));
    await watched.until(name);
  }
});

Deno.test("watch: a file deleted and made again", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a")));
  for (const name of ["b", "c"]) {
    const { loads } = watched;
    folder.remove("c.yaml");
    await watched.untilLoaded(loads);
    assertEquals(watched.names.length, 1, "what was good stays while the file is away");
    folder.write("c.yaml", text(name));
    await watched.until(name);
  }
});

Deno.test("watch: a file that is cut short keeps its services, and is seen when it is whole again", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a", "b")));
  Deno.truncateSync(folder.at("c.yaml"));
  await watched.untilLoaded(1);
  assertEquals(watched.names, ["a", "b"]);
  folder.write("c.yaml", text("a", "b", "c"));
  await watched.until("a", "b", "c");
});

Deno.test("watch: Kubernetes swaps the link of a mounted ConfigMap", async () => {
  using folder = new TempFolder();
  folder.write("mount/..1/c.yaml", text("a"));
  Deno.symlinkSync("..1", folder.at("mount/..data"));
  Deno.symlinkSync("..data/c.yaml", folder.at("mount/c.yaml"));
  await using file = await started(folder.at("mount/c.yaml"));
  await using whole = await started(folder.at("mount"));
  for (const [version, name] of [["..2", "b"], ["..3", "c"]] as const) {
    folder.write(`mount/${version}/c.yaml`, text(name));
    Deno.symlinkSync(version, folder.at("mount/..data_tmp"));
    Deno.renameSync(folder.at("mount/..data_tmp"), folder.at("mount/..data"));
    await file.until(name);
    await whole.until(name);
  }
});

Deno.test("watch: a folder on the way is a link that is turned to another release", async () => {
  using folder = new TempFolder();
  folder.write("releases/1/c.yaml", text("a"));
  folder.write("releases/2/c.yaml", text("b"));
  Deno.symlinkSync("releases/1", folder.at("current"));
  await using watched = await started(folder.at("current/c.yaml"));
  Deno.symlinkSync("releases/2", folder.at("next"));
  Deno.renameSync(folder.at("next"), folder.at("current"));
  await watched.until("b");
  await delay(100);
  folder.write("releases/2/c.yaml", text("c"));
  await watched.until("c");
});

Deno.test("watch: files come and go in an included folder, which goes and comes itself", async () => {
  using folder = new TempFolder();
  folder.write("services/a.yaml", text("a"));
  const config = folder.write("c.yaml", "include: [services/]\n");
  await using watched = await started(config);
  folder.write("services/b.yaml", text("b"));
  await watched.until("a", "b");
  folder.remove("services/a.yaml");
  await watched.until("b");
  const { loads } = watched;
  folder.remove("services");
  await watched.untilLoaded(loads);
  assertEquals(watched.names, ["b"], "a folder that is out of reach takes nothing along");
  folder.write("services/c.yaml", text("c"));
  await watched.until("c");
  await delay(100);
  folder.write("services/d.yaml", text("d"));
  await watched.until("c", "d");
});

Deno.test("watch: many saves a second are merged, but none waits longer than max", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a")), { quiet: 100, max: 300 });
  const start = Date.now();
  let count = 0;
  while (Date.now() - start < 1200) {
    folder.write("c.yaml", text(`n${++count}`));
    await delay(5);
  }
  await watched.until(`n${count}`);
  assert(watched.sinceTimes.length >= 3, `${watched.sinceTimes.length} reports`);
  assert(watched.sinceTimes.length <= 8, `${watched.sinceTimes.length} reports of ${count} saves`);
});

Deno.test("watch: without events polling finds changes, by content and not by time", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  const { mtime } = Deno.statSync(config);
  await using watched = await started(config, { poll: 30, watchFs: silence });
  folder.write("c.yaml", text("b"));
  Deno.utimeSync(config, mtime!, mtime!);
  await watched.until("b");
  const { loads } = watched;
  Deno.utimeSync(config, new Date(), new Date());
  await delay(150);
  assertEquals(watched.loads, loads, "another time alone is no change");
});

Deno.test("watch: where events cannot be had it says so once, and polls", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  const watchFs = () => {
    throw new Error("no watches are left");
  };
  await using watched = await started(config, { poll: 30, watchFs });
  folder.write("c.yaml", text("b"));
  await watched.until("b");
  await delay(100);
  assertEquals(watched.errors.map(String), ["Error: no watches are left"]);
});

Deno.test("watch: what else happens in the folder is no reason to load", async () => {
  using folder = new TempFolder();
  await using watched = await started(folder.write("c.yaml", text("a")));
  for (const name of ["notes.txt", ".c.yaml.swx", "4913", "other.yaml"]) folder.write(name, "x");
  await delay(150);
  assertEquals(watched.loads, 1);
});

Deno.test("watch: reports do not overlap, and a change during one is reported after it", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  let running = 0;
  let most = 0;
  let calls = 0;
  await using watched = new Watched(config, {
    onChange: async () => {
      most = Math.max(most, ++running);
      calls++;
      await delay(150);
      watched.load();
      running--;
    },
  });
  watched.load();
  await delay(100);
  folder.write("c.yaml", text("b"));
  await delay(80);
  folder.write("c.yaml", text("c"));
  await watched.until("c");
  assertEquals(most, 1);
  assert(calls <= 2, `${calls} calls`);
});

Deno.test("watch: nothing is reported once it is disposed", async () => {
  using folder = new TempFolder();
  const watched = await started(folder.write("c.yaml", text("a")));
  folder.write("c.yaml", text("b"));
  await watched[Symbol.asyncDispose]();
  const { loads } = watched;
  folder.write("c.yaml", text("c"));
  await delay(100);
  assertEquals(watched.loads, loads);
});
