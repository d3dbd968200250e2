/** A real Envoy that knows nothing but our address reaches the services of the configuration. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Authority, TempFolder } from "../transport/certificates.ts";
import { interopTest } from "./lib/binaries.ts";
import { edge, receiving } from "./lib/edges.ts";
import { ENVOY, Envoy } from "./lib/envoy.ts";
import { Fleet } from "./lib/fleet.ts";
import { sendMany, sendOne } from "./lib/load.ts";
import { Pinnace } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { cluster, MODES, ServedEnvoy, through } from "./lib/served_envoy.ts";
import { callStream, StreamUpstream } from "./lib/upstreams.ts";

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}: a request reaches its service by each of the service's names, and no other`,
    [ENVOY],
    async () => {
      await using orders = new Fleet(["orders"], { net: 1 });
      await using billing = new Fleet(["billing"], { net: 2 });
      await using stock = new Fleet(["stock"], { net: 3 });
      const [http, grpc] = freePorts(2) as [number, number];
      await using _served = await ServedEnvoy.start(mode, {
        services: [
          {
            name: "orders",
            namespace: "shop",
            hosts: ["orders.shop.example.com"],
            addresses: ["240.0.0.10"],
            aliases: ["old-orders"],
            ports: [`${http}:${orders.port}/HTTP`],
            endpoints: [orders.address("orders")],
          },
          {
            name: "billing",
            ports: [`${http}:${billing.port}/HTTP`],
            endpoints: [{ address: billing.address("billing") }],
          },
          { name: "stock", ports: [`${grpc}:${stock.port}/GRPC`], endpoints: ["127.0.3.1"] },
        ],
      });
      const names = {
        orders: [
          ...["orders.shop.example.com", "orders", "orders.shop", "orders.shop.svc"],
          ...["240.0.0.10", "old-orders"],
        ],
        billing: [
          ...["billing.default.svc.cluster.local", "billing"],
          ...["billing.default", "billing.default.svc"],
        ],
      };
      for (const [service, hosts] of Object.entries(names)) {
        for (const host of hosts) {
          assertEquals(await sendOne(through(http, host)), service, host);
          assertEquals(await sendOne(through(http, `${host}:${http}`)), service, host);
        }
      }
      assertEquals(await sendOne(through(grpc, "stock")), "stock", "HTTP/2 upstream");
      // As a person does; HTTP/2 all the way.
      const said = await curl("--http2-prior-knowledge", `http://stock:${grpc}/?q=1`, grpc);
      assertEquals([said.who, said.path, said.host], ["stock", "/?q=1", `stock:${grpc}`]);
      for (const host of ["stock", "ledger", "shop.example.com", "240.0.0.11"]) {
        await assertRejects(() => sendOne(through(http, host)), Error, "404", host);
      }
    },
  );

  interopTest(
    `envoy ${mode}: TCP by port, TLS by server name, names that Envoy looks up itself`,
    [ENVOY],
    async () => {
      await using authority = await Authority.create("ours");
      const papers = (name: string) => authority.issue({ names: `DNS:${name}` });
      await using database = new StreamUpstream({ name: "database" });
      await using a = new StreamUpstream({ name: "a" }, await papers("a.example.com"));
      await using b = new StreamUpstream({ name: "b" }, await papers("*.b.example.com"));
      await using looked = new Fleet(["looked-up"], { net: 0 });
      const [tcp, tls, http] = freePorts(3) as [number, number, number];
      await using served = await ServedEnvoy.start(mode, {
        services: [
          { name: "database", ports: [`${tcp}:${database.port}/TCP`], endpoints: ["127.0.0.1"] },
          {
            name: "a",
            hosts: ["a.example.com"],
            ports: [`${tls}:${a.port}/TLS`],
            endpoints: ["127.0.0.1"],
          },
          {
            name: "b",
            hosts: ["c.b.example.com"],
            ports: [`${tls}:${b.port}/HTTPS`],
            endpoints: ["127.0.0.1"],
          },
          {
            name: "looked-up",
            ports: [`${http}:${looked.port}/HTTP`],
            endpoints: ["localhost"],
          },
        ],
      });
      assertEquals(await callStream({ at: `127.0.0.1:${tcp}` }), "database");
      const byTls = (serverName: string) =>
        callStream({
          at: `127.0.0.1:${tls}`,
          tls: { serverName, caCerts: [authority.cert] },
        });
      assertEquals(await byTls("a.example.com"), "a");
      assertEquals(await byTls("c.b.example.com"), "b");
      await assertRejects(() => byTls("other.example.com"));
      assertEquals(await sendOne(through(http, "looked-up")), "looked-up");
      await served.endpoints(
        cluster(http, "looked-up.default.svc.cluster.local"),
        [looked.at("looked-up")],
      );
    },
  );

  interopTest(`envoy ${mode}: 10,000 requests are split 80 to 20`, [ENVOY], async () => {
    await using upstreams = new Fleet(["v1", "v2", "other"]);
    const [port, weighted] = freePorts(2) as [number, number];
    const endpoint = (version: string, more = {}) => ({
      address: upstreams.address(version),
      labels: { version },
      ...more,
    });
    await using _served = await ServedEnvoy.start(mode, {
      services: [
        {
          name: "split",
          ports: [`${port}:${upstreams.port}/HTTP`],
          endpoints: [endpoint("v1"), endpoint("v2"), endpoint("other")],
          split: { v1: 80, v2: 20 },
        },
        {
          name: "weighted",
          ports: [`${weighted}:${upstreams.port}/HTTP`],
          endpoints: [endpoint("v1", { weight: 80 }), endpoint("v2", { weight: 20 })],
        },
      ],
    });
    for (const [name, at] of [["split", port], ["weighted", weighted]] as const) {
      const { answers, failures } = await sendMany(through(at, name), 10_000);
      assertEquals([...failures], []);
      const share = (answers.get("v1") ?? 0) / 100;
      assert(Math.abs(share - 80) <= 2, `${name}: ${share} percent`);
      assertEquals((answers.get("v1") ?? 0) + (answers.get("v2") ?? 0), 10_000);
    }
  });

  interopTest(
    `envoy ${mode}: a plaintext service with subjectAltNames is reached by TLS, if it is who it must be`,
    [ENVOY],
    async () => {
      await using folder = await TempFolder.create();
      await using authority = await Authority.create("ours");
      const trustedCa = await folder.write("ca.pem", authority.cert);
      const id = "spiffe://example.org/ns/shop/sa/orders";
      await using orders = new Fleet(["orders"], {
        tls: await authority.issue({ names: `URI:${id}` }),
      });
      const [good, bad] = freePorts(2) as [number, number];
      const service = (name: string, port: number, subjectAltName: string) => ({
        name,
        ports: [`${port}:${orders.port}/HTTP`],
        endpoints: [orders.address("orders")],
        subjectAltNames: [subjectAltName],
      });
      await using served = await ServedEnvoy.start(mode, {
        envoy: { trustedCa },
        services: [service("good", good, id), service("bad", bad, `${id}-2`)],
      });
      assertEquals(await sendOne(through(good, "good")), "orders");
      await assertRejects(() => sendOne(through(bad, "bad")), Error, "503");
      const refused = `cluster.${
        cluster(bad, "bad.default.svc.cluster.local")
      }.ssl.fail_verify_san`;
      assert(await served.envoy.stat(refused) > 0, "for its name");
    },
  );

  interopTest(
    `envoy ${mode}: what edges dial in with is reached, on ports moved by portOffset`,
    [ENVOY],
    async () => {
      await using upstreams = new Fleet(["orders", "moved"]);
      const { config, dialled } = receiving();
      const [moved] = freePorts(1) as [number];
      const portOffset = 2000;
      const port = moved - portOffset;
      const services = (name: string) => [{
        name: "orders",
        namespace: "edge",
        ports: [`${port}:${upstreams.port}/HTTP`],
        endpoints: [upstreams.address(name)],
      }];
      await using receiver = await Pinnace.start({ ...config, envoy: { portOffset } });
      await using near = await Pinnace.start(edge("near", dialled, services("orders")));
      await using envoy = await Envoy.start({ ads: receiver.address, delta: mode === "delta" });
      const target = through(moved, "orders.edge");
      const answers = (who: string) =>
        envoy.process.expect(`${who} answers`, async () => await sendOne(target) === who);
      await answers("orders");
      await near.write(edge("near", dialled, services("moved")));
      await answers("moved");
    },
  );
}

/** What an upstream says to curl, which resolves every name to this machine. */
async function curl(...args: [...words: string[], port: number]): Promise<Record<string, string>> {
  const port = args.at(-1);
  const words = args.slice(0, -1) as string[];
  const { success, stdout, stderr } = await new Deno.Command("curl", {
    args: ["-sS", "--fail", "--noproxy", "*", "--connect-to", `::127.0.0.1:${port}`, ...words],
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`curl ${words.join(" ")}: ${decode(stderr)}`);
  return JSON.parse(decode(stdout));
}
