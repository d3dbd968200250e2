/**
 * The smoke test: what every form of the program has to do, from its start to its end.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Peer, SPEECHES } from "./peer.ts";
import { type Launch, Running } from "./running.ts";

const service = (name: string, address: string) =>
  `services:\n  - name: ${name}\n    ports: ["443:8443/GRPC"]\n    endpoints: [${address}]\n`;

/** Starts it, changes, breaks and mends its configuration, ends it, and starts it again over a broken one. */
export async function smoke(launch: Launch): Promise<void> {
  await using pinnace = await Running.start(launch, service("orders", "192.0.2.1"));
  const peers = await Promise.all(
    Object.values(SPEECHES).map((speech) => Peer.open(pinnace.address, speech)),
  );
  const all = (address: string) =>
    Promise.all(peers.map((peer) => peer.holds({ "default/orders": [address] })));
  await all("192.0.2.1");

  await pinnace.write(service("orders", "192.0.2.2"));
  await all("192.0.2.2");

  await pinnace.write("services:\n  - name: orders\n    prots: []\n");
  await pinnace.logged(/pinnace\.yaml:6:5: error: .*prots/);
  const broken = await pinnace.status();
  assertEquals(broken.reload.ok, false);
  assert(broken.findings.some(({ line }: { line: number }) => line === 6));
  assertEquals((await pinnace.get("/readyz")).status, 200);
  await all("192.0.2.2");

  const loads = pinnace.process.text.filter((line) => line.includes("loaded")).length;
  pinnace.process.signal("SIGHUP");
  await pinnace.process.expect(
    "SIGHUP loads again",
    () => pinnace.process.text.filter((line) => line.includes("loaded")).length > loads,
  );

  const { code, ms } = await pinnace.end("SIGTERM");
  assertEquals(code, 0);
  assert(ms < 5000, `it took ${ms} ms to end`);
  for (const peer of peers) assertMatch(peer.over ?? "it goes on", /^UNAVAILABLE: .*shutting down/);

  await pinnace.run(); // the configuration is still broken: the store serves
  using late = await Peer.open(pinnace.address, SPEECHES.sotw);
  await late.holds({ "default/orders": ["192.0.2.2"] });
  assertEquals((await pinnace.end("SIGINT")).code, 0);
}
