/**
 * A Pinnace that pulls: from an honest edge, and from servers that answer well and then fail in every
 * way. Honest peers of it must see every revision of the edge.
 *
 * @module
 */
import { Pinnace } from "../interop/lib/pinnace.ts";
import { freePorts } from "../interop/lib/ports.ts";
import { pause } from "../interop/lib/wait.ts";
import { type Finding, memoryOf, node } from "./bench.ts";
import { Edge } from "./honest_edge.ts";
import { witnessOf } from "./witness.ts";

/** How long and with which seed. */
export interface PullChaosOptions {
  readonly seconds: number;
  readonly seed: number;
}

/** Hostile servers pulled from at once. */
const SERVERS = 16;

/** What a server does wrong must end its stream within this. Milliseconds. */
const NOTICED = 5000;

/** How late the event loop may be at worst. Seconds. */
const LATEST = 2;

/** How soon a change must have arrived once the attack is over. Milliseconds. */
const SOON = 2000;

/** Pulls from hostile servers for a while; says what had to hold. */
export async function pullChaos({ seconds, seed }: PullChaosOptions): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack();
  const [, ...ports] = freePorts(SERVERS + 1);
  const servers = ports.map((port, i) =>
    stack.use(node("hostile_sink.mjs", { port, seed: seed * SERVERS + i, answer: "ads" }))
  );
  const peers: Parameters<typeof witnessOf>[0][number][] = [];
  const edge = stack.use(await Edge.start(1, [], witnessOf(peers)));
  const tier = stack.use(
    await Pinnace.start({
      instance: "tier",
      services: [],
      include: [
        `xds://${edge.address}`,
        ...ports.map((port) => ({ xds: `127.0.0.1:${port}`, namespaces: ["hostile"] })),
      ],
      log: { level: "error", format: "json" },
    }),
  );
  const honest = stack.use(node("honest.mjs", { port: Number(tier.address.split(":")[1]) }));
  peers.push({ pinnace: tier, pid: tier.process.pid, honest });
  await edge.settled();
  const before = await memoryOf(tier.process.pid);
  await pause(seconds * 1000);
  const took = await edge.change();
  const lines = servers.map(({ objects }) => objects);
  const ways = new Map<string, number>();
  for (const { fails } of lines.flat()) {
    if (typeof fails === "string") ways.set(fails, (ways.get(fails) ?? 0) + 1);
  }
  const ignored = lines.map((of) => of.at(-1)!)
    .filter(({ visible, at }) => visible === true && Date.now() - Number(at) > NOTICED);
  // One that says nothing at all is waited for longer than this takes.
  const once = lines.filter((of) =>
    of.filter(({ opened }) => opened).length < 2 && of.at(-1)?.fails !== "mute"
  );
  const late = (await tier.metrics()).sum("pinnace_event_loop_delay_seconds");
  const dialled = lines.map((of) => of.filter(({ opened }) => opened).length);
  return [
    {
      ok: tier.process.ended === undefined && once.length === 0 && ignored.length === 0,
      what: `hostile servers pulled from: ${dialled.reduce((sum, n) => sum + n)} sessions, each ` +
        `server dialled ${Math.min(...dialled)} to ${Math.max(...dialled)} times; ` +
        `not noticed: ${JSON.stringify(ignored)}; dialled once: ${JSON.stringify(once)}; ${
          JSON.stringify(Object.fromEntries(ways))
        }` +
        `${tier.process.ended === undefined ? "" : `; ${tier.process.describe()}`}`,
    },
    {
      ok: took !== undefined && took <= SOON,
      what: `a change of the honest server beside them is everywhere ` +
        `${took === undefined ? "never" : `after ${took} ms`}, at most ${SOON}`,
    },
    await edge.verdict(),
    {
      ok: late <= LATEST,
      what: `event loop late by ${late.toFixed(3)} s at worst, at most ${LATEST}; memory ` +
        `${Math.round(before / 1e6)} MB before, ` +
        `${Math.round(await memoryOf(tier.process.pid) / 1e6)} MB after`,
    },
  ];
}
