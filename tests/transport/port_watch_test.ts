import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import net from "node:net";
import { listen } from "../../lib/transport/listener.ts";
import { connectionsThatFit } from "../../lib/transport/open_files.ts";
import { PortWatch, type PortWatchOptions } from "../../lib/transport/port_watch.ts";
import { PREFACE } from "./frames.ts";
import { now, RawPeer, until } from "./sockets.ts";

/** A port that can be deaf: connections still succeed, but nobody takes them. */
class Bench implements AsyncDisposable {
  readonly said: string[] = [];
  readonly admitted: net.Socket[] = [];
  readonly #sockets: net.Socket[] = [];
  readonly server: net.Server;
  readonly watch: PortWatch;
  deaf = false;
  reopen = () => {
    this.said.push("reopen");
    this.deaf = false;
    return Promise.resolve();
  };

  private constructor(server: net.Server, options: Partial<PortWatchOptions>) {
    this.server = server;
    const { port } = server.address() as net.AddressInfo;
    this.watch = new PortWatch({
      address: { host: "127.0.0.1", port },
      admit: (socket) => void this.admitted.push(socket),
      reopen: () => this.reopen(),
      dead: () => void this.said.push("dead"),
      revived: () => void this.said.push("revived"),
      every: 10,
      deadline: 50,
      ...options,
    });
    server.on("connection", (socket) => {
      this.#sockets.push(socket.on("error", () => {}));
      if (!this.deaf) this.watch.take(socket);
    });
  }

  static async start(options: Partial<PortWatchOptions> = {}): Promise<Bench> {
    const server = net.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Bench(server, options);
  }

  /** Connections that are open, probes included. */
  get open(): number {
    return this.#sockets.filter((socket) => !socket.closed).length;
  }

  /** How often anybody connected. */
  get connected(): number {
    return this.#sockets.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch[Symbol.asyncDispose]();
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await until(() => this.open === 0, "every socket is closed");
  }
}

Deno.test("port watch: a port that accepts is left alone, and sees nothing of being watched", async () => {
  await using bench = await Bench.start();
  await until(() => bench.connected > 5, "it was dialled a few times");
  assertEquals([bench.said, bench.admitted.length, bench.watch.alive], [[], 0, true]);
  await using peers = new AsyncDisposableStack();
  const ports: (number | undefined)[] = [];
  for (let i = 0; i < 20; i++) { // some of them while it is being dialled
    const peer = peers.use(new RawPeer((bench.server.address() as net.AddressInfo).port));
    await until(() => !peer.socket.connecting, "connected");
    ports.push(peer.socket.localPort);
  }
  await until(() => bench.admitted.length === 20, "all others come in");
  assertEquals(bench.admitted.map((socket) => socket.remotePort).sort(), ports.sort());
});

Deno.test("port watch: a port that accepts nobody is opened anew, once two connections were missed", async () => {
  await using bench = await Bench.start();
  bench.deaf = true;
  await until(() => bench.said.length === 3, "revived");
  assertEquals(bench.said, ["dead", "reopen", "revived"]);
  assert(bench.watch.alive);
});

Deno.test("port watch: where opening it anew fails it is dead until that succeeds", async () => {
  await using bench = await Bench.start();
  let failures = 0;
  const mend = bench.reopen;
  bench.reopen = () => ++failures < 3 ? Promise.reject(new Error("no files")) : mend();
  bench.deaf = true;
  await until(() => failures === 1, "it was tried");
  assert(!bench.watch.alive);
  await until(() => bench.watch.alive, "revived");
  assertEquals(bench.said, ["dead", "reopen", "revived"]);
});

Deno.test("port watch: it ends at once, in the middle of a connection too", async () => {
  await using bench = await Bench.start({ deadline: 600_000 });
  bench.deaf = true;
  await until(() => bench.connected > 0, "it is being dialled");
});

Deno.test("listener: it is alive until it is closed, and stays open while it is watched", async () => {
  let injected = 0;
  const listener = await listen({ host: "0.0.0.0", port: 0 }, {
    inject: (gate) => {
      injected++;
      gate.destroy();
    },
  }, { now, watchEvery: 5, prefaceDeadline: 20, hooks: { refused: () => injected = -1000 } });
  assert(listener.alive);
  for (let i = 1; i <= 5; i++) {
    await using peer = new RawPeer(listener.address.port);
    peer.socket.write(PREFACE);
    await until(() => injected === i, "handed over");
    await until(() => peer.closed, "closed");
  }
  await listener[Symbol.asyncDispose]();
  assert(!listener.alive);
});

Deno.test("listener: a process that ran out of files accepts again when there are some", async () => {
  await using process = await OutOfFiles.start("uncapped", 64);
  const crowd = Array.from({ length: 80 }, () => new RawPeer(process.port));
  await until(() => crowd.every(({ socket }) => !socket.connecting), "the kernel took them");
  for (const peer of crowd) await peer[Symbol.asyncDispose]();
  await until(() => process.said.includes("revived"), "revived", 20_000);
  assertEquals(process.said.filter((line) => line !== "revived"), ["dead"]);
  await using peer = new RawPeer(process.port);
  peer.socket.write(PREFACE);
  await until(() => peer.closed, "accepted, and closed by the server");
});

Deno.test("listener: with the cap it has by default a process does not run out of files", async () => {
  await using process = await OutOfFiles.start("capped", 400);
  const crowd = Array.from({ length: 400 }, () => new RawPeer(process.port));
  await until(
    () => crowd.filter(({ closed }) => closed).length === 192,
    "the others are turned away",
  );
  assertEquals(new Set(process.said), new Set(["refused connections"]));
  for (const peer of crowd) await peer[Symbol.asyncDispose]();
  await using peer = new RawPeer(process.port);
  peer.socket.write(PREFACE);
  await until(() => peer.closed, "accepted, and closed by the server");
});

Deno.test("open files: the cap leaves room for what is no connection, and is none where nothing is known", () => {
  const limits = (soft: string) => () =>
    `Limit\nMax open files            ${soft}   4096   files\n`;
  assertEquals(connectionsThatFit(limits("64")), 16);
  assertEquals(connectionsThatFit(limits("256")), 64);
  assertEquals(connectionsThatFit(limits("20000")), 18_000);
  assertEquals(connectionsThatFit(limits("unlimited")), Infinity);
  assertEquals(connectionsThatFit(() => "nothing of the kind"), Infinity);
  assertEquals(
    connectionsThatFit(() => {
      throw new Deno.errors.NotCapable("no");
    }),
    Infinity,
  );
});

/** A process with a port and few files. */
class OutOfFiles implements AsyncDisposable {
  readonly said: string[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  port = 0;

  private constructor(mode: string, files: number) {
    const script = new URL("./out_of_files.ts", import.meta.url).pathname;
    const deno = `"${Deno.execPath()}" run --quiet --no-check --allow-all "${script}" ${mode}`;
    this.#child = new Deno.Command("sh", {
      args: ["-c", `ulimit -n ${files}; exec ${deno}`],
      stdout: "piped",
    }).spawn();
    this.#reading = this.#read();
  }

  static async start(mode: string, files: number): Promise<OutOfFiles> {
    const process = new OutOfFiles(mode, files);
    await until(() => process.port > 0, "it listens", 20_000);
    return process;
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith("port ")) this.port = Number(line.slice(5));
        else this.said.push(line);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
  }
}
