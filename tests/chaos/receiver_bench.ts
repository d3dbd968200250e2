/**
 * What sources are let loose on: two receivers, one whose port is plaintext and one whose is TLS, two
 * honest edges that dial both, and honest peers of each that must see every revision of either edge.
 *
 * @module
 */
import { Pinnace, type PinnaceConfig } from "../interop/lib/pinnace.ts";
import { freePorts } from "../interop/lib/ports.ts";
import { until } from "../interop/lib/wait.ts";
import { type Finding, node, type ScenarioOptions, settledMemoryOf } from "./bench.ts";
import { Edge } from "./honest_edge.ts";
import { Papers } from "./papers.ts";
import { HONEST_PEERS, isAlive, type Served, witnessOf } from "./witness.ts";

/** Limits of the receivers, and what hostile sources know of them. Bytes. */
const LIMIT = 16 * 1024 * 1024;

/** How soon a change must have arrived once the attack is over. Milliseconds. */
const SOON = 2000;

/** How late the event loop may be at worst, under attack. Seconds. */
const LATEST = 2;

/** Who has a certificate and abuses it. */
const HOSTILE = ["hostile-1", "hostile-2", "hostile-3", "hostile-4"] as const;

/** As many sources as are ever known. */
const MOST_SOURCES = 1000;

const RESOURCE_SINK = "/istio.mcp.v1alpha1.ResourceSink/EstablishResourceStream";

/** A receiver under attack, with the honest peers that it serves. */
interface Target extends Served {
  readonly name: "plaintext" | "TLS";
  /** Of its ResourceSink. */
  readonly port: number;
}

/** A source as the status shows it. */
interface SourceStatus {
  readonly name: string;
  readonly state: string;
}

/** Receivers under attack. */
export class ReceiverBench implements AsyncDisposable {
  readonly #papers: Papers;
  readonly #targets: readonly Target[];
  readonly #edges: readonly Edge[];
  readonly #held: AsyncDisposableStack;

  private constructor(
    papers: Papers,
    { targets, edges, held }: {
      readonly targets: readonly Target[];
      readonly edges: readonly Edge[];
      readonly held: AsyncDisposableStack;
    },
  ) {
    this.#papers = papers;
    this.#targets = targets;
    this.#edges = edges;
    this.#held = held;
  }

  /** Starts receivers, edges and honest peers; resolves once everybody has everything. */
  static async start(): Promise<ReceiverBench> {
    await using opened = new AsyncDisposableStack();
    const papers = opened.use(await Papers.create());
    const [plain, secure] = freePorts(2);
    const targets = [
      await startTarget("plaintext", plain!, receivePlain(plain!, papers), opened),
      await startTarget("TLS", secure!, receiveTls(secure!, papers), opened),
    ];
    const witness = witnessOf(targets);
    const edges: Edge[] = [];
    for (const number of [1, 2] as const) {
      const sinks = [
        { name: "plain", address: `127.0.0.1:${plain}`, tokenFile: papers.tokenOf(number) },
        { name: "secure", address: `127.0.0.1:${secure}`, tls: papers.folderOf(`edge-${number}`) },
      ];
      edges.push(opened.use(await Edge.start(number, sinks, witness)));
    }
    await Promise.all(edges.map((edge) => edge.settled()));
    const held = opened.move();
    return new ReceiverBench(papers, { targets, edges, held });
  }

  /** Lets every kind of hostile source loose, all at once. */
  async attack({ seconds, seed, round }: ScenarioOptions): Promise<Finding[]> {
    const [plain, secure] = this.#targets.map(({ port }) => port);
    const folders = HOSTILE.map((name) => this.#papers.folderOf(name));
    const [visitor, strange] = [this.#papers.folderOf("visitor"), this.#papers.folderOf("strange")];
    const common = { seconds, seed };
    const more = { ...common, limit: LIMIT, victims: "edge-1,edge-2" };
    const scripts = [
      ["hostile_source.mjs", { port: plain!, ...more }],
      ["hostile_source.mjs", { port: secure!, ...more, tls: folders.join() }],
      ["hostile_handshake.mjs", { port: secure!, ...common, tls: visitor, strange }],
      ["frame_fuzz.mjs", { port: plain!, ...common, path: RESOURCE_SINK }],
    ] as const;
    return await Promise.all(scripts.map(async ([script, options]) => {
      const process = node(script, options);
      const { code } = await process.end((seconds + 60) * 1000);
      const figures = process.objects.at(-1);
      const ended = this.#targets.filter((one) => !isAlive(one));
      return {
        ok: code === 0 && figures !== undefined && ended.length === 0,
        what: `round ${round}: ${script}${"tls" in options ? " (TLS)" : ""}: ${
          figures === undefined ? process.describe() : JSON.stringify(figures)
        }${ended.map(({ pinnace }) => `; ${pinnace.process.describe()}`).join("")}`,
      };
    }));
  }

  /** What must be so once an attack is over. */
  async aftermath(round: number): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const edge of this.#edges) {
      const took = await edge.change();
      findings.push({
        ok: took !== undefined && took <= SOON,
        what: `round ${round}: edge ${edge.number}: a change after the attack is everywhere ` +
          `${took === undefined ? "never" : `after ${took} ms`}, at most ${SOON}`,
      });
    }
    for (const target of this.#targets) findings.push(...await this.#look(target, round));
    return findings;
  }

  /** Resident memory of each receiver once the attack is over and settled. Bytes. */
  async settledMemory(): Promise<number[]> {
    return await Promise.all(this.#targets.map(({ pid }) => settledMemoryOf(pid)));
  }

  /** Stops the changes and says what became of them. */
  async verdicts(): Promise<Finding[]> {
    return await Promise.all(this.#edges.map((edge) => edge.verdict()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#held.disposeAsync();
  }

  async #look({ name, pinnace, port }: Target, round: number): Promise<Finding[]> {
    const of = `round ${round}: ${name} port`;
    const expected = name === "TLS"
      ? ["spiffe://example.org/edge-1", "spiffe://example.org/edge-2"]
      : ["edge-1", "edge-2"];
    let connected: readonly SourceStatus[] = [];
    let [known, sockets] = [0, 0];
    await until(`${of}: only the edges are connected`, async () => {
      const { sources } = await pinnace.status() as { sources: readonly SourceStatus[] };
      known = sources.length;
      connected = sources.filter(({ state }) => state === "connected");
      sockets = await socketsOf(port);
      return connected.length === expected.length && sockets === expected.length;
    }, { deadline: 10_000 }).catch(() => {}); // what it came to is judged below
    const metrics = await pinnace.metrics();
    const late = metrics.sum("pinnace_event_loop_delay_seconds");
    const names = connected.map((source) => source.name).sort();
    const streams = (await pinnace.status() as { peers: readonly unknown[] }).peers.length;
    return [
      {
        ok: String(names) === String(expected) && streams === HONEST_PEERS &&
          sockets === expected.length,
        what: `${of}: live afterwards: ${names}, ${sockets} sockets; ${streams} peers`,
      },
      {
        ok: known <= MOST_SOURCES,
        what: `${of}: ${known} sources known, at most ${MOST_SOURCES}`,
      },
      {
        ok: late <= LATEST,
        what: `${of}: event loop late by ${late.toFixed(3)} s at worst, at most ${LATEST}`,
      },
    ];
  }
}

async function startTarget(
  name: Target["name"],
  port: number,
  receive: Readonly<Record<string, unknown>>,
  opened: AsyncDisposableStack,
): Promise<Target> {
  // At info level, the log of every abuse would fill this process.
  const log = { level: "error", format: "json" };
  const config: PinnaceConfig = { instance: `receiver-${name}`, services: [], receive, log };
  const pinnace = opened.use(await Pinnace.start({ ...config, limits: { message: "16MiB" } }));
  const listen = Number(pinnace.address.split(":")[1]);
  const honest = opened.use(node("honest.mjs", { port: listen }));
  return { name, pinnace, pid: pinnace.process.pid, port, honest };
}

function receivePlain(port: number, papers: Papers) {
  return {
    address: `127.0.0.1:${port}`,
    tokens: { "edge-1": papers.tokenOf(1), "edge-2": papers.tokenOf(2) },
    from: ["edge-1", "edge-2", { source: "*", namespaces: ["hostile"] }],
  };
}

function receiveTls(port: number, papers: Papers) {
  return {
    address: `127.0.0.1:${port}`,
    tls: papers.folderOf("receiver"),
    from: [
      "spiffe://example.org/edge-1",
      "spiffe://example.org/edge-2",
      "spiffe://example.org/visitor",
      { source: "*hostile-*", namespaces: ["hostile"] },
    ],
  };
}

/** Sockets that this side of a port has not closed yet. */
async function socketsOf(port: number): Promise<number> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => Deno.readTextFile(`/proc/net/${name}`)),
  );
  return tables.flatMap((table) => table.split("\n")).filter((line) => {
    const [, address = "", , state] = line.trim().split(/\s+/);
    return address.endsWith(local) && (state === ESTABLISHED || state === CLOSE_WAIT);
  }).length;
}

const ESTABLISHED = "01";
const CLOSE_WAIT = "08";
