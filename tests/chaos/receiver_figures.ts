// deno-lint-ignore-file no-console -- a program of its own, whose output is the console
/**
 * Figures of a receiver: two edges with 5,000 entries each, a client of the receiver and one of an
 * edge. How long a change takes from the rename of its file to the client's ACK, on either way, by
 * turns; what memory the receiver takes; how soon it serves after a start with both edges away.
 * Usage: receiver_figures.ts [--entries N] [--changes N]
 *
 * @module
 */
import { parseArgs } from "node:util";
import { dump } from "js-yaml";
import { Pinnace } from "../interop/lib/pinnace.ts";
import { freePort } from "../interop/lib/ports.ts";
import type { JsonLine, Process } from "../interop/lib/process.ts";
import { pause } from "../interop/lib/wait.ts";
import { memoryOf, node } from "./bench.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    entries: { type: "string", default: "5000" },
    changes: { type: "string", default: "20" },
    starts: { type: "string", default: "5" },
  },
});
const [entries, changes, starts] = [values.entries, values.changes, values.starts].map(Number);
const now = () => performance.timeOrigin + performance.now();
const LOG = { level: "info", format: "json" };

/** An edge whose services are in a folder: most in one file, the one that changes in another. */
class TimedEdge {
  readonly site: string;
  readonly pinnace: Pinnace;

  private constructor(site: string, pinnace: Pinnace) {
    this.site = site;
    this.pinnace = pinnace;
  }

  static async start(site: string, receiver: string): Promise<TimedEdge> {
    const pinnace = await Pinnace.prepare({ services: [] });
    const edge = new TimedEdge(site, pinnace);
    await Deno.mkdir(`${pinnace.folder}/services`);
    const many = Array.from({ length: entries! - 1 }, (_, i) => service(site, i, "steady"));
    await Deno.writeTextFile(`${pinnace.folder}/services/many.yaml`, dump({ services: many }));
    await edge.change("rev-000000");
    const sinks = [{ name: "hub", address: receiver }];
    const config = {
      instance: `edge-${site}`,
      include: ["services/"],
      services: [],
      sinks,
      log: LOG,
    };
    await pinnace.write(config);
    await pinnace.run();
    return edge;
  }

  /** Replaces the small file; gives when. */
  async change(revision: string): Promise<number> {
    const path = `${this.pinnace.folder}/services/one.yaml`;
    const text = dump({ services: [service(this.site, entries! - 1, revision)] });
    await Deno.writeTextFile(`${path}.new`, text);
    const at = now();
    await Deno.rename(`${path}.new`, path);
    return at;
  }
}

function service(site: string, i: number, revision: string) {
  return {
    name: `service-${i}`,
    namespace: site,
    ports: ["80:8080/HTTP", "443:8443/HTTPS"],
    endpoints: [1, 2, 3].map((n) => ({
      address: `10.${n}.${i >> 8}.${i & 255}`,
      labels: n === 1 ? { revision } : {},
    })),
  };
}

function portOf({ address }: Pinnace): number {
  return Number(address.split(":")[1]);
}

/** When a client had ACKed this revision. */
async function acked(client: Process, revision: string, from = 0): Promise<number> {
  const saw = (line: JsonLine) => line.saw === revision;
  const { at } = await client.expectObject(`it sees ${revision}`, saw, { from, every: 5 });
  return at as number;
}

function figures(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [median, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)]
    .map((one) => one!.toFixed(0));
  console.log(`${name}: median ${median} ms, ${least} to ${most} ms (${sorted.length})`);
}

const address = `127.0.0.1:${freePort()}`;
const config = { instance: "receiver", services: [], receive: { address }, log: LOG };
await using receiver = await Pinnace.start(config);
console.log(`receiver with nothing: ${mb(await memoryOf(receiver.process.pid))}`);
const a = await TimedEdge.start("fra", address);
await using _a = a.pinnace;
const b = await TimedEdge.start("muc", address);
await using _b = b.pinnace;
await receiver.process.expect("it has everything", async () => {
  const metrics = await receiver.metrics();
  return metrics.sum("pinnace_resources", { kind: "ServiceEntry" }) === 2 * entries!;
});
await using viaReceiver = node("timed_client.mjs", { port: portOf(receiver) });
await using direct = node("timed_client.mjs", { port: portOf(a.pinnace) });
await Promise.all([acked(viaReceiver, "rev-000000"), acked(direct, "rev-000000")]);
await pause(2000);

const took = { direct: [] as number[], both: [] as number[], receiver: [] as number[] };
for (let i = 1; i <= changes!; i++) {
  const [first, second] = [2 * i - 1, 2 * i].map((n) => `rev-${String(n).padStart(6, "0")}`);
  const atA = await a.change(first!);
  const [seen, also] = await Promise.all([acked(direct, first!), acked(viaReceiver, first!)]);
  took.direct.push(seen - atA);
  took.both.push(also - atA);
  await pause(500);
  const atB = await b.change(second!);
  took.receiver.push(await acked(viaReceiver, second!) - atB);
  await pause(500);
}
const bytes = viaReceiver.objects.at(-1)!.bytes as number;
console.log(`2 edges of ${entries} entries, a push of ${mb(bytes)} to the receiver's client`);
figures("edge -> client", took.direct);
figures("edge -> receiver -> client", took.receiver);
figures("edge -> receiver -> client, while the edge has a client as well", took.both);
console.log(`receiver: ${mb(await memoryOf(receiver.process.pid))}`);

await a.pinnace.stop();
await b.pinnace.stop();
const served: number[] = [];
for (let i = 0; i < starts!; i++) {
  await receiver.kill();
  const from = viaReceiver.objects.length;
  const at = now();
  await receiver.run({ ready: false });
  const isPush = (line: JsonLine) => typeof line.at === "number";
  const first = await viaReceiver.expectObject("it is served", isPush, { from, every: 5 })
    .catch((cause) => {
      throw new Error(receiver.process.describe(), { cause });
    });
  if (Math.abs(first.bytes as number - bytes) > 1000) {
    throw new Error(`after a start ${first.bytes} bytes were served, not ${bytes}`);
  }
  served.push(first.at as number - at);
  await pause(1000);
}
figures("receiver's start -> client's ACK of all, from the store alone", served);
console.log(`receiver after that: ${mb(await memoryOf(receiver.process.pid))}`);

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
