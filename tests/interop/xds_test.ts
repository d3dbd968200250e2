/** MCP over xDS, both variants; the peer is a client with the types of go-control-plane and istio.io/api. */
import { assertEquals, assertMatch } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { namesOf, ORDERS, ORDERS_SPEC, simple } from "./lib/services.ts";
import { until } from "./lib/wait.ts";
import { XdsClient, type XdsResponse } from "./lib/xds_client.ts";

const PEERS = ["xds-client"];
const ENTRY = "networking.istio.io/v1/ServiceEntry";
const ENTRY_TYPES = ["v1", "v1beta1", "v1alpha3"].map((v) =>
  `networking.istio.io/${v}/ServiceEntry`
);

/** What a Pilot of today asks for, beside ServiceEntry. */
const OTHER_TYPES = [
  "core/v1alpha1/MeshConfig",
  "extensions.istio.io/v1alpha1/TrafficExtension",
  "extensions.istio.io/v1alpha1/WasmPlugin",
  "networking.istio.io/v1/DestinationRule",
  "networking.istio.io/v1/Gateway",
  "networking.istio.io/v1/Sidecar",
  "networking.istio.io/v1/VirtualService",
  "networking.istio.io/v1/WorkloadEntry",
  "networking.istio.io/v1/WorkloadGroup",
  "networking.istio.io/v1alpha3/EnvoyFilter",
  "networking.istio.io/v1beta1/ProxyConfig",
  "security.istio.io/v1/AuthorizationPolicy",
  "security.istio.io/v1/PeerAuthentication",
  "security.istio.io/v1/RequestAuthentication",
  "telemetry.istio.io/v1/Telemetry",
];

/** What a response brought, in short. */
function brought({ resources, removed }: XdsResponse) {
  return { resources: resources.map((r) => r.name), removed };
}

for (const mode of ["sotw", "delta"] as const) {
  interopTest(
    `xds ${mode}: each type that is asked is answered under its own name`,
    PEERS,
    async () => {
      const services = [ORDERS, simple("billing")];
      await using pinnace = await Pinnace.start({ services });
      const types = [...ENTRY_TYPES, ...OTHER_TYPES];
      await using client = new XdsClient(pinnace.address, { mode, types });
      for (const type of types) {
        const answer = await client.response(type, 0);
        const names = ENTRY_TYPES.includes(type) ? namesOf(services) : [];
        assertEquals(brought(answer), { resources: names, removed: [] }, type);
        assertEquals(answer.controlPlane, "interop");
      }
      const [v1, ...others] = ENTRY_TYPES.map((type) => client.responses(type)[0]!);
      const orders = v1!.resources.find((r) => r.name === "shop/orders")!;
      assertEquals(orders.anyType, "type.googleapis.com/istio.mcp.v1alpha1.Resource");
      assertEquals(orders.bodyType, "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry");
      assertEquals(orders.body, ORDERS_SPEC);
      assertMatch(orders.version, /^[0-9a-f]{16}$/);
      assertEquals(orders.metadata.createTime, "2020-01-01T00:00:00Z");
      for (const other of others) assertEquals(other.resources, v1!.resources);
      assertEquals(client.process.objects.filter((o) => o.event === "mismatch"), []);
    },
  );

  interopTest(`xds ${mode}: a refusal is counted, and other changes go on`, PEERS, async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS] });
    await using client = new XdsClient(pinnace.address, {
      mode,
      types: [ENTRY],
      refuse: "/poison$",
    });
    await client.holds(ENTRY, ["shop/orders"]);
    await pinnace.write({ services: [ORDERS, simple("poison")] });
    await until(
      "the NACK is counted",
      async () => (await pinnace.metrics()).sum("pinnace_nacks_total") === 1,
    );
    await pinnace.write({ services: [ORDERS, simple("poison"), simple("good")] });
    await client.holds(ENTRY, ["edge/good", "shop/orders"]);
    assertEquals(client.responses(ENTRY).filter((r) => r.nack !== "").length, 1);
  });

  interopTest(
    `xds ${mode}: names that are given up and asked for again come again`,
    PEERS,
    async () => {
      await using pinnace = await Pinnace.start({
        services: [simple("a"), simple("b"), simple("c")],
      });
      await using client = new XdsClient(pinnace.address, {
        mode,
        types: [ENTRY],
        names: ["edge/a", "edge/b"],
      });
      assertEquals(brought(await client.response(ENTRY, 0)).resources, ["edge/a", "edge/b"]);
      await client.unsubscribe(ENTRY, ["edge/a"]);
      const seen = client.responses(ENTRY).length;
      await client.subscribe(ENTRY, ["edge/a"]);
      await client.process.expect(
        "the name comes again",
        () =>
          client.responses(ENTRY).slice(seen).some((r) => brought(r).resources.includes("edge/a")),
      );
      await client.holds(ENTRY, ["edge/a", "edge/b"]);
    },
  );

  interopTest(`xds ${mode}: a name that does not exist is waited for`, PEERS, async () => {
    await using pinnace = await Pinnace.start({ services: [simple("a")] });
    const names = ["edge/a", "edge/later"];
    await using client = new XdsClient(pinnace.address, { mode, types: [ENTRY], names });
    assertEquals(brought(await client.response(ENTRY, 0)), { resources: ["edge/a"], removed: [] });
    await pinnace.write({ services: [simple("a"), simple("later"), simple("other")] });
    await client.holds(ENTRY, names);
  });

  interopTest(
    `xds ${mode}: a type that is not served ends the stream with a reason`,
    PEERS,
    async () => {
      await using pinnace = await Pinnace.start({ services: [ORDERS] });
      const types = ["type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"];
      await using client = new XdsClient(pinnace.address, { mode, types });
      await client.process.expect("its stream ends", () => client.ends.length > 0);
      assertMatch(client.ends[0]!, /code = InvalidArgument .*Secret/);
      assertEquals(client.responses(), []);
    },
  );
}

interopTest("xds sotw: each response is the whole state", PEERS, async () => {
  await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
  await using client = new XdsClient(pinnace.address, { mode: "sotw", types: ENTRY_TYPES });
  const first = await client.holds(ENTRY, ["edge/a", "shop/orders"]);
  await pinnace.write({ services: [ORDERS, simple("a", "10.1.0.2"), simple("b")] });
  for (const type of ENTRY_TYPES) {
    const response = await client.response(type, 1);
    assertEquals(brought(response).resources, ["edge/a", "edge/b", "shop/orders"]);
    assertEquals(response.held["shop/orders"], first["shop/orders"]);
  }
  await client.reconnect();
  const again = await client.response(ENTRY, 2);
  assertEquals(again.held, client.responses(ENTRY)[1]!.held);
  assertEquals(again.version, client.responses(ENTRY)[1]!.version);
});

interopTest("xds delta: each response holds what changed and nothing else", PEERS, async () => {
  const many = Array.from({ length: 50 }, (_, i) => simple(`s${i}`));
  await using pinnace = await Pinnace.start({ services: many });
  await using client = new XdsClient(pinnace.address, { mode: "delta", types: [ENTRY] });
  assertEquals((await client.response(ENTRY, 0)).resources.length, 50);

  await pinnace.write({ services: [...many, ORDERS] });
  assertEquals(brought(await client.response(ENTRY, 1)), {
    resources: ["shop/orders"],
    removed: [],
  });
  const changed = [simple("s0", "10.1.0.9"), ...many.slice(1, -1)];
  await pinnace.write({ services: changed });
  const last = await client.response(ENTRY, 2);
  assertEquals(last.resources.map((r) => r.name), ["edge/s0"]);
  assertEquals([...last.removed].sort(), ["edge/s49", "shop/orders"]);
  await client.holds(ENTRY, namesOf(changed));
});

interopTest(
  "xds delta: a client that comes back gets the difference to what it holds",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a"), simple("b")] });
    await using client = new XdsClient(pinnace.address, { mode: "delta", types: [ENTRY] });
    await client.holds(ENTRY, ["edge/a", "edge/b", "shop/orders"]);

    await client.reconnect(); // nothing changed
    assertEquals(brought(await client.response(ENTRY, 1)), { resources: [], removed: [] });

    await pinnace.kill();
    await pinnace.write({ services: [ORDERS, simple("b", "10.1.0.2"), simple("c")] });
    await pinnace.run();
    await client.holds(ENTRY, ["edge/b", "edge/c", "shop/orders"]);
    const pushed = client.responses(ENTRY).slice(2);
    assertEquals(pushed.flatMap((r) => r.resources.map((x) => x.name)).sort(), [
      "edge/b",
      "edge/c",
    ]);
    assertEquals(pushed.flatMap((r) => r.removed), ["edge/a"]);
  },
);
