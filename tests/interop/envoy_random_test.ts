/** Services change at random, in every way and all at once: a real Envoy takes each change, and has what the view says. */
import { assertEquals } from "@std/assert";
import { dump } from "js-yaml";
import type { JsonObject } from "../../lib/wire/proto_json.ts";
import { resourcesOf, viewOfText } from "../view/envoy/envoy_world.ts";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { freePorts } from "./lib/ports.ts";
import { randomServices } from "./lib/random_ports.ts";
import { randomFrom } from "./lib/random_services.ts";
import { MODES, ServedEnvoy } from "./lib/served_envoy.ts";

/** Printed by the test; `ENVOY_SEED` gives another run's back. */
const SEED = Number(Deno.env.get("ENVOY_SEED") ?? Date.now() % 2 ** 31);
const STEPS = 25;

/** What Envoy has: names of clusters and listeners, and each endpoint with its health and weight. */
async function heldBy(served: ServedEnvoy) {
  const hosts = await served.envoy.hosts();
  const own = [...hosts].filter(([name]) => name.startsWith("outbound|"));
  return {
    clusters: own.map(([name]) => name).sort(),
    endpoints: own.flatMap(([name, list]) =>
      list.filter(({ address }) => address.startsWith("127.0.")).map((host) =>
        `${name} ${host.address} ${host.priority} ${host.weight} ${host.health}`
      )
    ).filter((line) => !line.includes(" 127.0.0.1:")).sort(),
    listeners: [...(await served.envoy.listeners()).keys()].sort(),
  };
}

/** The same as the view says it. */
function wanted(text: string) {
  const { CDS, EDS, LDS } = resourcesOf(viewOfText(text));
  return {
    clusters: Object.keys(CDS!).sort(),
    endpoints: Object.entries(EDS!).flatMap(([name, { endpoints = [] }]) =>
      (endpoints as JsonObject[]).flatMap(({ priority = 0, lbEndpoints }) =>
        (lbEndpoints as JsonObject[]).map((one) => `${name} ${endpointText(one, Number(priority))}`)
      )
    ).sort(),
    listeners: Object.keys(LDS!).sort(),
  };
}

interface Listed {
  readonly endpoint: {
    readonly address: {
      readonly socketAddress: { readonly address: string; readonly portValue: number };
    };
  };
  readonly loadBalancingWeight: number;
  readonly healthStatus?: string;
}

function endpointText(listed: JsonObject, priority: number): string {
  const { endpoint, loadBalancingWeight, healthStatus } = listed as unknown as Listed;
  const { address, portValue } = endpoint.address.socketAddress;
  const health = healthStatus ?? "HEALTHY";
  return `${address}:${portValue} ${priority} ${loadBalancingWeight} ${health}`;
}

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}: whatever services become, each change is taken and nothing is left of the last`,
    [ENVOY],
    async () => {
      // deno-lint-ignore no-console
      console.log(`  seed ${SEED}`);
      const random = randomFrom(SEED);
      const ports = freePorts(3);
      await using served = await ServedEnvoy.start(mode, {
        services: randomServices(random, ports),
      });
      let last = "";
      for (let step = 0; step < STEPS; step++) {
        const services = randomServices(random, ports);
        const text = dump({ services }, { noRefs: true });
        if (text === last) continue;
        last = text;
        await served.write({ services });
        await served.envoy.process.expect(`step ${step}:\n${text}`, async () => {
          assertEquals(await heldBy(served), wanted(text));
          return true;
        });
        await served.settled();
        const refused = [...(await served.subscriptions()).values()].filter((s) => s.nacks > 0);
        assertEquals(refused, [], text);
      }
    },
  );
}
