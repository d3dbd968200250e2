/** A real Envoy sticks to the preferred locality however many of its endpoints drain. */
import { assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY } from "./lib/envoy.ts";
import { Fleet } from "./lib/fleet.ts";
import { whoAnswers } from "./lib/load.ts";
import { freePort } from "./lib/ports.ts";
import { cluster, MODES, ServedEnvoy, through } from "./lib/served_envoy.ts";

const NEAR = ["near-1", "near-2", "near-3", "near-4"];

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}: while most of the preferred locality drains, the next one gets nothing`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet([...NEAR, "far"]);
      const port = freePort();
      const services = (draining: readonly string[]) => [{
        name: "echo",
        ports: [`${port}:${fleet.port}/HTTP`],
        endpoints: [...NEAR, "far"].map((name) => ({
          address: fleet.address(name),
          locality: name === "far" ? "us" : "eu",
          ...(draining.includes(name) ? { drain: true } : {}),
        })),
        failover: ["eu"],
      }];
      await using served = await ServedEnvoy.start(mode, { services: services([]) });
      for (let count = 0; count <= NEAR.length; count++) {
        const draining = NEAR.slice(0, count);
        if (count > 0) await served.write({ services: services(draining) });
        await served.endpoints(
          cluster(port, "echo.default.svc.cluster.local"),
          [...NEAR.map((name) => draining.includes(name) ? "DRAINING" : "HEALTHY"), "HEALTHY"],
          ({ health }) => health,
        );
        const left = NEAR.slice(count).join(" ");
        assertEquals(await whoAnswers(through(port, "echo")), left === "" ? "far" : left);
      }
    },
  );
}
