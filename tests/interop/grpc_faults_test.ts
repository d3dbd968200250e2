/** gRPC programs without a proxy when something is amiss: we are away, an answer is refused, a service goes. And how they trust us. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { GRPC_CLIENTS, GrpcClient, type GrpcClientName } from "./lib/grpc_client.ts";
import { eachClient, HOST, orders, Servers, TARGET } from "./lib/grpc_world.ts";
import { Pinnace, type ServiceConfig } from "./lib/pinnace.ts";
import { freePort } from "./lib/ports.ts";
import { Spoiler } from "./lib/spoiler.ts";

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

/** Waits, while calls go on, until all fail. */
async function fails(client: GrpcClient): Promise<void> {
  await client.process.expect("calls fail", async () => {
    const { answers, failures } = await client.report();
    return failures.length > 0 && Object.keys(answers).length === 0;
  });
}

eachClient(
  "a service that goes and comes back is called again",
  (servers) => orders([servers.at("a")]),
  async ({ servers, pinnace, client }) => {
    const other = { ...orders([servers.at("b")]), name: "other", hosts: ["other.example.com"] };
    await client.start(TARGET);
    await client.settlesOn(["a"]);
    await pinnace.write({ services: [other] });
    await fails(client);
    await pinnace.write({ services: [orders([servers.at("a")]), other] });
    // grpc-js-xds 1.14 never asks for routes again on a channel whose Listener was gone.
    if (client.process.name !== "grpc-node") await client.settlesOn(["a"]);
    await client.stop();
    assertEquals((await client.call(`xds:///${HOST}`, 3)).answers, { a: 3 });
  },
);

eachClient(
  "a service whose endpoints are all taken away is called again once there are others",
  (servers) => orders([servers.at("a")]),
  async ({ servers, pinnace, client }) => {
    await client.start(TARGET);
    await client.settlesOn(["a"]);
    await pinnace.write({ services: [orders([])] });
    // grpc-java goes on with the endpoints that it had.
    if (client.process.name === "grpc-java") await client.goesOn(200);
    else await fails(client);
    await pinnace.write({ services: [orders([servers.at("b")])] });
    await client.settlesOn(["b"]);
    assertEquals((await client.stop()).failures, []);
  },
);

/** A Pinnace that is dialled with TLS; `ca`: it wants certificates of clients that this vouches for. */
async function withTls(
  authority: Authority,
  folder: TempFolder,
  service: ServiceConfig,
  listen: Readonly<Record<string, unknown>>,
  ca?: string,
): Promise<{ readonly pinnace: Pinnace; readonly address: string }> {
  const issued = await authority.issue({ names: "DNS:localhost" });
  await folder.writeTls({ ...issued, ...(ca === undefined ? {} : { ca }) });
  const address = `localhost:${freePort()}`;
  const tls = ca === undefined
    ? { cert: folder.at("tls.crt"), key: folder.at("tls.key") }
    : folder.path;
  const config = { services: [service], listen: [{ address, tls, ...listen }] };
  return { pinnace: await Pinnace.start(config), address };
}

for (const name of ["grpc-python", "grpc-go"] as const) {
  interopTest(
    `${name}: we are dialled with mutual TLS`,
    [name, "grpc-backend"],
    async () => {
      await using authority = await Authority.create("mesh");
      await using ours = await TempFolder.create();
      await using theirs = await TempFolder.create();
      const issued = await authority.issue({ names: "URI:spiffe://example.org/ns/shop/sa/till" });
      const tls = {
        ca: await theirs.write("ca.crt", authority.cert),
        cert: await theirs.write("tls.crt", issued.cert),
        key: await theirs.write("tls.key", issued.key),
      };
      await using servers = await Servers.start();
      const allow = ["spiffe://example.org/ns/shop/*"];
      const service = orders([servers.at("a")]);
      const served = await withTls(authority, ours, service, { allow }, authority.cert);
      await using _pinnace = served.pinnace;
      await using client = await GrpcClient.start(name, { server: served.address, tls });
      const { answers, failures } = await client.call(TARGET, 3);
      assertEquals({ answers, failures }, { answers: { a: 3 }, failures: [] });
    },
  );
}

interopTest(
  "grpc-java: we are dialled with TLS, and trusted by the authorities of the JVM",
  ["grpc-java", "grpc-backend"],
  async () => {
    await using authority = await Authority.create("mesh");
    await using ours = await TempFolder.create();
    await using theirs = await TempFolder.create();
    const ca = await theirs.write("ca.crt", authority.cert);
    const store = theirs.at("trust.p12");
    const { success, stdout } = await new Deno.Command("keytool", {
      args: [
        ...["-importcert", "-noprompt", "-alias", "mesh", "-file", ca],
        ...["-keystore", store, "-storepass", "changeit"],
      ],
    }).output();
    assert(success, new TextDecoder().decode(stdout));
    await using servers = await Servers.start();
    const served = await withTls(authority, ours, orders([servers.at("a")]), {});
    await using _pinnace = served.pinnace;
    const options =
      `-Djavax.net.ssl.trustStore=${store} -Djavax.net.ssl.trustStorePassword=changeit`;
    await using client = await GrpcClient.start("grpc-java", {
      server: served.address,
      tls: { ca }, // which grpc-java does not read
      env: { JAVA_TOOL_OPTIONS: options },
    });
    const { answers, failures } = await client.call(TARGET, 3);
    assertEquals({ answers, failures }, { answers: { a: 3 }, failures: [] });
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
const REASONS = { eds: /priorit/i, cds: /lb_?policy|MAGLEV|load.?balanc/i };

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
