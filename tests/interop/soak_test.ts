/**
 * An hour of two busy edges in two minutes: 2,000 changes at random, processes killed in between, and at
 * the end exactly what the edges have at a whole istiod. `SOAK_SEED=N` runs it again as it was.
 */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { edge, receiving } from "./lib/edges.ts";
import { Istiod, type IstioObject } from "./lib/istiod.ts";
import { Pinnace, type Rendered } from "./lib/pinnace.ts";
import { below, type Random, randomFrom, RandomServices } from "./lib/random_services.ts";
import { SERVICE_ENTRIES } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";
import { pause } from "./lib/wait.ts";

const CHANGES = 2000;

/** Changes after which everything is waited for. */
const CHECK_EVERY = 250;

/** Between two changes: more than a push takes, so that most are pushed one by one. Milliseconds. */
const APART = 30;

/** When the memory is measured first. The receiver is killed twice well before, and then no more until it is measured again. */
const QUARTER = CHANGES / 4;

/** An edge, with what its file says now. */
interface Edge {
  readonly name: string;
  readonly pinnace: Pinnace;
  readonly services: RandomServices;
}

/** Ends and starts what is to be killed, each some changes later. */
class Reaper {
  readonly #random: Random;
  readonly #away = new Map<Pinnace, number>();
  kills = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Kills one that runs; it is started 5 to 29 changes later. */
  async kill(pinnace: Pinnace, at: number): Promise<void> {
    if (this.#away.has(pinnace)) return;
    await pinnace.kill();
    this.kills++;
    this.#away.set(pinnace, at + 5 + below(this.#random, 25));
  }

  /** Starts those whose time has come; Infinity: all. */
  async revive(at: number): Promise<void> {
    for (const [pinnace, due] of [...this.#away]) {
      if (due > at) continue;
      await pinnace.run();
      this.#away.delete(pinnace);
    }
  }
}

/** By name, the first endpoint of each entry that the sink holds. */
function heldBy(sink: Sink): Map<string, unknown> {
  const held = new Map<string, unknown>();
  for (const { incremental, resources, removed } of sink.changes(SERVICE_ENTRIES)) {
    if (!incremental) held.clear();
    for (const name of removed) held.delete(name);
    for (const { name, body } of resources) held.set(name, firstAddress(body));
  }
  return held;
}

function firstAddress(spec: Readonly<Record<string, unknown>>): unknown {
  return (spec.endpoints as { address: string }[])[0]?.address;
}

/** What all edges have. */
function union(edges: readonly Edge[]): Map<string, string> {
  return new Map(edges.flatMap(({ services }) => [...services.addresses]));
}

function sorted(map: ReadonlyMap<string, unknown>): [string, unknown][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Waits until Istio's sink holds exactly what the edges have. */
async function arrived(sink: Sink, edges: readonly Edge[]): Promise<void> {
  const wanted = sorted(union(edges));
  await sink.process.expect("it holds exactly what the edges have", () => {
    assertEquals(sorted(heldBy(sink)), wanted);
    return true;
  }, { every: 200 });
}

/** Waits until istiod holds, to the last field, what the edges' own command prints. */
async function agrees(istiod: Istiod, edges: readonly Edge[]): Promise<void> {
  const rendered = new Map<string, Rendered>();
  for (const { pinnace } of edges) {
    for (const [name, object] of await pinnace.render()) rendered.set(name, object);
  }
  const wanted = comparable(rendered);
  await istiod.process.expect("it holds exactly what the edges print", async () => {
    assertEquals(comparable(await istiod.objects()), wanted);
    return true;
  }, { every: 500, deadline: 90_000 });
}

/** Without the one value that proto3's JSON leaves out. */
function comparable(objects: ReadonlyMap<string, IstioObject | Rendered>) {
  return sorted(objects).map(([name, object]) => {
    const { kind, spec } = object as Rendered;
    return [name, kind, { ...spec, location: spec.location ?? "MESH_EXTERNAL" }];
  });
}

async function memory(pinnace: Pinnace): Promise<number> {
  return (await pinnace.metrics()).sum("process_resident_memory_bytes");
}

interface State {
  readonly findings: readonly unknown[];
  readonly alerts: readonly unknown[];
  readonly sources: readonly { readonly name: string; readonly state: string }[];
  readonly sinks: readonly { readonly links: readonly { readonly state: string }[] }[];
  readonly peers: readonly { readonly protocol: string }[];
}

async function stateOf(pinnace: Pinnace): Promise<State> {
  return await pinnace.status() as unknown as State;
}

/** Nothing is left to complain of, and everyone is connected. */
async function isWell(receiver: Pinnace, edges: readonly Edge[]): Promise<void> {
  await receiver.process.expect("everyone is connected", async () => {
    const { sources, peers } = await stateOf(receiver);
    assertEquals(
      sources.map(({ name, state }) => `${name} ${state}`).sort(),
      edges.map(({ name }) => `${name} connected`),
    );
    const protocols = new Set(peers.map(({ protocol }) => protocol));
    assertEquals([...protocols].sort(), ["ads", "mcp-source"]);
    for (const { pinnace } of edges) {
      const { sinks } = await stateOf(pinnace);
      assertEquals(sinks.map(({ links }) => links.map(({ state }) => state)), [["up"]]);
    }
    return true;
  });
  for (const pinnace of [receiver, ...edges.map((one) => one.pinnace)]) {
    const { findings, alerts } = await stateOf(pinnace);
    assertEquals([findings, alerts], [[], []]);
  }
}

function say(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`soak: ${line}\n`));
}

interopTest(
  "soak: 2,000 changes at two edges, which are killed as the receiver is, are all at istiod in the end",
  ["istiod", "mcp-sink-client"],
  async () => {
    const seed = Number(Deno.env.get("SOAK_SEED") ?? Math.floor(Math.random() * 2 ** 32));
    say(`SOAK_SEED=${seed}`);
    const random = randomFrom(seed);
    const { config, dialled } = receiving();
    await using receiver = await Pinnace.start({ ...config, log: { level: "info" } });
    const configOf = (name: string, services: RandomServices) =>
      edge(name, dialled, services.list, {
        push: { quiet: "10ms", max: "100ms" },
        log: { level: "info" },
      });
    await using started = new AsyncDisposableStack();
    const edges: Edge[] = [];
    for (const name of ["edge-a", "edge-b"]) {
      const services = new RandomServices(name, random);
      const pinnace = started.use(await Pinnace.start(configOf(name, services)));
      edges.push({ name, pinnace, services });
    }
    await using istiod = await Istiod.start(receiver.address);
    await using sink = Sink.dialling(receiver.address, { incremental: true });
    await arrived(sink, edges);

    const reaper = new Reaper(random);
    const restarts = new Set([30, 120].map((at) => at + below(random, 60)));
    let early = 0;
    for (let change = 1; change <= CHANGES; change++) {
      const one = edges[below(random, edges.length)]!;
      one.services.step();
      await one.pinnace.write(configOf(one.name, one.services));
      await pause(APART);
      if (random() < 1 / 200) await reaper.kill(one.pinnace, change);
      if (restarts.has(change)) await reaper.kill(receiver, change);
      await reaper.revive(change);
      if (change % CHECK_EVERY !== 0) continue;
      await reaper.revive(Infinity);
      await arrived(sink, edges);
      say(`${change} changes, ${await memory(receiver) >> 20} MiB, ${reaper.kills} killed`);
      if (change === QUARTER) early = await memory(receiver);
    }
    const late = await memory(receiver);
    const pushes = (await receiver.metrics()).sum("pinnace_source_pushes_total");
    assert(late <= 1.5 * early, `memory: ${early} bytes after a quarter, ${late} in the end`);
    assert(pushes > CHANGES / 4, `most changes were pushes of their own: ${pushes}`);
    assert(reaper.kills >= 4, `${reaper.kills} were killed`);

    // Once more with everything at once, then one change each: nobody is lost for good.
    for (const pinnace of [receiver, ...edges.map((one) => one.pinnace)]) {
      await reaper.kill(pinnace, CHANGES);
    }
    await reaper.revive(Infinity);
    for (const { name, pinnace, services } of edges) {
      services.step();
      await pinnace.write(configOf(name, services));
    }
    await arrived(sink, edges);
    await agrees(istiod, edges);
    await isWell(receiver, edges);
  },
);
