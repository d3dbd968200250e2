/** Endpoints in operation, as a real Envoy sees them: drained, failed over; and Pinnace away, and refused. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { Fleet } from "./lib/fleet.ts";
import { Load, sendOne, sum, type Target, whoAnswers } from "./lib/load.ts";
import { freePort, freePorts } from "./lib/ports.ts";
import { cluster, MODES, ServedEnvoy, through } from "./lib/served_envoy.ts";
import { pause } from "./lib/wait.ts";

const ECHO = "echo.default.svc.cluster.local";

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}: an endpoint that drains gets no new request, what it has goes on; the last ones do not drain`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["a", "b"]);
      const port = freePort();
      const services = (draining: string, more = {}) => [{
        name: "echo",
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: ["a", "b"].map((name) => ({
          address: fleet.address(name),
          ...(draining.includes(name) ? { drain: true } : {}),
        })),
        ...more,
      }];
      await using served = await ServedEnvoy.start(mode, { services: services("") });
      const change = async (draining: string, seen: string[], more = {}) => {
        await served.write({ services: services(draining, more) });
        const show = ({ health }: { health: string }) => health;
        await served.endpoints(cluster(port, ECHO), seen, show);
      };
      const target = through(port, "echo");
      assertEquals(await whoAnswers(target), "a b");
      const held = await holdOn(through(port, "echo", "/hold"), "b");

      await change("b", ["DRAINING", "HEALTHY"]);
      assertEquals(await whoAnswers(target), "a");
      assertEquals(fleet.get("b").held, held.count);
      fleet.get("a").release();
      fleet.get("b").release();
      assertEquals(new Set(await held.ends), new Set(["done"]), "what it had was answered whole");

      // Where everything drains, or less than minHealthy is left, drains are ignored.
      await change("ab", ["HEALTHY", "HEALTHY"]);
      assertEquals(await whoAnswers(target), "a b");
      await change("a", ["DRAINING", "HEALTHY"], { minHealthy: 0.5 });
      assertEquals(await whoAnswers(target), "b");
      await change("a", ["HEALTHY", "HEALTHY"], { minHealthy: 0.6 });
      assertEquals(await whoAnswers(target), "a b");
      await change("b", ["DRAINING", "HEALTHY"]);
      assertEquals(await whoAnswers(target), "a");
      await change("", ["HEALTHY", "HEALTHY"]);
      assertEquals(await whoAnswers(target), "a b");
    },
  );

  interopTest(
    `envoy ${mode}: the first locality of failover is called as long as it has an endpoint in service`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["near", "far", "farthest"]);
      const port = freePort();
      const localities = { near: "eu/fra", far: "eu/ams", farthest: "us" };
      const services = (endpoints: Readonly<Record<string, object>>, failover?: string[]) => [{
        name: "echo",
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: Object.entries(endpoints).map(([name, more]) => ({
          address: fleet.address(name),
          locality: localities[name as keyof typeof localities],
          ...more,
        })),
        ...(failover === undefined ? {} : { failover }),
      }];
      const all = { near: {}, far: {}, farthest: {} };
      await using served = await ServedEnvoy.start(mode, { services: services(all) });
      const target = through(port, "echo");
      assertEquals(await whoAnswers(target), "far farthest near");
      const steps = [
        [all, ["0 HEALTHY", "1 HEALTHY", "2 HEALTHY"], "near"],
        [{ ...all, near: { drain: true } }, ["0 DRAINING", "1 HEALTHY", "2 HEALTHY"], "far"],
        [{ far: {}, farthest: {} }, ["0 HEALTHY", "1 HEALTHY"], "far"],
        [{ farthest: {} }, ["0 HEALTHY"], "farthest"],
        [all, ["0 HEALTHY", "1 HEALTHY", "2 HEALTHY"], "near"],
      ] as const;
      await using load = new Load(target);
      for (const [endpoints, seen, who] of steps) {
        await served.write({ services: services(endpoints, ["eu/fra", "eu"]) });
        const show = (host: { priority: number; health: string }) =>
          `${host.priority} ${host.health}`;
        await served.endpoints(cluster(port, ECHO), seen, show);
        assertEquals(await whoAnswers(target), who);
      }
      assertEquals(Object.fromEntries((await load.stop()).failures), {});
    },
  );

  interopTest(
    `envoy ${mode}: where the first locality cannot be reached the next one is called, until it can`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["near", "far"]);
      const port = freePort();
      const endpoint = (name: string, locality: string) => ({
        address: fleet.address(name),
        locality,
      });
      await using served = await ServedEnvoy.start(mode, {
        services: [{
          name: "echo",
          ports: [`${port}:${fleet.port}/HTTP`],
          endpoints: [endpoint("near", "eu"), endpoint("far", "us")],
          failover: ["eu"],
        }],
      });
      const target = through(port, "echo");
      assertEquals(await whoAnswers(target), "near");
      // So few that all tries of one request are over before the next one makes them unneeded.
      await using load = new Load(target, { rate: 10 });
      await fleet.end("near");
      await served.answers(target, "far");
      assertEquals(await whoAnswers(target), "far");
      // Envoy tries the first one again after 5 s.
      await pause(8000);
      fleet.start("near");
      await served.answers(target, "near");
      assertEquals(await whoAnswers(target), "near");
      const { answers, failures } = await load.stop();
      assertEquals(Object.fromEntries(failures), {});
      assert(sum(answers) > 50);
    },
  );

  interopTest(
    `envoy ${mode}: Pinnace dies and comes back: no request is lost, nothing is made anew`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["a", "b"]);
      const [port, other] = freePorts(2) as [number, number];
      const services = (name: string) => [
        {
          name: "echo",
          ports: [`${port}:${fleet.port}/HTTP`],
          endpoints: [fleet.address(name)],
        },
        { name: "other", ports: [`${other}:${fleet.port}/TCP`], endpoints: ["127.0.0.1"] },
      ];
      await using served = await ServedEnvoy.start(mode, { services: services("a") });
      const { envoy, pinnace } = served;
      const first = await pinnace.metrics();
      const before = await made(served);
      await using load = new Load(through(port, "echo"));

      await pinnace.kill();
      await envoy.process.expect("its stream is gone", async () => {
        return await envoy.stat("control_plane.connected_state") === 0;
      });
      const { answered } = load;
      await envoy.process.expect("requests go on", () => load.answered > answered + 200);
      await pinnace.run();
      await served.resubscribed();
      await served.settled();
      assertEquals(await made(served), before, "nothing is made anew");
      if (mode === "delta") {
        const again = await pinnace.metrics();
        // What is asked for with a wildcard is held, so all that comes is that nothing is new.
        for (const type of ["cluster.v3.Cluster", "listener.v3.Listener"]) {
          const labels = { type: `type.googleapis.com/envoy.config.${type}` };
          const bytes = (metrics: typeof again) => metrics.sum("pinnace_sent_bytes_total", labels);
          assertEquals(again.sum("pinnace_pushes_total", labels), 1, type);
          assert(bytes(again) < Math.min(300, bytes(first) / 2), `${type}: ${bytes(again)} bytes`);
        }
      }

      // A change that was made while it was away is brought along.
      await pinnace.kill();
      await pinnace.write({ services: services("b") });
      await pinnace.run();
      await served.endpoints(cluster(port, ECHO), [fleet.at("b")]);
      const { answers, failures } = await load.stop();
      assertEquals(Object.fromEntries(failures), {});
      assert(sum(answers) > 300);
      assertEquals(await sendOne(through(port, "echo")), "b");
    },
  );

  interopTest(
    `envoy ${mode}: what Envoy refuses is seen with its reason, and other changes go on`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["a", "b"]);
      const [good, later] = freePorts(2) as [number, number];
      // Somebody else has this port, so Envoy cannot open a listener there.
      using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const service = (name: string, port: number, who = "a") => ({
        name,
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: [fleet.address(who)],
      });
      await using served = await ServedEnvoy.start(mode, { services: [service("good", good)] });
      await using load = new Load(through(good, "good"));

      const bad = service("bad", taken.addr.port);
      await served.write({ services: [service("good", good), bad] });
      const refused = await served.pinnace.process.expect("the refusal is seen", async () => {
        const listeners = (await served.subscriptions()).get("Listener");
        return (listeners?.nacks ?? 0) > 0 && listeners;
      });
      assertMatch(refused.lastNack!, /cannot bind '127\.0\.0\.1:\d+': Address already in use/);

      // Endpoints of what it has, a listener that it can have, and one gone again.
      await served.write({ services: [service("good", good, "b"), bad] });
      await served.answers(through(good, "good"), "b");
      const three = [service("good", good, "b"), bad, service("later", later)];
      await served.write({ services: three });
      await served.answers(through(later, "later"), "a");
      // What it took along with what it refused goes and comes back, all else as it was.
      await served.write({ services: [service("good", good, "b"), bad] });
      await served.settled();
      await served.write({ services: three });
      await served.answers(through(later, "later"), "a");
      await served.write({ services: [service("good", good, "b")] });
      await served.settled();
      await served.envoy.process.expect("only the good one is left", async () => {
        return (await served.envoy.listeners()).size === 1;
      });
      assertEquals(await sendOne(through(good, "good")), "b");
      assertEquals(Object.fromEntries((await load.stop()).failures), {});
    },
  );

  interopTest(
    `envoy ${mode}: a cluster that Envoy refuses from the start holds up no other service`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["a"]);
      const port = freePort();
      const service = (name: string, more = {}) => ({
        name,
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: [fleet.address("a")],
        ...more,
      });
      const refused = service("refused", { subjectAltNames: ["spiffe://example.org/a"] });
      const config = (...names: string[]) => ({
        services: [refused, ...names.map((name) => service(name))],
        envoy: { trustedCa: "/there/is/no/such.crt" },
      });
      await using served = await ServedEnvoy.start(mode, config("one"), { ready: false });
      const answers = (name: string) => served.answers(through(port, name), "a");
      await answers("one");
      await served.write(config("one", "two"));
      await answers("two");
      await served.write(config("one"));
      await served.write(config("one", "two"));
      await answers("two");
      const { nacks = 0, lastNack } = (await served.subscriptions()).get("Cluster")!;
      assert(nacks > 0);
      assertMatch(lastNack!, /no\/such\.crt/);
      const metrics = await served.pinnace.metrics();
      assertEquals(metrics.sum("pinnace_transitions_overdue_total"), 0);
    },
  );
}

interopTest(
  "envoy delta: clusters that are replaced while Pinnace is down are replaced without a lost request when it is back",
  [ENVOY],
  async () => {
    await using fleet = new Fleet(["a"]);
    const port = freePort();
    const config = (name: string) => ({
      services: [{
        name,
        aliases: ["stable"],
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: [fleet.address("a")],
      }],
      push: { quiet: "10ms", guard: 1 },
    });
    const of = (name: string) => cluster(port, `${name}.default.svc.cluster.local`);
    await using served = await ServedEnvoy.start("delta", config("one"));
    await using load = new Load(through(port, "stable"), { rate: 300 });
    for (const [from, to] of [["one", "two"], ["two", "one"], ["one", "two"]] as const) {
      await served.pinnace.kill();
      await served.pinnace.write(config(to));
      await served.pinnace.run();
      await served.clusters([of(to)], [of(from)]);
      await served.resubscribed();
      await served.settled();
    }
    const { answers, failures } = await load.stop();
    assertEquals(Object.fromEntries(failures), {});
    assert(answers.get("a")! > 100);
  },
);

/** Holds requests open until one of them is at `who`; gives how many are there, and how they all end. */
async function holdOn(
  target: Target,
  who: string,
): Promise<{ count: number; ends: Promise<string[]> }> {
  const ends: Promise<string>[] = [];
  for (let count = 0; count < 20; count++) {
    const client = Deno.createHttpClient({ allowHost: true });
    const response = await fetch(target.url, { client, headers: { host: target.host } });
    const lines = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const name = (await lines.read()).value?.trim();
    ends.push(
      lines.read().then(async ({ value }) => {
        await lines.cancel();
        client.close();
        return value?.trim() ?? "cut off";
      }),
    );
    if (name === who) return { count: 1, ends: Promise.all(ends) };
  }
  throw new Error(`20 requests, and none of them got to ${who}`);
}

/** How often Envoy made something of what it was sent, since its start. */
async function made({ envoy }: ServedEnvoy): Promise<Record<string, number>> {
  const stats = await envoy.stats(
    "(cluster_added|cluster_modified|cluster_removed|membership_change" +
      "|listener_added|listener_modified|listener_removed|config_reload)$",
  );
  return Object.fromEntries(stats);
}
