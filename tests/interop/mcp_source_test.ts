/** We as MCP ResourceSource; the peer is the sink library of Istio 1.5.10, unchanged. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import {
  nameOf,
  namesOf,
  ORDERS,
  ORDERS_SPEC_15,
  SERVICE_ENTRIES,
  simple,
} from "./lib/services.ts";
import { Sink, type SinkChange } from "./lib/sink.ts";
import { until } from "./lib/wait.ts";

const PEERS = ["mcp-sink-client"];

/** What a response brought, in short. */
function brought(change: SinkChange) {
  const { incremental, resources, removed } = change;
  return { incremental, resources: resources.map((r) => r.name), removed };
}

interopTest(
  "mcp source: all 19 collections of a Pilot are answered, ServiceEntries in full",
  PEERS,
  async () => {
    const services = [ORDERS, simple("billing")];
    await using pinnace = await Pinnace.start({ services });
    await using sink = Sink.dialling(pinnace.address, { collections: "pilot" });
    const asked = await sink.process.expectObject(
      "it says what it asks",
      (o) => o.event === "asking",
    );
    const collections = asked.collections as string[];
    assertEquals(collections.length, 19);
    await sink.process.expect(
      "each collection is answered",
      () => collections.every((collection) => sink.changes(collection).length > 0),
    );
    await sink.holds(namesOf(services));
    for (const { collection, resources, incremental } of sink.changes()) {
      assertEquals(incremental, false, collection);
      assertEquals(resources.length, collection === SERVICE_ENTRIES ? 2 : 0, collection);
    }
    const [change] = sink.changes(SERVICE_ENTRIES);
    const orders = change!.resources.find((r) => r.name === nameOf(ORDERS))!;
    assertEquals(orders.typeUrl, "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry");
    assertEquals(orders.body, ORDERS_SPEC_15);
    assertMatch(orders.version, /^[0-9a-f]{16}$/);
    const { name, version, createTime, labels } = orders.metadata;
    assertEquals({ name, version, createTime, labels }, {
      name: "shop/orders",
      version: orders.version,
      createTime: "2020-01-01T00:00:00Z",
      labels: { team: "shop" },
    });
  },
);

interopTest(
  "mcp source: a full sink follows additions, changes and removals, and is told nothing else",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
    await using sink = Sink.dialling(pinnace.address, { collections: "pilot" });
    const before = await sink.holds(["edge/a", "shop/orders"]);
    await sink.process.expect("the rest is answered", () => sink.changes().length === 19);

    await pinnace.write({ services: [ORDERS, simple("a"), simple("b")] });
    const added = await sink.change(1);
    assertEquals(brought(added), {
      incremental: false,
      resources: ["edge/a", "edge/b", "shop/orders"],
      removed: [],
    });
    await pinnace.write({ services: [ORDERS, simple("a", "10.1.0.2"), simple("b")] });
    const changed = await sink.change(2);
    assertEquals(changed.held["shop/orders"], before["shop/orders"]);
    assertEquals(changed.held["edge/b"], added.held["edge/b"]);
    assert(changed.held["edge/a"] !== before["edge/a"], "a changed service has a new version");

    await pinnace.write({ services: [simple("a", "10.1.0.2")] });
    assertEquals(brought(await sink.change(3)).resources, ["edge/a"]);
    assertEquals(sink.changes().length, 19 + 3, "collections that did not change are not pushed");
  },
);

interopTest(
  "mcp source: pushes to a sink that asks incremental hold what changed and nothing else",
  PEERS,
  async () => {
    const many = Array.from({ length: 50 }, (_, i) => simple(`s${i}`));
    await using pinnace = await Pinnace.start({ services: many });
    await using sink = Sink.dialling(pinnace.address, { incremental: true });
    assertEquals((await sink.change(0)).resources.length, 50);

    await pinnace.write({ services: [...many, ORDERS] });
    const one = { incremental: true, removed: [] };
    assertEquals(brought(await sink.change(1)), { ...one, resources: ["shop/orders"] });

    const changed = [simple("s0", "10.1.0.9"), ...many.slice(1)];
    await pinnace.write({ services: [...changed, ORDERS] });
    assertEquals(brought(await sink.change(2)), { ...one, resources: ["edge/s0"] });

    await pinnace.write({ services: [...changed.slice(0, -1), ORDERS] });
    assertEquals(brought(await sink.change(3)), { ...one, resources: [], removed: ["edge/s49"] });

    await pinnace.write({ services: changed.slice(0, -1) });
    const last = await sink.change(4);
    assertEquals(brought(last), { ...one, resources: [], removed: ["shop/orders"] });
    assertEquals(Object.keys(last.held).sort(), namesOf(changed.slice(0, -1)));
  },
);

interopTest(
  "mcp source: after our restart an incremental sink gets the difference to what it held",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a"), simple("b")] });
    await using sink = Sink.dialling(pinnace.address, { incremental: true });
    const held = await sink.holds(["edge/a", "edge/b", "shop/orders"]);

    await pinnace.stop();
    await pinnace.write({ services: [ORDERS, simple("b", "10.1.0.2")] });
    const seen = sink.changes(SERVICE_ENTRIES).length;
    await pinnace.run();
    const after = await sink.holds(["edge/b", "shop/orders"]);
    assertEquals(after["shop/orders"], held["shop/orders"]);
    const pushed = sink.changes(SERVICE_ENTRIES).slice(seen);
    assertEquals(pushed.flatMap((change) => change.resources.map((r) => r.name)), ["edge/b"]);
    assertEquals(pushed.flatMap((change) => change.removed), ["edge/a"]);
  },
);

interopTest(
  "mcp source: what a sink refuses is one warning and a metric, is not sent again, and holds nothing else up",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS] });
    await using sink = Sink.dialling(pinnace.address, { refuse: "/poison$" });
    await sink.holds([nameOf(ORDERS)]);

    await pinnace.write({ services: [ORDERS, simple("poison")] });
    await until(
      "the NACK is counted",
      async () => (await pinnace.metrics()).sum("pinnace_nacks_total") === 1,
    );
    const warnings = () =>
      pinnace.process.objects.filter((line) =>
        /^warn/i.test(String(line.level)) && JSON.stringify(line).includes("refused on request")
      );
    await pinnace.process.expect("the NACK is logged", () => warnings().length > 0);

    await pinnace.write({ services: [ORDERS, simple("poison"), simple("good")] });
    await sink.holds(["edge/good", nameOf(ORDERS)]);
    const refused = sink.changes(SERVICE_ENTRIES).filter((change) => change.nack !== undefined);
    assertEquals(refused.length, 1, "what was refused is not sent again");
    assertEquals(warnings().length, 1, pinnace.process.describe());
    assertMatch(JSON.stringify(warnings()[0]), /edge\/poison/);
    assertEquals((await pinnace.metrics()).sum("pinnace_nacks_total"), 1);

    await pinnace.write({ services: [ORDERS, simple("good")] });
    await pinnace.write({ services: [ORDERS, simple("good", "10.1.0.7")] });
    await sink.process.expect("later changes arrive", () => {
      const body = sink.changes(SERVICE_ENTRIES).at(-1)?.resources.find((r) =>
        r.name === "edge/good"
      )?.body;
      return JSON.stringify(body).includes("10.1.0.7");
    });
  },
);
