/** What is called through a real Envoy goes on while endpoints and whole clusters change beneath it. */
import { assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { Fleet } from "./lib/fleet.ts";
import { Load, type Tally } from "./lib/load.ts";
import type { ServiceConfig } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { cluster, MODES, ServedEnvoy, through } from "./lib/served_envoy.ts";

const CHANGES = 200;
const NAMES = ["a", "b", "c", "d", "e"];

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}: ${CHANGES} changes of endpoints under load lose no request while one is healthy`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(NAMES);
      const [port] = freePorts(1) as [number];
      const services = (weights: ReadonlyMap<string, number>) => [{
        name: "echo",
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: [...weights].map(([name, weight]) => ({ address: fleet.address(name), weight })),
      }];
      let up = new Map([["a", 1]]);
      await using served = await ServedEnvoy.start(mode, { services: services(up) });
      await using load = new Load(through(port, "echo"));
      for (let change = 0; change < CHANGES; change++) {
        const next = nextWeights(up, change);
        for (const name of next.keys()) fleet.start(name);
        await served.write({ services: services(next) });
        await served.endpoints(
          cluster(port, "echo.default.svc.cluster.local"),
          [...next].map(([name, weight]) => `${fleet.at(name)} ${weight}`),
          ({ address, weight }) => `${address} ${weight}`,
        );
        // What is gone may end with the change after: until then a thread of Envoy's may not know yet.
        for (const name of NAMES) if (!up.has(name) && !next.has(name)) await fleet.end(name);
        up = next;
      }
      const tally = await load.stop();
      assertNoneFailed(tally, CHANGES);
      assertEquals([...tally.answers.keys()].sort(), NAMES, "all of them took part");
    },
  );

  interopTest(
    `envoy ${mode}: services renamed, ports changed, resolved otherwise, subsets come and go: no request is lost`,
    [ENVOY],
    async () => {
      // Both on 127.0.0.1, which is what localhost is looked up to be.
      await using first = new Fleet(["first"], { net: 0 });
      await using second = new Fleet(["second"], { net: 0 });
      const [port, side, aside] = freePorts(3) as [number, number, number];
      const labels = { version: "v1" };
      const service: ServiceConfig = {
        name: "echo",
        aliases: ["stable"],
        ports: [`${port}:${first.port}/HTTP`],
        endpoints: [{ address: "127.0.0.1", labels }],
      };
      const of = (port: number, name: string, subset = "") =>
        cluster(port, `${name}.default.svc.cluster.local`, subset);
      const plain = of(port, "echo");
      const v1 = of(port, "echo", "v1");
      const web = { name: "web", number: port, targetPort: first.port, protocol: "HTTP" };
      /** What the service becomes, and the clusters that Envoy then has and has not. */
      const replacements: readonly Replacement[] = [
        { change: { name: "renamed" }, has: [of(port, "renamed")], hasNot: [plain] },
        { change: {}, has: [plain], hasNot: [of(port, "renamed")] },
        { change: { ports: [`${port}:${second.port}/HTTP2`] }, has: [plain], who: "second" },
        { change: { ports: [web] }, has: [plain], who: "first" },
        { change: { endpoints: [{ address: "localhost", labels }] }, has: [plain] },
        { change: { split: { v1: 100 } }, has: [v1] },
        {
          change: {
            split: { v1: 100 },
            ports: [`${port}:${second.port}/HTTP`, `${side}:${first.port}`],
          },
          has: [v1, of(side, "echo")],
          who: "second",
        },
        {
          change: { ports: [`${port}:${first.port}/HTTP`, `${aside}:${first.port}`] },
          has: [plain, of(aside, "echo")],
          hasNot: [v1, of(side, "echo")],
          who: "first",
        },
        { change: { resolution: "DNS" }, has: [plain], hasNot: [of(aside, "echo")] },
        { change: {}, has: [plain] },
      ];
      await using served = await ServedEnvoy.start(mode, { services: [service] });
      await using load = new Load(through(port, "stable"));
      for (let round = 0; round < 2; round++) {
        for (const { change, has, hasNot = [], who } of replacements) {
          await served.write({ services: [{ ...service, ...change }] });
          await served.clusters(has, hasNot);
          await served.settled();
          if (who !== undefined) await served.answers(through(port, "stable"), who);
        }
      }
      const tally = await load.stop();
      assertNoneFailed(tally, 2 * replacements.length);
      assertEquals([...tally.answers.keys()].sort(), ["first", "second"]);
    },
  );
}

interface Replacement {
  readonly change: ServiceConfig;
  readonly has: readonly string[];
  readonly hasNot?: readonly string[];
  /** Who answers from then on; absent: as before. */
  readonly who?: string;
}

/** Weights of the endpoints after a change: one comes, one goes or one changes; the first stays. */
function nextWeights(
  weights: ReadonlyMap<string, number>,
  change: number,
): Map<string, number> {
  const next = new Map(weights);
  const name = NAMES[1 + change % (NAMES.length - 1)]!;
  if (!next.has(name)) next.set(name, 1 + change % 3);
  else if (change % 5 === 0) next.set(name, next.get(name)! + 1);
  else next.delete(name);
  return next;
}

/** The load went through all the changes, and nothing of it was lost. */
function assertNoneFailed({ answers, failures }: Tally, changes: number): void {
  assertEquals(Object.fromEntries(failures), {});
  const answered = answers.values().reduce((sum, count) => sum + count, 0);
  if (answered < changes) throw new Error(`only ${answered} requests for ${changes} changes`);
}
