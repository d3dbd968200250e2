/** We as the only configuration source of a whole, unmodified istiod of today. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { type Disturbance, Istiod, type IstioObject } from "./lib/istiod.ts";
import { Pinnace, type Rendered, type ServiceConfig } from "./lib/pinnace.ts";
import { namesOf, ORDERS, ORDERS_SPEC, simple } from "./lib/services.ts";

const PEERS = ["istiod"];

type Objects = ReadonlyMap<string, IstioObject>;

/** Waits until istiod shows exactly these objects, and that they are what `render` prints. */
async function holds(
  istiod: Istiod,
  pinnace: Pinnace,
  services: readonly ServiceConfig[],
): Promise<Objects> {
  const rendered = await pinnace.render();
  assertEquals([...rendered.keys()].sort(), namesOf(services));
  return await istiod.process.expect("it shows exactly what render prints", async () => {
    const objects = await istiod.objects();
    assertEquals(comparable(objects), comparable(rendered));
    return objects;
  });
}

/** What both sides say of an object. */
function comparable(objects: ReadonlyMap<string, IstioObject | Rendered>) {
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, { apiVersion, kind, metadata, spec }]) => {
    const { labels = {}, annotations = {} } = metadata;
    return { name, kind, group: apiVersion.split("/")[0], labels, annotations, spec: plain(spec) };
  });
}

/** Without what proto3's JSON leaves out: the first value of an enum. */
function plain(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { location, resolution, ...rest } = spec;
  return {
    ...rest,
    location: location ?? "MESH_EXTERNAL",
    resolution: resolution ?? "NONE",
  };
}

function versions(objects: Objects): Record<string, string> {
  return Object.fromEntries([...objects].map(([name, o]) => [name, o.metadata.resourceVersion]));
}

function difference(after: Disturbance, before: Disturbance): Disturbance {
  return { updates: after.updates - before.updates, pushes: after.pushes - before.pushes };
}

interopTest(
  "istiod: it gets ready and holds exactly our resources, also after add, change and delete",
  PEERS,
  async () => {
    const services = [ORDERS, simple("billing")];
    await using pinnace = await Pinnace.start({ services });
    await using istiod = await Istiod.start(pinnace.address);
    const first = await holds(istiod, pinnace, services);
    const orders = first.get("shop/orders")!;
    assertEquals(orders.spec, ORDERS_SPEC);
    assertEquals(orders.metadata.creationTimestamp, "2020-01-01T00:00:00Z");
    assertEquals(orders.metadata.labels, { team: "shop" });

    const added = [...services, simple("ledger"), simple("wide")];
    await pinnace.write({ services: added });
    const second = await holds(istiod, pinnace, added);

    const changed = [ORDERS, simple("billing", "10.1.0.9"), simple("ledger"), simple("wide")];
    await pinnace.write({ services: changed });
    const third = await holds(istiod, pinnace, changed);
    const differing = Object.entries(versions(second)).filter(([name, v]) =>
      versions(third)[name] !== v
    );
    assertEquals(differing.map(([name]) => name), ["edge/billing"]);

    await pinnace.write({ services: [ORDERS, simple("wide")] });
    await holds(istiod, pinnace, [ORDERS, simple("wide")]);
  },
);

interopTest(
  "istiod: after its own restart it holds the same, under the same versions",
  PEERS,
  async () => {
    const services = [ORDERS, simple("billing")];
    await using pinnace = await Pinnace.start({ services });
    const seen: Record<string, string>[] = [];
    for (let run = 0; run < 2; run++) {
      await using istiod = await Istiod.start(pinnace.address);
      seen.push(versions(await holds(istiod, pinnace, services)));
    }
    assertEquals(seen[1], seen[0]);
  },
);

interopTest(
  "istiod: our restart changes nothing there and makes it push nothing",
  PEERS,
  async () => {
    const services = (endpoint: string) => [ORDERS, simple("billing", endpoint), simple("ledger")];
    await using pinnace = await Pinnace.start({ services: services("10.1.0.1") });
    await using istiod = await Istiod.start(pinnace.address);
    const start = await holds(istiod, pinnace, services("10.1.0.1"));
    assert((await istiod.disturbance()).updates >= 3, "the sign that this test watches is there");

    // What one change alone costs, as the measure.
    const [quiet, one] = await disturbed(istiod, async () => {
      await pinnace.write({ services: services("10.1.0.2") });
      await holds(istiod, pinnace, services("10.1.0.2"));
    });
    assert(one.updates > 0 && one.pushes > 0, "a change is a disturbance");

    for (const end of ["stop", "kill"] as const) {
      const held = await istiod.objects();
      const responses = istiod.responses();
      await pinnace[end]();
      assertEquals(await istiod.objects(), held, "it keeps what it has while we are away");
      await pinnace.run();
      await istiod.process.expect(
        "it asked again and was answered",
        () => istiod.responses() > responses,
      );
      assertEquals(await istiod.objects(), held);
    }
    // A change after it comes in order behind whatever the restarts brought; together they cost as much as the change alone.
    await pinnace.write({ services: services("10.1.0.3") });
    await holds(istiod, pinnace, services("10.1.0.3"));
    await istiod.process.expect("as much as one change costs, and no more", async () => {
      assertEquals(difference(await istiod.disturbance(), quiet), one);
      return true;
    });
    assertEquals(versions(await istiod.objects())["shop/orders"], versions(start)["shop/orders"]);
  },
);

/** The disturbance that `action` causes, and what the counters said when it had settled. */
async function disturbed(
  istiod: Istiod,
  action: () => Promise<void>,
): Promise<[settled: Disturbance, cost: Disturbance]> {
  const before = await settled(istiod);
  await action();
  await istiod.process.expect(
    "it pushed",
    async () => (await istiod.disturbance()).pushes > before.pushes,
  );
  const after = await settled(istiod);
  return [after, difference(after, before)];
}

/** The counters once they stood still for longer than istiod's debounce (100 ms). */
async function settled(istiod: Istiod): Promise<Disturbance> {
  let last = await istiod.disturbance();
  let since = performance.now();
  return await istiod.process.expect("its counters stand still", async () => {
    const now = await istiod.disturbance();
    if (now.updates !== last.updates || now.pushes !== last.pushes) {
      [last, since] = [now, performance.now()];
    }
    return performance.now() - since > 1000 && last;
  });
}

interopTest("istiod: what changed while we were away arrives when we are back", PEERS, async () => {
  await using pinnace = await Pinnace.start({ services: [ORDERS, simple("a")] });
  await using istiod = await Istiod.start(pinnace.address);
  await holds(istiod, pinnace, [ORDERS, simple("a")]);
  await pinnace.kill();
  await pinnace.write({ services: [ORDERS, simple("b")] });
  await pinnace.run();
  await holds(istiod, pinnace, [ORDERS, simple("b")]);
});
