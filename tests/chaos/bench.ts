/**
 * What the chaos run works on: a running Pinnace whose configuration changes every second, and honest
 * peers that must not notice what happens beside them.
 *
 * @module
 */
import { Pinnace } from "../interop/lib/pinnace.ts";
import { freePorts } from "../interop/lib/ports.ts";
import { type JsonLine, Process } from "../interop/lib/process.ts";
import { pause } from "../interop/lib/wait.ts";

/** One thing that had to hold. */
export interface Finding {
  readonly ok: boolean;
  readonly what: string;
}

/** How long and with which seed a scenario runs. */
export interface ScenarioOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly round: number;
}

/** What an honest peer reports. */
interface HonestReport {
  readonly name: string;
  readonly pushes: number;
  readonly ends: readonly string[];
  readonly revisions: readonly string[];
}

/** What the hostile sink reports of a session. */
interface SinkSession {
  readonly openedAt: number;
  readonly answered: boolean;
  readonly how?: string;
  readonly visible?: boolean;
  readonly failedAt?: number;
}

const SERVICES = 50;
/** Hostile sinks dialled at once. */
const SINKS = 6;
/** Of the sinks dialled here; the shortest that a test can wait for. Seconds. */
const HEARTBEAT = 3;
/** How soon a dial-out must be back. Milliseconds. */
const BACK = { visible: 10_000, silent: HEARTBEAT * 1000 + 10_000 };
const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/** A Pinnace under attack. */
export class Bench implements AsyncDisposable {
  readonly #pinnace: Pinnace;
  readonly #honest: Process;
  readonly #pid: number;
  readonly #ticking: Promise<void>;
  readonly #stop = new AbortController();
  #revision = 0;
  #asked = 0;
  /** Why there are no further revisions, if they ended by themselves. */
  #stalled: string | undefined;
  #sinkPorts: readonly number[] = [];

  private constructor(pinnace: Pinnace, honest: Process) {
    this.#pinnace = pinnace;
    this.#honest = honest;
    this.#pid = pinnace.process.pid;
    this.#ticking = this.#tick();
  }

  /** Starts Pinnace, then the honest peers, then the changes. */
  static async start(): Promise<Bench> {
    const pinnace = await Pinnace.start(configuration(0, []));
    const port = Number(pinnace.address.split(":")[1]);
    const honest = node("honest.mjs", { port });
    const bench = new Bench(pinnace, honest);
    await honest.expect("all honest peers are served", async () => {
      const reports = await bench.#reports();
      return reports.every((report) => report.pushes > 0);
    });
    return bench;
  }

  /** Runs a script that attacks the listener, to its end. */
  async abuse(script: string, { seconds, seed, round }: ScenarioOptions): Promise<Finding> {
    const port = Number(this.#pinnace.address.split(":")[1]);
    const process = node(script, { port, path: METHOD, seconds, seed });
    const { code } = await process.end((seconds + 60) * 1000);
    const [figures] = process.objects;
    const alive = this.#alive();
    return {
      ok: code === 0 && alive && figures !== undefined,
      what: `round ${round}: ${script}: ${JSON.stringify(figures)}${
        alive ? "" : "; " + this.#end()
      }`,
    };
  }

  /** Lets Pinnace dial sinks that fail in every way, and looks at how soon it is back at each. */
  async hostileSinks({ seconds, seed, round }: ScenarioOptions): Promise<Finding> {
    this.#sinkPorts = freePorts(SINKS);
    await using stack = new AsyncDisposableStack();
    const sinks = this.#sinkPorts.map((port, i) =>
      stack.use(node("hostile_sink.mjs", { port, seed: seed * SINKS + i }))
    );
    await pause(seconds * 1000);
    this.#sinkPorts = [];
    const sessions = sinks.map((sink) =>
      (sink.objects as unknown as SinkSession[]).filter((line) => line.openedAt !== undefined)
    );
    const end = Date.now();
    const openings = sinks.map(({ objects }) =>
      objects.map(({ opened }) => opened).filter((at) => typeof at === "number")
    );
    const late = sessions.flatMap((of, i) =>
      of.flatMap((one) => lateReturn(one, openings[i]!.find((at) => at > one.openedAt), end))
    );
    const failures = sessions.flat().filter(({ failedAt }) => failedAt !== undefined);
    const ways = new Set(failures.map(({ how }) => how));
    const alive = this.#alive();
    return {
      // A session is told of when it is over, so the last of a sink counts by its opening.
      ok: alive && late.length === 0 && openings.every((of) => of.length > 1),
      what: `round ${round}: hostile sinks, seed ${seed}: ${sessions.flat().length} sessions, ` +
        `${failures.length} failures of ${ways.size} kinds, late: ${JSON.stringify(late)}` +
        `${alive ? "" : "; " + this.#end()}`,
    };
  }

  /** Resident memory once the attack is over and settled. Bytes. */
  async settledMemory(): Promise<number> {
    return await settledMemoryOf(this.#pid);
  }

  /** Stops the changes and says what the honest peers saw of them. */
  async verdicts(): Promise<Finding[]> {
    this.#stop.abort();
    await this.#ticking;
    const last = revision(this.#revision);
    const seen = await this.#honest.expect("honest peers see the last revision", async () => {
      const reports = await this.#reports();
      return reports.every((report) => report.revisions.includes(last)) && reports;
    }).catch(() => this.#reports());
    const stalled = {
      ok: this.#stalled === undefined,
      what: `a change every second: ${this.#stalled ?? "all published"}`,
    };
    const expected = Array.from({ length: this.#revision }, (_, i) => revision(i + 1));
    return [
      stalled,
      ...seen.map(({ name, pushes, ends, revisions }) => {
        const missed = expected.filter((r) => !revisions.includes(r));
        return {
          ok: missed.length === 0 && ends.length === 0,
          what:
            `${name}: ${pushes} pushes, missed ${missed.length} of ${expected.length} revisions` +
            `${
              missed.length > 0 ? ` (${missed.slice(0, 5)})` : ""
            }, ended ${ends.length} times ${ends}`,
        };
      }),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ticking;
    await this.#honest[Symbol.asyncDispose]();
    await this.#pinnace[Symbol.asyncDispose]();
  }

  /**
   * A revision every second, until stopped or until Pinnace is gone. The next is written only once the
   * last is published: on a busy machine two saves may become one load, and what was never published
   * can be missed by nobody.
   */
  async #tick(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#alive()) {
      const { process } = this.#pinnace;
      const from = process.objects.length;
      this.#revision++;
      await this.#pinnace.write(configuration(this.#revision, this.#sinkPorts));
      try {
        const isPublished = (line: JsonLine) => line.msg === "published";
        const what = `revision ${this.#revision} is published`;
        await Promise.all([process.expectObject(what, isPublished, { from }), pause(1000)]);
      } catch (error) {
        this.#stalled = error instanceof Error ? error.message : String(error);
        return;
      }
    }
  }

  async #reports(): Promise<readonly HonestReport[]> {
    const number = ++this.#asked;
    await this.#honest.say("report");
    const { peers } = await this.#honest.expectObject(
      `report ${number}`,
      (line) => line.number === number,
    );
    return peers as readonly HonestReport[];
  }

  #alive(): boolean {
    return this.#pinnace.process.ended === undefined && this.#pinnace.process.pid === this.#pid;
  }

  #end(): string {
    return this.#pinnace.process.describe();
  }
}

/** `end`: when looking ended. A link that was not back by then is late as well, if its time was over. */
function lateReturn(session: SinkSession, next: number | undefined, end: number): string[] {
  if (session.failedAt === undefined) return [];
  const took = (next ?? end) - session.failedAt;
  const inTime = took <= (session.visible ? BACK.visible : BACK.silent);
  return inTime ? [] : [`${session.how}: ${next === undefined ? "never back in" : ""} ${took} ms`];
}

function revision(n: number): string {
  return `rev-${String(n).padStart(6, "0")}`;
}

function configuration(n: number, sinkPorts: readonly number[]) {
  const services = Array.from({ length: SERVICES }, (_, i) => ({
    name: `service-${i}`,
    ports: ["80:8080/HTTP"],
    endpoints: [{ address: `192.0.2.${i + 1}`, labels: i === 0 ? { revision: revision(n) } : {} }],
  }));
  const sinks = sinkPorts.map((port) => ({
    name: `hostile-${port}`,
    address: `127.0.0.1:${port}`,
    heartbeat: `${HEARTBEAT}s`,
  }));
  // At debug level, the log of every abuse would fill this process.
  return { services, sinks, log: { level: "info", format: "json" } };
}

/** Resident memory of a process. Bytes. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

/**
 * The least resident memory of a process within half a minute from five seconds on: what it needs, not
 * what it has not yet given back. Bytes.
 */
export async function settledMemoryOf(pid: number): Promise<number> {
  await pause(5000);
  let least = await memoryOf(pid);
  for (let second = 0; second < 25; second++) {
    await pause(1000);
    least = Math.min(least, await memoryOf(pid));
  }
  return least;
}

/** Runs a script of this folder, with these options on its command line. */
export function node(script: string, options: Readonly<Record<string, string | number>>): Process {
  const path = new URL(script, import.meta.url).pathname;
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return Process.start({ name: script, command: "node", args: [path, ...args] });
}
