/** gRPC programs without a proxy, in four languages: each knows nothing but the address of Pinnace. */
import { assert, assertAlmostEquals, assertEquals, assertMatch } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import {
  type Calls,
  GRPC_CLIENTS,
  GrpcBackends,
  GrpcClient,
  type GrpcClientName,
} from "./lib/grpc_client.ts";
import { Pinnace, type ServiceConfig } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { Spoiler } from "./lib/spoiler.ts";

const HOST = "orders.shop.example.com";
const TARGET = `xds:///${HOST}:443`;

/** Two servers, `a` and `b`, and how each is written as an endpoint. */
class Servers implements AsyncDisposable {
  readonly #ports: Readonly<Record<string, number>>;
  readonly #backends: GrpcBackends;

  private constructor(ports: Readonly<Record<string, number>>, backends: GrpcBackends) {
    this.#ports = ports;
    this.#backends = backends;
  }

  static async start(): Promise<Servers> {
    const [a, b] = freePorts(2) as [number, number];
    const backends = await GrpcBackends.start({ a: `127.0.0.1:${a}`, b: `127.0.0.1:${b}` });
    return new Servers({ a, b }, backends);
  }

  /** The endpoint of a server. */
  at(name: "a" | "b", more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return { address: "127.0.0.1", ports: { "grpc-443": this.#ports[name] }, ...more };
  }

  /** Ends a server at once, as a machine that goes away. */
  close(name: "a" | "b"): Promise<void> {
    return this.#backends.close(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backends[Symbol.asyncDispose]();
  }
}

function orders(endpoints: readonly unknown[], more: ServiceConfig = {}): ServiceConfig {
  return {
    name: "orders",
    namespace: "shop",
    hosts: [HOST],
    ports: ["443/GRPC"],
    endpoints,
    ...more,
  };
}

/** A test of each client, with servers, a Pinnace that serves `service` and the client. */
function eachClient(
  what: string,
  service: (servers: Servers) => ServiceConfig,
  run: (parts: { servers: Servers; pinnace: Pinnace; client: GrpcClient }) => Promise<void>,
): void {
  for (const name of GRPC_CLIENTS) {
    interopTest(`${name}: ${what}`, [name, "grpc-backend"], async () => {
      await using servers = await Servers.start();
      await using pinnace = await Pinnace.start({ services: [service(servers)] });
      await using client = await GrpcClient.start(name, { server: pinnace.address });
      await run({ servers, pinnace, client });
    });
  }
}

/** Share of the calls that a server answered. */
function share({ answers }: Calls, server: string): number {
  const total = Object.values(answers).reduce((sum, count) => sum + count, 0);
  return (answers[server] ?? 0) / total;
}

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
  "no call fails while we are killed and come back, and the next change is taken",
  (servers) => orders([servers.at("a")]),
  async ({ servers, pinnace, client }) => {
    await client.start(TARGET);
    const failures = [...await client.settlesOn(["a"])];
    await pinnace.kill();
    failures.push(...await client.goesOn(200));
    await pinnace.run();
    failures.push(...await client.goesOn(200));
    await pinnace.write({ services: [orders([servers.at("b")])] });
    failures.push(...await client.settlesOn(["b"]));
    failures.push(...(await client.stop()).failures);
    assertEquals(failures, []);
  },
);

for (const name of GRPC_CLIENTS) {
  for (const type of ["eds", "cds"] as const) {
    const peers = [name, "grpc-backend", "ads-spoiler"];
    interopTest(
      `${name}: what it refuses of ${type.toUpperCase()} is told with its reason, it goes on with what it has, and takes what comes next`,
      peers,
      () => refuses(name, type),
    );
  }
}

async function refuses(name: GrpcClientName, type: "cds" | "eds"): Promise<void> {
  await using servers = await Servers.start();
  const before = orders([servers.at("a")]);
  await using pinnace = await Pinnace.start({ services: [before] });
  await using spoiler = await Spoiler.start(pinnace.address);
  await using client = await GrpcClient.start(name, { server: spoiler.address });
  await client.start(TARGET);
  const failures = [...await client.settlesOn(["a"])];

  // Whatever it is told now is wrong: other endpoints, or a cluster of another kind.
  const changed = {
    eds: orders([servers.at("b")]),
    cds: orders([{ ...servers.at("b"), address: "localhost" }], { resolution: "DNS" }),
  };
  await spoiler.spoil(type);
  await pinnace.write({ services: [changed[type]] });
  const reason = await spoiler.refusal(type);
  assert(reason !== "", "it says why");
  const peer = await client.process.expect("the status tells of it", async () => {
    return (await nacksOf(pinnace)).find(({ lastNack }) => lastNack !== undefined);
  });
  assertMatch(peer.lastNack!, REASONS[type]);
  assert((await pinnace.metrics()).sum("pinnace_nacks_total") >= 1);
  failures.push(...await client.settlesOn(["a"]));

  await spoiler.pass();
  await pinnace.write({ services: [orders([servers.at("a"), servers.at("b")])] });
  failures.push(...await client.settlesOn(["a", "b"]));
  failures.push(...(await client.stop()).failures);
  assertEquals(failures, []);
}

/** What every client says of a spoiled answer. */
const REASONS = { eds: /locality/i, cds: /lb_?policy|MAGLEV|load.?balanc/i };

interface Subscription {
  readonly type: string;
  readonly lastNack?: string;
}

async function nacksOf(pinnace: Pinnace): Promise<readonly Subscription[]> {
  const { peers } = await pinnace.status() as {
    peers: readonly { readonly subscriptions: readonly Subscription[] }[];
  };
  return peers.flatMap(({ subscriptions }) => subscriptions);
}
