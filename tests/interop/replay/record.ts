/**
 * `deno run --allow-all tests/interop/replay/record.ts [CLIENT…]`: records what real clients ask into
 * `tests/testdata/recorded/`. Each is served through a relay while every world of `worlds.ts` passes
 * beneath it; then it loses its stream, once with nothing and once with something changed meanwhile.
 * `deno task interop --build-only` makes the clients ready.
 *
 * @module
 */
import { Pinnace } from "../lib/pinnace.ts";
import type { Process } from "../lib/process.ts";
import { until } from "../lib/wait.ts";
import { CLIENTS, type RecordedClient } from "./clients.ts";
import { Relay } from "./control_planes.ts";
import { distil, type Transcript } from "./transcript.ts";
import { TAKEN, WORLDS } from "./worlds.ts";

/** Where transcripts are. */
export const RECORDED = new URL("../../testdata/recorded/", import.meta.url);

/** Nothing passes for this long, and the client has had its say. Milliseconds. */
const QUIET = 3000;

/** Records a client. */
async function record(client: RecordedClient): Promise<readonly Transcript[]> {
  const [first, ...others] = Object.entries(WORLDS);
  const config = (services: typeof first) => ({
    services: services![1],
    push: { quiet: "10ms", guard: 1 },
  });
  using _taken = Deno.listen({ hostname: "127.0.0.1", port: TAKEN });
  await using pinnace = await Pinnace.start(config(first));
  await using relay = await Relay.start(pinnace.address);
  await using _client = await client.start(relay.address);
  const change = async (world: typeof first) => {
    await relay.mark(world![0]);
    await pinnace.write(config(world));
    await quiet(relay.process);
  };
  await quiet(relay.process);
  for (const world of others) await change(world);
  await cut(relay);
  await quiet(relay.process);
  await cut(relay);
  await change(first);
  return distil(client.name, relay.process.objects);
}

/** Resolves once nothing passes any more. */
async function quiet({ objects }: Process): Promise<void> {
  let seen = objects.length;
  let since = performance.now();
  await until("nothing passes", () => {
    if (objects.length !== seen) [seen, since] = [objects.length, performance.now()];
    return performance.now() - since > QUIET;
  });
}

/** Ends the stream; resolves once the client has noticed, and before it has another where it waits at all. */
async function cut(relay: Relay): Promise<void> {
  const count = () => relay.process.objects.filter(({ event }) => event === "closed").length;
  const before = count();
  await relay.cut();
  await relay.process.expect("the stream is gone", () => count() > before, { every: 1 });
}

if (import.meta.main) {
  const say = (line: string) => Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
  await Deno.mkdir(RECORDED, { recursive: true });
  for (const client of CLIENTS) {
    if (Deno.args.length > 0 && !Deno.args.includes(client.file)) continue;
    for (const transcript of await record(client)) {
      const file = new URL(`${client.file}-${transcript.mode}.json`, RECORDED);
      await Deno.writeTextFile(file, `${JSON.stringify(transcript, undefined, 1)}\n`);
      say(`${file.pathname}: ${transcript.steps.length} steps`);
    }
  }
}
