/** gRPC programs without a proxy, in four languages: each knows nothing but the address of Pinnace. */
import { assertAlmostEquals, assertEquals } from "@std/assert";
import { eachClient, HOST, orders, share, TARGET } from "./lib/grpc_world.ts";

eachClient(
  "a service is called by host and alias, with and without the port",
  (servers) => orders([servers.at("a")], { aliases: ["orders", "sales.example.com"] }),
  async ({ client }) => {
    for (const name of [HOST, "orders", "sales.example.com"]) {
      for (const target of [`xds:///${name}`, `xds:///${name}:443`]) {
        const { answers, failures } = await client.call(target, 3);
        assertEquals({ answers, failures }, { answers: { a: 3 }, failures: [] }, target);
      }
    }
  },
);

eachClient(
  "calls go where the endpoints are, and none fails when those change",
  (servers) => orders([servers.at("a")]),
  async ({ servers, pinnace, client }) => {
    const failures: string[] = [];
    await client.start(TARGET);
    failures.push(...await client.settlesOn(["a"]));
    for (const set of [["a", "b"], ["b"], ["a"], ["a", "b"]] as const) {
      await pinnace.write({ services: [orders(set.map((name) => servers.at(name)))] });
      failures.push(...await client.settlesOn(set));
    }
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);

eachClient(
  "an endpoint that drains gets no new calls, and those that it has end well",
  (servers) => orders([servers.at("a"), servers.at("b")]),
  async ({ servers, pinnace, client }) => {
    // Each call takes longer than the news of the drain.
    await client.start(TARGET, { every: 20, hold: 1000 });
    const failures = [...await client.settlesOn(["a", "b"])];
    await pinnace.write({
      services: [orders([servers.at("a"), servers.at("b", { drain: true })])],
    });
    failures.push(...await client.settlesOn(["a"]));
    await pinnace.write({ services: [orders([servers.at("a"), servers.at("b")])] });
    failures.push(...await client.settlesOn(["a", "b"]));
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);

eachClient(
  "traffic is split between versions as it says, to two points, and a new split is taken without a failed call",
  (servers) =>
    orders([
      servers.at("a", { labels: { version: "v1" } }),
      servers.at("b", { labels: { version: "v2" } }),
    ], { split: { v1: 80, v2: 20 } }),
  async ({ servers, pinnace, client }) => {
    const calls = await client.call(TARGET, 10_000);
    assertEquals(calls.failures, []);
    assertAlmostEquals(share(calls, "b"), 0.2, 0.02);
    await client.start(TARGET);
    const failures = [...await client.settlesOn(["a", "b"])];
    const versions = [
      servers.at("a", { labels: { version: "v1" } }),
      servers.at("b", { labels: { version: "v2" } }),
    ];
    await pinnace.write({ services: [orders(versions, { split: { v2: 1 } })] });
    failures.push(...await client.settlesOn(["b"]));
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);

eachClient(
  "endpoints of one locality get calls by their weights",
  (servers) => orders([servers.at("a", { weight: 3 }), servers.at("b")]),
  async ({ client }) => {
    await client.start(TARGET); // until it has connected to both
    await client.settlesOn(["a", "b"]);
    await client.stop();
    const calls = await client.call(TARGET, 5_000);
    assertEquals(calls.failures, []);
    assertAlmostEquals(share(calls, "b"), 0.25, 0.03);
  },
);

eachClient(
  "calls go to the next locality once the preferred is away",
  (servers) =>
    orders([servers.at("a", { locality: "eu/fra" }), servers.at("b", { locality: "us/nyc" })], {
      failover: ["eu", "us"],
    }),
  async ({ servers, client }) => {
    await client.start(TARGET);
    assertEquals(await client.settlesOn(["a"]), []);
    await servers.close("a");
    await client.settlesOn(["b"]);
    assertEquals((await client.stop()).failures, []);
  },
);

eachClient(
  "a name is looked up by the client, names among several by us",
  (servers) => orders([{ ...servers.at("a"), address: "localhost" }], { resolution: "DNS" }),
  async ({ servers, pinnace, client }) => {
    await client.start(TARGET);
    const failures = [...await client.settlesOn(["a"])];
    const several = [servers.at("b"), { ...servers.at("a"), address: "localhost" }];
    await pinnace.write({ services: [orders(several, { resolution: "DNS" })] });
    failures.push(...await client.settlesOn(["a", "b"]));
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);

eachClient(
  "more calls are under way at a time than the 1,024 that a client allows where it is not told otherwise",
  (servers) => orders([servers.at("a")]),
  async ({ client }) => {
    await client.call(TARGET, 1);
    await client.start(TARGET, { every: 1, hold: 8_000 });
    const failures: string[] = [];
    await client.process.expect("1,500 calls are under way", async () => {
      const calls = await client.report();
      failures.push(...calls.failures);
      return calls.unfinished > 1_500;
    });
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);
