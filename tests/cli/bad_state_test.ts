/** What may be wrong around the program: its store, its ports, its sinks, its edits. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { pinnace as command } from "./command.ts";
import { Peer, SPEECHES } from "./peer.ts";
import { Running, sourceLaunch } from "./running.ts";

/** Whatever the status shows of these; its schema has a test of its own. */
interface Shown {
  readonly rule?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly unresolved?: string;
}

function services(count: number): string {
  const list = Array.from(
    { length: count },
    (_, i) => `  - name: service-${i}\n    ports: [443/GRPC]\n    endpoints: [192.0.2.${i + 1}]\n`,
  );
  return `services:\n${list.join("")}`;
}

Deno.test("bad state: too much gone at once waits for a person; the store has one owner", async (t) => {
  const launch = await sourceLaunch();
  await using pinnace = await Running.start(launch, services(30));
  using peer = await Peer.open(pinnace.address, SPEECHES.delta);
  await pinnace.process.expect("the peer holds 30", () => peer.held.size === 30);
  const where = ["--config", pinnace.config, "--store", pinnace.store];

  await t.step("a second process is told who has the store", async () => {
    const { code, stderr } = await command(...where);
    assertEquals(code, 1);
    assertStringIncludes(stderr, `in use by process ${pinnace.process.pid} `);
  });

  await t.step("a port in use is named with the setting that changes it", async () => {
    await using second = await Running.prepare(launch);
    for (
      const [setting, other] of [["admin", `listen: []`], ["listen", "admin: false"]] as const
    ) {
      const address = setting === "admin" ? pinnace.admin : `["${pinnace.address}"]`;
      await Deno.writeTextFile(second.config, `${setting}: ${address}\n${other}\n${services(1)}`);
      const { code, stderr } = await command("--config", second.config, "--store", second.store);
      assertEquals(code, 1);
      assertMatch(
        stderr,
        new RegExp(`already in use; \`${setting}\` in the configuration changes it`),
      );
    }
  });

  await pinnace.write(services(10));
  await pinnace.logged(/held back: it would remove too much/);
  const { held, alerts } = await pinnace.status();
  assertEquals([held.removes, held.of, peer.held.size], [20, 30, 30]);
  assert(alerts.some(({ kind }: Shown) => kind === "held"), JSON.stringify(alerts));

  await t.step("what is held back survives a restart unpublished", async () => {
    assertEquals((await pinnace.end("SIGTERM")).code, 0);
    await pinnace.run(); // serves what is stored before it has read anything
    await pinnace.logged(/held back: it would remove too much/);
    const status = await pinnace.status();
    assertEquals([status.held.id, status.snapshot.services], [held.id, 30]);
  });

  await t.step("a wrong id publishes nothing, the right one what is held back", async () => {
    using late = await Peer.open(pinnace.address, SPEECHES.delta);
    await pinnace.process.expect("the peer holds 30", () => late.held.size === 30);
    const list = await command("snapshots", "list", ...where);
    assertStringIncludes(list.stdout, `${held.id}  held back`);
    const wrong = await command("snapshots", "confirm", "0123456789abcdef", ...where);
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.stderr, held.id);
    assertEquals(late.held.size, 30);
    const right = await command("snapshots", "confirm", held.id, ...where);
    assertEquals([right.code, right.stderr], [0, ""]);
    await pinnace.process.expect("the peer holds 10", () => late.held.size === 10);
  });
});

Deno.test("bad state: no store, no sink, no restart: each is said, and the rest is served", async (t) => {
  await using pinnace = await Running.prepare(await sourceLaunch());
  await Deno.writeTextFile(pinnace.store, "a file where the folder ought to be");
  const sinks = 'sinks: [{ name: lost, address: "no-such-host.invalid:9901" }]\n';
  await pinnace.write(sinks + services(1));
  await pinnace.run();
  using peer = await Peer.open(pinnace.address, SPEECHES.sotw);
  await peer.holds({ "default/service-0": ["192.0.2.1"] });

  await t.step("a store that cannot be written is said, and memory serves", async () => {
    await pinnace.logged(/the store cannot be written: .*kept in memory only/);
    const { store, findings, alerts } = await pinnace.status();
    assertEquals(store.durable, false);
    assert(findings.some(({ rule }: Shown) => rule === "store/unwritable"));
    assert(alerts.some(({ kind }: Shown) => kind === "notDurable"), JSON.stringify(alerts));
    const { code, stderr } = await command(
      ...["snapshots", "confirm", "0", "--config", pinnace.config, "--store", pinnace.store],
    );
    assertEquals(code, 1);
    assertMatch(stderr, /^error: this needs the admin token: .* without a store on disk\n$/);
  });

  await t.step("a sink that does not resolve is warned of and looked up again", async () => {
    await pinnace.logged(/name does not resolve.*"sink":"lost"/);
    const { sinks } = await pinnace.status();
    assertEquals(sinks.map(({ name }: Shown) => name), ["lost"]);
    assertMatch(sinks[0].unresolved, /no-such-host\.invalid/);
  });

  await t.step("a change that needs a restart says so, and the rest of it is live", async () => {
    await Deno.writeTextFile(
      pinnace.config,
      `listen: ["127.0.0.1:1"]\nadmin: false\ninstance: other\nlog: { format: json }\n${
        services(2)
      }`,
    );
    for (const key of ["listen", "admin", "instance"]) {
      await pinnace.logged(new RegExp(`a change of \`${key}\` takes effect at the next start`));
    }
    await pinnace.process.expect("the peer holds 2", () => peer.held.size === 2);
    const { listen, sinks } = await pinnace.status();
    const port = { address: pinnace.address, use: "peers", tls: false, alive: true };
    assertEquals([listen, sinks], [[port], []]);
  });
});
