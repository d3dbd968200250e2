/** What may be wrong around the program: its store, its ports, its sinks, its edits. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { pinnace as command } from "./command.ts";
import { Peer, SPEECHES } from "./peer.ts";
import { Running, sourceLaunch } from "./running.ts";

function services(count: number): string {
  const list = Array.from(
    { length: count },
    (_, i) => `  - name: service-${i}\n    ports: [443/GRPC]\n    endpoints: [192.0.2.${i + 1}]\n`,
  );
  return `services:\n${list.join("")}`;
}

Deno.test("bad state: too much gone at once waits for a person, who can confirm it", async () => {
  await using pinnace = await Running.start(await sourceLaunch(), services(30));
  using peer = await Peer.open(pinnace.address, SPEECHES.delta);
  await pinnace.process.expect("the peer holds 30", () => peer.held.size === 30);
  await pinnace.write(services(10));
  await pinnace.logged(/held back: it would remove too much/);
  const { held } = await pinnace.status();
  assertEquals([held.removes, held.of, peer.held.size], [20, 30, 30]);

  const where = ["--config", pinnace.config, "--store", pinnace.store];
  const list = await command("snapshots", "list", ...where);
  assertStringIncludes(list.stdout, `${held.id}  held back`);
  const wrong = await command("snapshots", "confirm", "0123456789abcdef", ...where);
  assertEquals(wrong.code, 1);
  assertStringIncludes(wrong.stderr, held.id);
  assertEquals((await command("snapshots", "confirm", held.id, ...where)).code, 0);
  await pinnace.process.expect("the peer holds 10", () => peer.held.size === 10);
});

Deno.test("bad state: a second process is told who has the store; a port in use is named", async () => {
  await using first = await Running.start(await sourceLaunch(), services(1));
  await using second = await Running.prepare(await sourceLaunch());
  await second.write(services(1));
  const locked = await command("--config", second.config, "--store", first.store);
  assertEquals(locked.code, 1);
  assertStringIncludes(locked.stderr, `in use by process ${first.process.pid} `);

  await Deno.writeTextFile(second.config, `admin: "${first.admin}"\nlisten: []\n${services(1)}`);
  const taken = await command("--config", second.config, "--store", second.store);
  assertEquals(taken.code, 1);
  assertMatch(taken.stderr, /already in use; `admin` in the configuration changes it/);
});

Deno.test("bad state: a store that cannot be written is said, and memory serves", async () => {
  const launch = await sourceLaunch();
  await using pinnace = await Running.prepare(launch);
  await Deno.writeTextFile(pinnace.store, "a file where the folder ought to be");
  await pinnace.write(services(1));
  await pinnace.run();
  using peer = await Peer.open(pinnace.address, SPEECHES.sotw);
  await peer.holds({ "default/service-0": ["192.0.2.1"] });
  const { store, findings } = await pinnace.status();
  assertEquals(store.durable, false);
  assert(findings.some(({ rule }: { rule: string }) => rule === "store/unwritable"));
});

Deno.test("bad state: a sink that does not resolve is warned of and tried again; others are served", async () => {
  const sinks = 'sinks: [{ name: lost, address: "no-such-host.invalid:9901" }]\n';
  await using pinnace = await Running.start(await sourceLaunch(), sinks + services(1));
  await pinnace.logged(/name does not resolve.*lost|lost.*name does not resolve/);
  const status = await pinnace.status();
  assertEquals(status.sinks[0].name, "lost");
  assert(status.sinks[0].unresolved !== undefined);
  using peer = await Peer.open(pinnace.address, SPEECHES.mcp);
  await peer.holds({ "default/service-0": ["192.0.2.1"] });
});

Deno.test("bad state: a change that needs a restart says so, and the rest of it is live", async () => {
  await using pinnace = await Running.start(await sourceLaunch(), services(1));
  await pinnace.write(`instance: other\n${services(2)}`);
  await pinnace.logged(/a change of `instance` takes effect at the next start/);
  using peer = await Peer.open(pinnace.address, SPEECHES.sotw);
  await pinnace.process.expect("the peer holds 2", () => peer.held.size === 2);
});

Deno.test("bad state: an empty folder, no mapping, a duplicate key, 50 MB: each says what is wrong", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/p.yaml`;
    const said = async (config: string) => {
      const { code, stdout } = await command("validate", "--config", config);
      assertEquals(code, 1);
      return stdout;
    };
    assertMatch(await said(folder), /no .*\.yaml|holds no/i);
    await Deno.writeTextFile(file, "- a\n- b\n");
    assertMatch(await said(file), /mapping/);
    await Deno.writeTextFile(file, "services: []\nservices: []\n");
    assertMatch(await said(file), /p\.yaml:2:\d+: error: .*(duplicate|twice)/i);
    await Deno.writeFile(file, new Uint8Array(50_000_000).fill(35));
    assertMatch(await said(file), /MiB/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
