/** We as the only configuration source of a whole Pilot 1.5.10. */
import { assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Pilot15 } from "./lib/pilot15.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { namesOf, ORDERS, ORDERS_SPEC_15, simple } from "./lib/services.ts";

const PEERS = ["pilot-1.5"];

function holds(pilot: Pilot15, names: readonly string[]) {
  return pilot.process.expect(`it shows exactly ${names.join(" ")}`, async () => {
    const objects = await pilot.objects();
    return [...objects.keys()].sort().join(" ") === names.join(" ") && objects;
  });
}

interopTest(
  "pilot 1.5: it gets ready, shows our services, and follows each change",
  PEERS,
  async () => {
    const services = [ORDERS, simple("billing")];
    await using pinnace = await Pinnace.start({ services });
    await using pilot = await Pilot15.start(pinnace.address);
    const objects = await holds(pilot, namesOf(services));
    const orders = objects.get("shop/orders")!;
    assertEquals(orders.type, "ServiceEntry");
    assertEquals(orders.Spec, ORDERS_SPEC_15);
    assertEquals(orders.creationTimestamp, "2020-01-01T00:00:00Z");
    assertEquals(orders.labels, { team: "shop" });
    await pilot.process.expect(
      "it made services of them",
      async () =>
        (await pilot.hosts()).join() === "billing.edge.example.com,orders.shop.example.com",
    );

    await pinnace.write({ services: [...services, simple("ledger")] });
    await holds(pilot, namesOf([...services, simple("ledger")]));

    await pinnace.write({ services: [ORDERS, simple("billing", "10.1.0.9"), simple("ledger")] });
    await pilot.process.expect("the change arrives", async () => {
      const billing = (await pilot.objects()).get("edge/billing");
      return JSON.stringify(billing?.Spec).includes("10.1.0.9");
    });
    await pinnace.write({ services: [ORDERS] });
    await holds(pilot, ["shop/orders"]);
  },
);

interopTest(
  "pilot 1.5: it keeps our services while we are away, and takes up again what changed",
  PEERS,
  async () => {
    await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
    await using pilot = await Pilot15.start(pinnace.address);
    const before = await holds(pilot, ["edge/a", "shop/orders"]);
    await pinnace.kill();
    assertEquals([...(await pilot.objects()).keys()].sort(), ["edge/a", "shop/orders"]);
    await pinnace.write({ services: [ORDERS, simple("b")] });
    await pinnace.run();
    const after = await holds(pilot, ["edge/b", "shop/orders"]);
    assertEquals(after.get("shop/orders"), before.get("shop/orders"));
  },
);
