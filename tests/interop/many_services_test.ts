/** More services than a mesh should have in one file. Here, and not beside the unit tests, for its time and memory. */
import { assert, assertEquals } from "@std/assert";
import { Peer, SPEECHES } from "../cli/peer.ts";
import { Running, sourceLaunch } from "../cli/running.ts";

const COUNT = 100_000;
const EDITED = "default/service-7";

/** What the process may have taken at its peak: about 14 KB a service, twice what it is on an idle machine. Bytes. */
const MEMORY = 3e9;

/** How long any step may take, on a machine that has other things to do. Milliseconds. */
const PATIENCE = 120_000;

function services(address: string): string {
  const list = Array.from({ length: COUNT }, (_, i) => {
    const first = i === 7 ? address : `192.0.2.${i % 250}`;
    return `  - name: service-${i}\n    ports: ["443:8443/GRPC"]\n` +
      `    endpoints: [${first}, 198.51.100.${i % 250}]\n`;
  });
  return `services:\n${list.join("")}`;
}

async function peakOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

Deno.test("many services: 100,000 are served, edited, kept over a broken edit and over a restart", async () => {
  await using pinnace = await Running.prepare(await sourceLaunch());
  await pinnace.write(services("192.0.2.7"));
  await pinnace.run(PATIENCE);
  const wait = (what: string, when: () => boolean) =>
    pinnace.process.expect(what, when, { deadline: PATIENCE });

  using sotw = await Peer.open(pinnace.address, SPEECHES.sotw);
  using delta = await Peer.open(pinnace.address, SPEECHES.delta);
  const peers = [sotw, delta];
  await wait("both peers hold all", () => peers.every(({ held }) => held.size === COUNT));

  await pinnace.write(services("203.0.113.1"));
  await wait(
    "both peers have the edit",
    () => peers.every(({ held }) => held.get(EDITED)?.[0] === "203.0.113.1"),
  );
  await pinnace.write("services: [\n");
  await wait(
    "the broken edit is said",
    () => pinnace.process.text.some((line) => line.includes("config/syntax")),
  );
  assert(peers.every(({ held, over }) => held.size === COUNT && over === undefined));
  if (Deno.build.os === "linux") {
    const peak = await peakOf(pinnace.process.pid);
    assert(peak < MEMORY, `it took ${(peak / 1e9).toFixed(1)} GB`);
  }

  const { code, ms } = await pinnace.end("SIGTERM");
  assertEquals(code, 0);
  assert(ms < 5_000, `it took ${ms} ms to end`);
  await pinnace.run(PATIENCE); // from the store, since the configuration is broken
  using late = await Peer.open(pinnace.address, SPEECHES.delta);
  await wait("a late peer holds all", () => late.held.size === COUNT);
  assertEquals(late.held.get(EDITED)?.[0], "203.0.113.1");
});
