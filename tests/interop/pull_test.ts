/** Tiers by pulling: from a Pinnace, and from a whole istiod, which serves MCP over xDS to whoever asks. */
import { assert, assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { Istiod } from "./lib/istiod.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { SERVICE_ENTRIES, simple } from "./lib/services.ts";
import { Sink } from "./lib/sink.ts";

const PEERS = ["istiod", "mcp-sink-client"];

/** A Pinnace with a service of its own that pulls from these addresses. */
function puller(...from: string[]) {
  return {
    instance: "downstream",
    services: [simple("own")],
    include: from.map((address) => `xds://${address}`),
  };
}

/** What the downstream says of its only source. */
async function source(pinnace: Pinnace) {
  const { sources } = await pinnace.status() as {
    sources: { name: string; state: string; via: string }[];
  };
  return sources[0];
}

interopTest(
  "pull: what a whole istiod has arrives by xDS, changes with it, and stays while it is away",
  PEERS,
  async () => {
    await using upstream = await Pinnace.start({ instance: "upstream", services: [simple("a")] });
    await using sink = await pulledThrough(upstream);
    const { istiod, downstream, held } = sink;
    await held.holds(["edge/a", "edge/own"]);

    await upstream.write({
      instance: "upstream",
      services: [simple("a", "10.1.0.9"), simple("b")],
    });
    await held.holds(["edge/a", "edge/b", "edge/own"]);
    await upstream.write({ instance: "upstream", services: [simple("b")] });
    await held.holds(["edge/b", "edge/own"]);

    await istiod.process[Symbol.asyncDispose]();
    await downstream.process.expect(
      "its source is away",
      async () => (await source(downstream))?.state === "stale",
    );
    await downstream.kill();
    await downstream.run();
    await using later = Sink.dialling(downstream.address);
    await later.holds(["edge/b", "edge/own"]);
    assertEquals((await source(downstream))?.via, "pull");
  },
);

/** A Pinnace, an istiod that takes from it, a Pinnace that pulls from that istiod, and Istio's sink at the end. */
async function pulledThrough(upstream: Pinnace) {
  // Else it gives what it has only to an istiod that proves with a certificate of its mesh that it is one.
  const istiod = await Istiod.start(upstream.address, {}, {
    ENABLE_XDS_API_GENERATOR_AUTH: "false",
  });
  const downstream = await Pinnace.start(puller(istiod.xds));
  const held = Sink.dialling(downstream.address);
  return {
    istiod,
    downstream,
    held,
    async [Symbol.asyncDispose]() {
      await held[Symbol.asyncDispose]();
      await downstream[Symbol.asyncDispose]();
      await istiod[Symbol.asyncDispose]();
    },
  };
}

interopTest(
  "pull: a Pinnace pulls from another what changed and nothing else; one that is taken out of include goes",
  ["mcp-sink-client"],
  async () => {
    const services = (...names: string[]) => ({
      instance: "upstream",
      services: names.map((name) => simple(name)),
    });
    await using upstream = await Pinnace.start(services("a", "b"));
    await using downstream = await Pinnace.start(puller(upstream.address));
    await using sink = Sink.dialling(downstream.address, { incremental: true });
    const first = await sink.holds(["edge/a", "edge/b", "edge/own"]);
    await upstream.kill();
    await upstream.write(services("a", "c"));
    await upstream.run();
    const second = await sink.holds(["edge/a", "edge/c", "edge/own"]);
    assertEquals(second["edge/a"], first["edge/a"], "what did not change is the same");
    const difference = sink.changes(SERVICE_ENTRIES).at(-1);
    assert(difference!.incremental);
    assertEquals(difference!.resources.map(({ name }) => name), ["edge/c"]);
    await downstream.write({ ...puller(), services: [simple("own")] });
    await sink.holds(["edge/own"]);
  },
);
