/**
 * What real clients were recorded to ask is answered by our server as by go-control-plane's, but for
 * differences that are meant.
 */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import {
  GO_CONTROL_PLANE,
  RivalServer,
  type ServerOptions,
  type World,
} from "./replay/control_planes.ts";
import { type Difference, differences } from "./replay/differences.ts";
import { gather } from "./replay/gathering.ts";
import { KNOWN } from "./replay/known.ts";
import { play } from "./replay/player.ts";
import type { Step, Transcript } from "./replay/transcript.ts";
import { WORLDS } from "./replay/worlds.ts";

const RECORDED = new URL("../testdata/recorded/", import.meta.url);
const FILES = [...Deno.readDirSync(RECORDED)].map(({ name }) => name).sort();

/** Comparisons at a time: most of it is waiting for what does not come. */
const AT_ONCE = 3;

interopTest(
  `replay: ${FILES.length} recorded transcripts are answered as by go-control-plane, but for what is meant`,
  [GO_CONTROL_PLANE],
  async () => {
    const left = [...FILES];
    const found: Difference[] = [];
    const worker = async () => {
      for (let file; (file = left.shift()) !== undefined;) {
        const transcript: Transcript = JSON.parse(await Deno.readTextFile(new URL(file, RECORDED)));
        found.push(...await compare(file.replace(".json", ""), transcript));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const unknown = found.filter((difference) => !KNOWN.some(({ fits }) => fits(difference)));
    assertEquals(unknown, [], JSON.stringify(unknown, undefined, 1));
    // Of those that would be met no more, nobody would take the argument out.
    const met = new Set(found.map((one) => KNOWN.find(({ fits }) => fits(one))?.name));
    assertEquals(KNOWN.map(({ name }) => name).filter((name) => !met.has(name)), [], "not met");
  },
);

interopTest("replay: every difference that is meant is argued", [], async () => {
  const text = await Deno.readTextFile(new URL("../../docs/differences.md", import.meta.url));
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);
  for (const { name } of KNOWN) assert(headings.includes(name), `no heading: ${name}`);
  assertEquals(headings.filter((h) => !KNOWN.some(({ name }) => name === h)), []);
});

/** Plays a transcript against both. */
async function compare(name: string, transcript: Transcript): Promise<readonly Difference[]> {
  await using pinnace = await Pinnace.start(config("first"));
  const published = async (world: string) => {
    const id = async () => JSON.stringify((await pinnace.status()).snapshot);
    const before = await id();
    await pinnace.write(config(world));
    await pinnace.process.expect(`${world} is published`, async () => await id() !== before, {
      every: 20,
    });
  };
  const worlds = new Map<string, World>([["first", await gather(pinnace, transcript)]]);
  for (const world of Object.keys(WORLDS).slice(1)) {
    await published(world);
    worlds.set(world, await gather(pinnace, transcript));
  }
  await published("first");
  await using rival = await RivalServer.start(worlds.get("first")!, optionsFor(transcript));
  const [ours, theirs] = await Promise.all([
    play(transcript, { address: pinnace.address, change: published }),
    play(transcript, {
      address: rival.address,
      change: (world) => rival.serve(worlds.get(world)!),
    }),
  ]);
  return differences({ transcript: name, mode: transcript.mode, ours, theirs });
}

/** How go-control-plane is set up for such a client. */
function optionsFor({ steps }: Transcript): ServerOptions {
  const first = (type: string) =>
    steps.find((step) => step.do === "ask" && step.type.endsWith(type));
  const all = (step: Step | undefined) => step?.do === "ask" && step.names === undefined;
  return { asksForAll: all(first(".Cluster")), wildcard: all(first(".Listener") ?? steps[1]) };
}

function config(world: string) {
  return { services: WORLDS[world]!, push: { quiet: "10ms", guard: 1 } };
}
