/** The configurations of docs/clients.md as they stand there: an Envoy and a gRPC program. */
import { assertEquals } from "@std/assert";
import { load } from "js-yaml";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY, Envoy } from "./lib/envoy.ts";
import type { JsonObject } from "./lib/envoy_bootstrap.ts";
import { Fleet } from "./lib/fleet.ts";
import { GrpcClient } from "./lib/grpc_client.ts";
import { orders, Servers } from "./lib/grpc_world.ts";
import { blocks, section } from "./lib/guide.ts";
import { sendOne } from "./lib/load.ts";
import { Pinnace, type PinnaceConfig } from "./lib/pinnace.ts";
import { freePort } from "./lib/ports.ts";
import { through } from "./lib/served_envoy.ts";

interopTest("clients' guide: an Envoy, configured as the guide says", [ENVOY], async () => {
  await using fleet = new Fleet(["orders"]);
  const port = freePort();
  const guide = await section("clients.md", "Envoy");
  const [config, bootstrap] = blocks(guide, "yaml");
  const { listen: [address], ...rest } = load(
    config!.replaceAll("192.0.2.10, 192.0.2.11", fleet.address("orders"))
      .replaceAll("8080:80", `${port}:${fleet.port}`),
  ) as PinnaceConfig & { listen: string[] };
  await using pinnace = await Pinnace.start(rest);
  const [, listens] = address!.split(":");
  const [, served] = pinnace.address.split(":");
  const { admin: _, ...asked } = load(bootstrap!.replaceAll(listens!, served!)) as JsonObject;
  await using envoy = await Envoy.run(asked);
  await envoy.ready();
  const [curl] = blocks(guide, "sh");
  const host = /-H 'Host: (\S+)'/.exec(curl!)![1]!;
  assertEquals(await sendOne(through(port, host)), "orders");
});

interopTest(
  "clients' guide: a gRPC program, configured as the guide says",
  ["grpc-python", "grpc-backend"],
  async () => {
    await using servers = await Servers.start();
    await using pinnace = await Pinnace.start({ services: [orders([servers.at("a")])] });
    const guide = await section("clients.md", "gRPC programs without a proxy");
    const bootstrap = blocks(guide, "json")[0]!.replaceAll("127.0.0.1:15010", pinnace.address);
    const [target] = /xds:\/\/\/[\w.:]+\w/.exec(guide)!;
    await using client = await GrpcClient.start("grpc-python", { bootstrap });
    const { answers, failures } = await client.call(target, 3);
    assertEquals({ answers, failures }, { answers: { a: 3 }, failures: [] });
  },
);
