/** Dubbo 3.2.8 behind a real Envoy: `tri://` to the mesh port of a sidecar, traffic split between versions. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { METADATA_PORT, startConsumer, startProvider } from "./lib/dubbo.ts";
import { ENVOY } from "./lib/envoy.ts";
import { OwnAddresses } from "./lib/own_addresses.ts";
import { MODES, ServedEnvoy } from "./lib/served_envoy.ts";

const PROVIDER = "hello-provider";
const HOST = `${PROVIDER}.default.svc.cluster.local`;

/** Where providers listen; callers know the mesh port, 80, alone. */
const TRI_PORT = 50052;

const CALLS = 2000;

/** How far a share may be off: more than four times the deviation that chance has. */
const TOLERANCE = 0.04;

for (const mode of MODES) {
  interopTest(
    `dubbo sidecar ${mode}: calls to the mesh port are split 80 to 20 between versions, and follow a new split`,
    ["dubbo", ENVOY],
    async () => {
      await using addresses = await OwnAddresses.take(3);
      const [v1, v2, sidecar] = addresses.all as [string, string, string];
      await using _first = await startProvider(provider("v1", v1));
      await using _second = await startProvider(provider("v2", v2));
      const config = (split: Record<string, number>) => ({
        envoy: { bind: sidecar },
        services: [{
          name: PROVIDER,
          ports: [`80:${TRI_PORT}/GRPC`],
          endpoints: [
            { address: v1, labels: { version: "v1" } },
            { address: v2, labels: { version: "v2" } },
          ],
          split,
        }],
      });
      await using served = await ServedEnvoy.start(mode, config({ v1: 80, v2: 20 }));
      await using consumer = await startConsumer({
        providedBy: PROVIDER,
        hosts: { [HOST]: sidecar },
      });
      const { answered, failed } = await consumer.call(CALLS);
      assertEquals(failed, {});
      const share = (answered.v1 ?? 0) / CALLS;
      assert(Math.abs(share - 0.8) <= TOLERANCE, `v1 has ${share} of the calls, not 0.8`);
      assertEquals((answered.v1 ?? 0) + (answered.v2 ?? 0), CALLS);

      await consumer.start(5);
      await served.write(config({ v2: 1 }));
      await consumer.reaches("v2");
      assertEquals((await consumer.stop()).failed, {});
    },
  );
}

function provider(name: string, host: string) {
  // No registry: whoever calls knows nothing but the sidecar.
  return { name, application: PROVIDER, host, port: TRI_PORT, metadata: METADATA_PORT };
}
