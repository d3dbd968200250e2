/** Edges that give endpoints of one host, which a receiver with `merge: endpoints` serves as one to a whole istiod. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { edge, receiving } from "./lib/edges.ts";
import { Istiod } from "./lib/istiod.ts";
import { Pinnace, type ServiceConfig } from "./lib/pinnace.ts";
import { simple } from "./lib/services.ts";

const HOST = "orders.example.com";

/** The same service at one site. */
function orders(namespace: string, ...addresses: readonly string[]): ServiceConfig {
  return {
    ...simple("orders", "10.0.0.0"),
    namespace,
    hosts: [HOST],
    endpoints: addresses.map((address) => ({ address })),
  };
}

/** What a part of an entry says of its endpoints. */
interface Endpoint {
  readonly address: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Waits until istiod holds exactly these: `namespace/name` to its endpoints, each as `address@source`. */
function holds(
  istiod: Istiod,
  wanted: Readonly<Record<string, readonly string[]>>,
): Promise<unknown> {
  return istiod.process.expect(`it holds ${JSON.stringify(wanted)}`, async () => {
    const held = Array.from(await istiod.objects(), ([name, { spec }]) => {
      const { endpoints } = spec as { endpoints: readonly Endpoint[] };
      const texts = endpoints.map(({ address, labels }) => {
        const source = labels?.["pinnace-source"];
        return source === undefined ? address : `${address}@${source}`;
      });
      return [name, texts];
    });
    assertEquals(Object.fromEntries(held), wanted);
    return true;
  });
}

/** Messages of the findings about contested hosts. */
async function contested(receiver: Pinnace): Promise<readonly string[]> {
  const { findings } = await receiver.status() as {
    findings: readonly { rule: string; message: string }[];
  };
  return findings.filter(({ rule }) => rule === "receive/contested-host")
    .map(({ message }) => message);
}

/** Waits until the receiver has a source of this name in this state. */
function stands(receiver: Pinnace, name: string, state: string): Promise<unknown> {
  return receiver.process.expect(`${name} is ${state}`, async () => {
    const { sources } = await receiver.status() as {
      sources: readonly { name: string; state: string }[];
    };
    assertEquals(sources.find((source) => source.name === name)?.state, state);
    return true;
  });
}

interopTest(
  "merge: of one host, what two edges give is one entry in a whole istiod, that grows and shrinks with them",
  ["istiod"],
  async () => {
    const { config, dialled } = receiving("127.0.0.1", { merge: "endpoints", keep: "2s" });
    await using receiver = await Pinnace.start(config);
    await using a = await Pinnace.start(edge("edge-a", dialled, [orders("a", "10.1.0.1")]));
    await stands(receiver, "edge-a", "connected");
    await using istiod = await Istiod.start(receiver.address);
    await holds(istiod, { "a/orders": ["10.1.0.1"] });

    // The second comes, changes, and goes over to what cannot be merged.
    const both = [orders("b", "10.2.0.1", "10.2.0.2")];
    await using b = await Pinnace.start(edge("edge-b", dialled, both));
    await holds(istiod, { "a/orders": ["10.1.0.1@edge-a", "10.2.0.1@edge-b", "10.2.0.2@edge-b"] });
    assertEquals(await contested(receiver), []);
    await b.write(edge("edge-b", dialled, [orders("b", "10.2.0.2")]));
    await holds(istiod, { "a/orders": ["10.1.0.1@edge-a", "10.2.0.2@edge-b"] });
    const other = { ...orders("b", "10.2.0.2"), ports: ["99/TCP"] };
    await b.write(edge("edge-b", dialled, [other]));
    await holds(istiod, { "a/orders": ["10.1.0.1"] });
    const [message, ...more] = await contested(receiver);
    assert(message !== undefined && more.length === 0);
    assert(message.includes("b/orders") && message.includes("their ports differ"), message);
    await b.write(edge("edge-b", dialled, [orders("b", "10.2.0.2")]));
    await holds(istiod, { "a/orders": ["10.1.0.1@edge-a", "10.2.0.2@edge-b"] });

    // The first goes for good: the second stands in its own name.
    await a.stop();
    await holds(istiod, { "b/orders": ["10.2.0.2"] });
    await a.run();
    await holds(istiod, { "b/orders": ["10.2.0.2@edge-b", "10.1.0.1@edge-a"] });
  },
);

interopTest(
  "merge: over the receiver's own death a whole istiod holds what it held, in the name it had",
  ["istiod"],
  async () => {
    const { config, dialled } = receiving("127.0.0.1", { merge: "endpoints" });
    await using receiver = await Pinnace.start(config);
    await using b = await Pinnace.start(edge("edge-b", dialled, [orders("b", "10.2.0.1")]));
    await stands(receiver, "edge-b", "connected");
    await using a = await Pinnace.start(edge("edge-a", dialled, [orders("a", "10.1.0.1")]));
    await using istiod = await Istiod.start(receiver.address);
    const merged = { "b/orders": ["10.2.0.1@edge-b", "10.1.0.1@edge-a"] };
    await holds(istiod, merged);
    const { resourceVersion } = (await istiod.objects()).get("b/orders")!.metadata;

    await a.stop();
    await b.stop();
    await receiver.kill();
    await receiver.run();
    await using fresh = await Istiod.start(receiver.address);
    await holds(fresh, merged);
    assertEquals(
      (await fresh.objects()).get("b/orders")!.metadata.resourceVersion,
      resourceVersion,
    );

    // And the set that it has is the whole: a change of the one that came second arrives in the first's name.
    await a.write(edge("edge-a", dialled, [orders("a", "10.1.0.9")]));
    await a.run();
    await holds(fresh, { "b/orders": ["10.2.0.1@edge-b", "10.1.0.9@edge-a"] });
  },
);

interopTest(
  "merge: an edge limited to its namespace gives no endpoint to an entry elsewhere, whoever came first",
  ["istiod"],
  async () => {
    const from = [{ source: "edge-b", namespaces: ["b"] }, "edge-a"];
    const { config, dialled } = receiving("127.0.0.1", { merge: "endpoints", from });
    await using receiver = await Pinnace.start(config);
    await using b = await Pinnace.start(edge("edge-b", dialled, [orders("b", "10.6.6.6")]));
    await using istiod = await Istiod.start(receiver.address);
    await holds(istiod, { "b/orders": ["10.6.6.6"] });
    await using a = await Pinnace.start(edge("edge-a", dialled, [orders("a", "10.1.0.1")]));
    await holds(istiod, { "a/orders": ["10.1.0.1"] });
    const [message] = await contested(receiver);
    assert(message?.includes("may not fill the namespace a"), message);
    await b.write(edge("edge-b", dialled, [orders("b", "10.6.6.7")]));
    await a.write(edge("edge-a", dialled, [orders("a", "10.1.0.2")]));
    await holds(istiod, { "a/orders": ["10.1.0.2"] });
    await a.write(edge("edge-a", dialled, []));
    await holds(istiod, { "b/orders": ["10.6.6.7"] });
  },
);
