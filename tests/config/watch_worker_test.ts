import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ConfigReader } from "../../lib/config/load.ts";
import { ConfigWatcher, type FsEvents } from "../../lib/config/watch.ts";
import { watchInWorker } from "../../lib/config/watch_worker.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

const text = (...names: string[]) =>
  "services:\n" +
  names.map((name) => `  - { name: ${name}, ports: [80], endpoints: [10.0.0.1] }\n`).join("");

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    assert(Date.now() < deadline, `waited in vain: ${what()}`);
    await delay(10);
  }
}

/** `testdata/watch_a_pipe.ts` and what it said. */
class Watching implements AsyncDisposable {
  said = "";
  readonly #process: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;

  constructor(folder: string, where: "thread" | "worker", poll: number) {
    const script = new URL("./testdata/watch_a_pipe.ts", import.meta.url).pathname;
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-read", "--allow-env", script, folder, where, String(poll)],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#stdin = this.#process.stdin.getWriter();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const part of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      this.said += part;
    }
  }

  async until(words: string): Promise<void> {
    await until(() => this.said.includes(words), () => `${words} in ${this.said}`);
  }

  async tell(words: string): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(`${words}\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // it has ended
    }
    await this.#process.status;
    await this.#reading;
    await this.#stdin.abort().catch(() => {});
  }
}

/** A poll that does not come within a test. Milliseconds. */
const NEVER = 3_600_000;

const isLinux = Deno.build.os === "linux";

Deno.test({
  name: "watch worker: a FIFO in a watched folder holds up nothing, neither changes nor the end",
  ignore: !isLinux,
  fn: async () => {
    using folder = new TempFolder();
    folder.write("c.yaml", text("a"));
    await using watching = new Watching(folder.path, "worker", 300);
    await watching.until("loaded a\n");
    folder.write("c.yaml", text("b"));
    await watching.until("loaded b\n");
    await makePipe(folder.at("pipe"));
    folder.write("c.yaml", text("c"));
    await watching.until("loaded c\n"); // by the poll; the worker is replaced then
    folder.write("c.yaml", text("d"));
    await watching.until("loaded d\n");
    await watching.tell("close");
    await watching.until("ended\n");
    assertMatch(watching.said, /closed\n(ticks\n)+ended\n$/, "its main thread went on");
  },
});

Deno.test({
  name: "watch worker: without it, a FIFO in a watched folder holds up the main thread for ever",
  ignore: !isLinux,
  fn: async () => {
    using folder = new TempFolder();
    folder.write("c.yaml", text("a"));
    await using watching = new Watching(folder.path, "thread", NEVER);
    await watching.until("loaded a\n");
    // There is no poll: once this is seen, events flow.
    await until(() => {
      folder.write("c.yaml", text("b"));
      return watching.said.includes("loaded b\n");
    }, () => watching.said);
    await makePipe(folder.at("pipe"));
    await delay(300);
    await watching.tell("close");
    let before = "";
    await until(async () => {
      before = watching.said;
      await delay(1000);
      return watching.said === before;
    }, () => watching.said);
    assert(!before.includes("ended"), "should it end, Deno has been mended and the worker can go");
  },
});

async function makePipe(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert(success);
}

const realWorker = () =>
  new Worker(new URL("./testdata/watching_worker.ts", import.meta.url), { type: "module" });

/** A worker of these few lines. */
function workerOf(code: string): Worker {
  return new Worker(`data:application/javascript,${encodeURIComponent(code)}`, { type: "module" });
}

/** Reads events until one is at a path. */
async function nextAt(events: AsyncIterator<{ readonly paths: readonly string[] }>, path: string) {
  while (true) {
    const { value, done } = await events.next();
    assert(!done, `events ended before one at ${path}`);
    if (value.paths.includes(path)) return;
  }
}

Deno.test("watch worker: what happens in any of the folders is told, from the moment it says so", async () => {
  using folder = new TempFolder();
  folder.write("one/a", "");
  folder.write("two/a", "");
  const events = watchInWorker({ createWorker: realWorker })([folder.at("one"), folder.at("two")]);
  assertEquals(await events.ready, true);
  const told = events[Symbol.asyncIterator]();
  for (const name of ["one/b", "two/b", "one/c"]) {
    await nextAt(told, folder.write(name, "x"));
  }
  events.close();
  while (!(await told.next()).done);
});

Deno.test("watch worker: a folder that cannot be watched is an error", async () => {
  const events = watchInWorker({ createWorker: realWorker })(["/no/such/folder"]);
  assertEquals(await events.ready, false);
  await assertRejects(() => events[Symbol.asyncIterator]().next(), Error, "/no/such/folder");
});

Deno.test("watch worker: one that cannot start is an error, and does not end the process", async () => {
  const createWorker = () => workerOf("throw new Error('broken worker')");
  const events = watchInWorker({ createWorker })(["/"]);
  assertEquals(await events.ready, false);
  await assertRejects(() => events[Symbol.asyncIterator]().next(), Error, "broken worker");
});

Deno.test("watch worker: one that gives no sign of life is an error, whether or not it watched", async () => {
  const mute = "onmessage = () => {}";
  const hung = "onmessage = () => { postMessage({ kind: 'watching' }); while (true); }";
  for (const [code, isReady] of [[mute, false], [hung, true]] as const) {
    const events = watchInWorker({ createWorker: () => workerOf(code), interval: 200 })(["/"]);
    const first = events[Symbol.asyncIterator]().next();
    assertEquals(await events.ready, isReady);
    await assertRejects(() => first, Error, "no sign of life");
  }
});

Deno.test("watch worker: one that answers lives on", async () => {
  const code = "onmessage = ({ data }) => postMessage({ kind: data.kind === 'ping' ? 'pong' : " +
    "'watching' }); setTimeout(() => postMessage({ kind: 'event', paths: ['/late'] }), 1500)";
  const events = watchInWorker({ createWorker: () => workerOf(code), interval: 100 })(["/"]);
  await nextAt(events[Symbol.asyncIterator](), "/late");
  events.close();
});

Deno.test("watch worker: closed, it is over at once, even before it began", async () => {
  const events = watchInWorker({ createWorker: () => workerOf("while (true);") })(["/"]);
  events.close();
  assertEquals(await events.ready, false);
  assertEquals((await events[Symbol.asyncIterator]().next()).done, true);
});

Deno.test("watch worker: events that nobody reads become one that says: somewhere", async () => {
  const code =
    "onmessage = () => { postMessage({ kind: 'watching' }); for (let i = 0; i < 5000; i++) " +
    "postMessage({ kind: 'event', paths: ['/p' + i] }); postMessage({ kind: 'failed', message: 'over' }) }";
  const events = watchInWorker({ createWorker: () => workerOf(code) })(["/"]);
  await events.ready;
  await delay(500);
  let count = 0;
  let isSomewhere = false;
  await assertRejects(
    async () => {
      for await (const { paths } of events) {
        count++;
        if (paths.length === 0) isSomewhere = true;
      }
    },
    Error,
    "over",
  );
  assert(isSomewhere && count <= 100, `${count} events`);
});

/** A watcher of one file, with events from a function, and how it fares. */
function watcherOf(config: string, watchFs: (folders: string[]) => FsEvents, poll: number) {
  const reader = new ConfigReader(config, { converter: PLAIN_CONVERTER, hostName: "test" });
  const state = { names: "", errors: [] as string[] };
  const load = () => {
    watcher.update(reader.load().watch);
    state.names = reader.services.map(({ service }) => service.name).join();
  };
  const watcher = new ConfigWatcher({
    quiet: 20,
    max: 200,
    poll,
    probe: () => Promise.resolve(reader.hasChanged()),
    onChange: load,
    onError: (error) => void state.errors.push(String(error)),
    watchFs,
  });
  load();
  return Object.assign(watcher, { state });
}

Deno.test("watch worker: a configuration is followed by a worker's events alone", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  await using watcher = watcherOf(config, watchInWorker({ createWorker: realWorker }), NEVER);
  // Written before the worker is there: it is looked for once it is.
  for (const name of ["b", "c", "d"]) {
    folder.write("c.yaml", text(name));
    await until(() => watcher.state.names === name, () => watcher.state.names);
  }
  assertEquals(watcher.state.errors, []);
});

Deno.test("watch worker: events are opened anew when a poll finds what none of them told", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  let opened = 0;
  let closed = 0;
  const silent = (): FsEvents => {
    opened++;
    const { promise, resolve } = Promise.withResolvers<IteratorResult<never>>();
    const close = () => {
      closed++;
      resolve({ done: true, value: undefined });
    };
    return { close, [Symbol.asyncIterator]: () => ({ next: () => promise }) };
  };
  {
    await using watcher = watcherOf(config, silent, 50);
    await until(() => opened === 1, () => `${opened} opened`);
    await delay(300);
    assertEquals([opened, closed], [1, 0], "as long as nothing changes, silence is right");
    folder.write("c.yaml", text("b"));
    await until(() => watcher.state.names === "b" && opened === 2, () => `${opened} opened`);
  }
  assertEquals(closed, opened);
});

Deno.test("watch worker: where workers fail again and again, they are tried more and more rarely", async () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", text("a"));
  let opened = 0;
  const failing = (): FsEvents => {
    opened++;
    const next = () => Promise.reject(new Error("no events here"));
    return { close() {}, ready: Promise.resolve(false), [Symbol.asyncIterator]: () => ({ next }) };
  };
  await using watcher = watcherOf(config, failing, 20);
  folder.write("c.yaml", text("b"));
  await until(() => watcher.state.names === "b", () => watcher.state.names);
  await delay(1000);
  assert(opened >= 3 && opened <= 9, `${opened} attempts in 50 polls`);
  assertEquals(watcher.state.errors, ["Error: no events here"]);
});
