/** We dial ResourceSinks; the peers are sink servers of Istio 1.5.10, unchanged. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { namesOf, ORDERS, ORDERS_SPEC_15, SERVICE_ENTRIES, simple } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";

const PEERS = ["mcp-sink-server"];

/** Two sinks that are dialled, and the addresses they listen on once they run. */
function twoSinks() {
  const [a, b] = freePorts(2).map((port) => `127.0.0.1:${port}`) as [string, string];
  const sinks = [
    {
      name: "mesh-a",
      address: a,
      headers: { "x-site": "fra", "x-shard": "seven" },
      heartbeat: "3s",
    },
    { name: "mesh-b", address: b, headers: { "x-site": "ams" }, heartbeat: "3s" },
  ];
  return { a, b, sinks };
}

function headersOf(sink: Sink): Record<string, string[]> {
  const open = sink.process.objects.find((o) => o.event === "stream-open");
  return open!.headers as Record<string, string[]>;
}

interopTest(
  "mcp sink: two sinks, one late, hold exactly our services and got our headers",
  PEERS,
  async () => {
    const { a, b, sinks } = twoSinks();
    const services = [ORDERS, simple("billing")];
    await using first = await Sink.listening(a, { collections: "pilot" });
    await using pinnace = await Pinnace.start({ services, sinks });
    await first.holds(namesOf(services));
    await first.process.expect(
      "all its collections are answered",
      () => first.changes().length >= 19,
    );
    assertEquals(headersOf(first)["x-site"], ["fra"]);
    assertEquals(headersOf(first)["x-shard"], ["seven"]);

    await using late = await Sink.listening(b, { incremental: true });
    assertEquals(await late.holds(namesOf(services)), await first.holds(namesOf(services)));
    assertEquals(headersOf(late)["x-site"], ["ams"]);
    const orders = late.changes(SERVICE_ENTRIES)[0]!.resources.find((r) =>
      r.name === "shop/orders"
    );
    assertEquals(orders?.body, ORDERS_SPEC_15);

    await pinnace.write({ services: [ORDERS, simple("ledger")], sinks });
    await first.holds(["edge/ledger", "shop/orders"]);
    await late.holds(["edge/ledger", "shop/orders"]);
    const [, difference] = late.changes(SERVICE_ENTRIES);
    assertEquals(difference!.resources.map((r) => r.name), ["edge/ledger"]);
    assertEquals(difference!.removed, ["edge/billing"]);
  },
);

interopTest(
  "mcp sink: a restarted sink is dialled again and filled; the other is not disturbed",
  PEERS,
  async () => {
    const { a, b, sinks } = twoSinks();
    const services = [ORDERS, simple("billing")];
    await using steady = await Sink.listening(a);
    await using pinnace = await Pinnace.start({ services, sinks });
    {
      await using before = await Sink.listening(b);
      await before.holds(namesOf(services));
    }
    const changed = [ORDERS, simple("billing", "10.1.0.2")];
    await pinnace.write({ services: changed, sinks });
    await steady.change(1); // pushed although the other sink is away
    await using after = await Sink.listening(b);
    assertEquals(await after.holds(namesOf(changed)), await steady.holds(namesOf(changed)));
    assertEquals(steady.streams, 1);
    assertEquals(steady.changes(SERVICE_ENTRIES).length, 2);
  },
);

interopTest(
  "mcp sink: after our restart the sinks are dialled again, and an incremental one is sent only what changed",
  PEERS,
  async () => {
    const { a, sinks } = twoSinks();
    await using sink = await Sink.listening(a, { incremental: true });
    await using pinnace = await Pinnace.start({
      services: [ORDERS, simple("a")],
      sinks: [sinks[0]!],
    });
    await sink.holds(["edge/a", "shop/orders"]);
    await pinnace.kill();
    await pinnace.write({ services: [ORDERS, simple("b")], sinks: [sinks[0]!] });
    const seen = sink.changes(SERVICE_ENTRIES).length;
    await pinnace.run();
    await sink.holds(["edge/b", "shop/orders"]);
    const pushed = sink.changes(SERVICE_ENTRIES).slice(seen);
    assertEquals(pushed.flatMap((change) => change.resources.map((r) => r.name)), ["edge/b"]);
    assertEquals(pushed.flatMap((change) => change.removed), ["edge/a"]);
  },
);

interopTest(
  "mcp sink: the trigger's own NACK is no NACK of ours, however often the heartbeat repeats it",
  PEERS,
  async () => {
    const { a, sinks } = twoSinks();
    await using sink = await Sink.listening(a);
    await using pinnace = await Pinnace.start({ services: [ORDERS], sinks: [sinks[0]!] });
    await sink.holds(["shop/orders"]);
    // Istio's sink logs each trigger as an unsupported collection: the opening one and two heartbeats.
    const triggers = () =>
      sink.process.text.filter((line) => line.includes("unsupported collection")).length;
    await sink.process.expect("two heartbeats passed", () => triggers() >= 3);
    assertEquals((await pinnace.metrics()).sum("pinnace_nacks_total"), 0);
    assert(sink.streams === 1, "an idle stream stays open");
    const warnings = pinnace.process.objects.filter((line) => /^warn/i.test(String(line.level)));
    assertEquals(warnings.map((line) => JSON.stringify(line)), []);
  },
);
