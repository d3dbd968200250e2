/** Edges that dial a receiver, which serves what all of them have to a whole, unmodified istiod. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { edge, receiving, startEdge } from "./lib/edges.ts";
import { Istiod, type IstioObject } from "./lib/istiod.ts";
import { FirewalledNetwork } from "./lib/netns.ts";
import { Pinnace, type ServiceConfig } from "./lib/pinnace.ts";
import { namesOf, simple } from "./lib/services.ts";

/** Waits until istiod holds exactly these objects; gives them. */
function holds(
  istiod: Istiod,
  names: readonly string[],
): Promise<ReadonlyMap<string, IstioObject>> {
  const wanted = [...names].sort();
  return istiod.process.expect(`it holds exactly ${wanted.join(" ")}`, async () => {
    const objects = await istiod.objects();
    assertEquals([...objects.keys()].sort(), wanted);
    return objects;
  });
}

/** A service of an edge, in the edge's namespace. */
function of(namespace: string, name: string, endpoint = "10.1.0.1"): ServiceConfig {
  return { ...simple(name, endpoint), namespace, hosts: [`${name}.${namespace}.example.com`] };
}

function endpointOf(objects: ReadonlyMap<string, IstioObject>, name: string): unknown {
  const { endpoints } = objects.get(name)!.spec as { endpoints: { address: string }[] };
  return endpoints.map(({ address }) => address).join(" ");
}

/** What the receiver says of its sources: name to state. */
async function sources(receiver: Pinnace): Promise<Record<string, string>> {
  const { sources } = await receiver.status() as { sources: { name: string; state: string }[] };
  return Object.fromEntries(sources.map(({ name, state }) => [name, state]));
}

interopTest(
  "receiver: what two edges behind firewalls dial in with is, together, what a whole istiod holds",
  ["istiod"],
  async () => {
    await using netA = await FirewalledNetwork.open(0);
    await using netB = await FirewalledNetwork.open(1);
    const ours = receiving("0.0.0.0", { insecure: true });
    const port = ours.dialled.split(":")[1];
    await using receiver = await Pinnace.start(ours.config);
    const dialled = { a: `${netA.outside}:${port}`, b: `${netB.outside}:${port}` };
    const both = [of("a", "orders"), of("a", "shared")];
    await using a = await startEdge(edge("edge-a", dialled.a, both), { prefix: netA.prefix });
    // The name a/shared is offered by both; who came first keeps it.
    await receiver.process.expect(
      "edge-a is there",
      async () => "edge-a" in await sources(receiver),
    );
    const others = [of("b", "billing"), of("a", "shared", "10.9.9.9")];
    await using b = await startEdge(edge("edge-b", dialled.b, others), { prefix: netB.prefix });
    await using istiod = await Istiod.start(receiver.address);
    const first = await holds(istiod, ["a/orders", "a/shared", "b/billing"]);
    assertEquals(endpointOf(first, "a/shared"), "10.1.0.1", "the one that came first stays");
    const { findings } = await receiver.status() as { findings: { message: string }[] };
    assert(
      findings.some(({ message }) => /edge-a/.test(message) && /edge-b/.test(message)),
      "said",
    );

    // Nobody can dial an edge: it is reached because it dials.
    await a.write(edge("edge-a", dialled.a, [of("a", "orders", "10.1.0.7"), of("a", "shared")]));
    await istiod.process.expect(
      "the change arrives",
      async () => endpointOf(await istiod.objects(), "a/orders") === "10.1.0.7",
    );
    await b.write(edge("edge-b", dialled.b, [of("b", "billing"), of("b", "ledger")]));
    await holds(istiod, ["a/orders", "a/shared", "b/billing", "b/ledger"]);
    await b.write(edge("edge-b", dialled.b, [of("b", "ledger")]));
    await holds(istiod, ["a/orders", "a/shared", "b/ledger"]);
  },
);

interopTest(
  "receiver: an edge's outage and restart, and the receiver's own, take nothing away",
  ["istiod"],
  async () => {
    const { config, dialled } = receiving();
    await using receiver = await Pinnace.start(config);
    const services = { a: [of("a", "orders"), of("a", "stock")], b: [of("b", "billing")] };
    await using a = await Pinnace.start(edge("edge-a", dialled, services.a));
    await using b = await Pinnace.start(edge("edge-b", dialled, services.b));
    await using istiod = await Istiod.start(receiver.address);
    const all = [...namesOf(services.a), ...namesOf(services.b)];
    await holds(istiod, all);

    await a.kill();
    await receiver.process.expect(
      "edge-a is stale",
      async () => (await sources(receiver))["edge-a"] === "stale",
    );
    await holds(istiod, all);

    // Its services changed while it was away.
    await a.write(edge("edge-a", dialled, [of("a", "orders"), of("a", "returns")]));
    await a.run();
    await holds(istiod, ["a/orders", "a/returns", "b/billing"]);

    // The receiver dies with both edges away: istiod starts anew and is served all the same.
    await a.stop();
    await b.stop();
    await receiver.kill();
    await receiver.run();
    assertEquals(await sources(receiver), { "edge-a": "stale", "edge-b": "stale" });
    await using fresh = await Istiod.start(receiver.address);
    await holds(fresh, ["a/orders", "a/returns", "b/billing"]);

    const before = (await istiod.objects()).get("b/billing")!.metadata.resourceVersion;
    await b.run();
    await receiver.process.expect(
      "edge-b is back",
      async () => (await sources(receiver))["edge-b"] === "connected",
    );
    await b.write(edge("edge-b", dialled, [of("b", "billing", "10.1.0.9")]));
    await fresh.process.expect(
      "its change arrives",
      async () => endpointOf(await fresh.objects(), "b/billing") === "10.1.0.9",
    );
    assert((await fresh.objects()).get("b/billing")!.metadata.resourceVersion !== before);
    await holds(fresh, ["a/orders", "a/returns", "b/billing"]);
  },
);
