/** We as AggregatedMeshConfigService; the peer is Istio's own client of it, unchanged. */
import { assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { MeshConfigClient, SERVICE_ENTRY_MESSAGE } from "./lib/mesh_config_client.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { nameOf, ORDERS, ORDERS_SPEC_15, SERVICE_ENTRIES, simple } from "./lib/services.ts";
import { until } from "./lib/wait.ts";

const PEERS = ["mesh-config-client"];

/** Types that a Pilot 1.0 asks for besides those that there still are. */
const OLD_TYPES = [
  "authentication.v1alpha1.Policy",
  "mixer.v1.config.client.HTTPAPISpec",
  "mixer.v1.config.client.QuotaSpecBinding",
  "rbac.v1alpha1.ServiceRole",
  "rbac.v1alpha1.RbacConfig",
].map((name) => `type.googleapis.com/istio.${name}`);

interopTest(
  "mesh config: a client asks by message type or by collection, and follows every change",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
    const types = [SERVICE_ENTRY_MESSAGE, SERVICE_ENTRIES];
    await using client = new MeshConfigClient(pinnace.address, { types });
    for (const type of types) await client.holds(type, ["edge/a", nameOf(ORDERS)]);
    const [change] = client.changes(SERVICE_ENTRY_MESSAGE);
    const orders = change!.resources.find(({ name }) => name === nameOf(ORDERS))!;
    assertEquals([orders.typeUrl, orders.body], [SERVICE_ENTRY_MESSAGE, ORDERS_SPEC_15]);
    assertEquals(orders.metadata.createTime, "2020-01-01T00:00:00Z");

    await pinnace.write({ services: [ORDERS, simple("a", "10.1.0.2"), simple("b")] });
    for (const type of types) {
      const held = await client.holds(type, ["edge/a", "edge/b", nameOf(ORDERS)]);
      assertEquals(held[nameOf(ORDERS)], orders.version, "what did not change keeps its version");
    }
    await pinnace.write({ services: [simple("b")] });
    for (const type of types) await client.holds(type, ["edge/b"]);
  },
);

interopTest("mesh config: every type is answered, those too that are no more", PEERS, async () => {
  await using pinnace = await Pinnace.start({ services: [ORDERS] });
  const types = [SERVICE_ENTRY_MESSAGE, ...OLD_TYPES];
  await using client = new MeshConfigClient(pinnace.address, { types });
  await client.holds(SERVICE_ENTRY_MESSAGE, [nameOf(ORDERS)]);
  for (const type of OLD_TYPES) await client.holds(type, []);
});

interopTest("mesh config: what a client refuses is not sent again", PEERS, async () => {
  await using pinnace = await Pinnace.start({ services: [ORDERS] });
  const types = [SERVICE_ENTRY_MESSAGE];
  await using client = new MeshConfigClient(pinnace.address, { types, refuse: "/poison$" });
  await client.holds(SERVICE_ENTRY_MESSAGE, [nameOf(ORDERS)]);
  await pinnace.write({ services: [ORDERS, simple("poison")] });
  await until(
    "the NACK is counted",
    async () => (await pinnace.metrics()).sum("pinnace_nacks_total") === 1,
  );
  await pinnace.write({ services: [ORDERS, simple("poison"), simple("good")] });
  await client.holds(SERVICE_ENTRY_MESSAGE, ["edge/good", nameOf(ORDERS)]);
  const refused = client.changes(SERVICE_ENTRY_MESSAGE).filter(({ nack }) => nack !== undefined);
  assertEquals(refused.length, 1);
});

interopTest("mesh config: after our restart a client is answered anew", PEERS, async () => {
  await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
  const types = [SERVICE_ENTRY_MESSAGE];
  await using client = new MeshConfigClient(pinnace.address, { types });
  const before = await client.holds(SERVICE_ENTRY_MESSAGE, ["edge/a", nameOf(ORDERS)]);
  await pinnace.stop();
  await pinnace.write({ services: [ORDERS] });
  await pinnace.run();
  const after = await client.holds(SERVICE_ENTRY_MESSAGE, [nameOf(ORDERS)]);
  assertEquals(after[nameOf(ORDERS)], before[nameOf(ORDERS)]);
});

interopTest(
  "mesh config: a rule of `peers` limits a client, and its change takes away what it forbids",
  PEERS,
  async () => {
    const services = [ORDERS, simple("a")];
    const match = { annotations: { purpose: "inter*" } };
    const config = (...namespaces: string[]) => ({ services, peers: [{ match, namespaces }] });
    await using pinnace = await Pinnace.start(config("edge", "shop"));
    const types = [SERVICE_ENTRY_MESSAGE];
    await using client = new MeshConfigClient(pinnace.address, { types });
    await client.holds(SERVICE_ENTRY_MESSAGE, ["edge/a", nameOf(ORDERS)]);
    await pinnace.write(config("edge"));
    await client.holds(SERVICE_ENTRY_MESSAGE, ["edge/a"]);
    await pinnace.write({ services });
    await client.holds(SERVICE_ENTRY_MESSAGE, ["edge/a", nameOf(ORDERS)]);
  },
);
