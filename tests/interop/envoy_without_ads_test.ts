/**
 * A real Envoy on the services beside ADS: one stream for each type, state of the world and delta.
 */
import { assertEquals } from "@std/assert";
import { interopTest } from "./lib/binaries.ts";
import { ENVOY, Envoy } from "./lib/envoy.ts";
import { bootstrapFor, type JsonObject } from "./lib/envoy_bootstrap.ts";
import { Fleet } from "./lib/fleet.ts";
import { sendOne } from "./lib/load.ts";
import { Pinnace, type PinnaceConfig } from "./lib/pinnace.ts";
import { freePorts } from "./lib/ports.ts";
import { cluster, type Mode, MODES, through } from "./lib/served_envoy.ts";

const HCM =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";

/** A service with one port of this number and one endpoint. */
function config(
  port: number,
  fleet: Fleet,
  endpoint: string,
  { protocol = "HTTP" } = {},
): PinnaceConfig {
  return {
    push: { quiet: "10ms", guard: 1 },
    watch: { poll: "1s" },
    services: [
      {
        name: "orders",
        ports: [`${port}:${fleet.port}/${protocol}`],
        endpoints: [fleet.address(endpoint)],
      },
    ],
  };
}

/** Where a type comes from that is asked for on a stream of its own. */
function own(mode: Mode): JsonObject {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: mode === "delta" ? "DELTA_GRPC" : "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "pinnace" } }],
    },
  };
}

/** Waits until a request is answered by `who`. */
async function answers(envoy: Envoy, port: number, host: string, who: string): Promise<void> {
  await envoy.process.expect(`${who} answers ${host}`, async () => {
    return await sendOne(through(port, host)) === who;
  });
}

/** The types asked for on each stream, as Pinnace's status has them. */
async function streams(pinnace: Pinnace): Promise<string[][]> {
  const { peers } = await pinnace.status() as {
    peers: { subscriptions: { type: string; nacks: number }[] }[];
  };
  for (const { subscriptions } of peers) {
    assertEquals(
      subscriptions.map((one) => one.nacks),
      subscriptions.map(() => 0),
    );
  }
  return peers.map(({ subscriptions }) => subscriptions.map(({ type }) => type.split(".").at(-1)!))
    .sort();
}

for (const mode of MODES) {
  interopTest(
    `envoy ${mode}, without ADS: endpoints of a cluster and routes of a listener of its own, each on a stream of its own`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["first", "second"]);
      const [port] = freePorts(1) as [number];
      await using pinnace = await Pinnace.start(config(port, fleet, "first"));
      const { node, static_resources } = bootstrapFor({ ads: pinnace.address, delta: false }) as {
        node: JsonObject;
        static_resources: { clusters: JsonObject[] };
      };
      await using envoy = await Envoy.run({
        node,
        static_resources: {
          clusters: [...static_resources.clusters, {
            name: cluster(port, "orders.default.svc.cluster.local"),
            type: "EDS",
            connect_timeout: "1s",
            eds_cluster_config: { eds_config: own(mode) },
          }],
          listeners: [{
            name: "by-hand",
            address: { socket_address: { address: "127.0.0.1", port_value: port } },
            filter_chains: [{
              filters: [{
                name: "http",
                typed_config: {
                  "@type": HCM,
                  stat_prefix: "http",
                  rds: { route_config_name: String(port), config_source: own(mode) },
                  http_filters: [{ name: "router", typed_config: { "@type": ROUTER } }],
                },
              }],
            }],
          }],
        },
      });
      await answers(envoy, port, "orders", "first");
      await pinnace.write(config(port, fleet, "second"));
      await answers(envoy, port, "orders", "second");
      assertEquals(await streams(pinnace), [["ClusterLoadAssignment"], ["RouteConfiguration"]]);
    },
  );

  interopTest(
    `envoy ${mode}, clusters and listeners on streams of their own: the rest comes by ADS, as they say`,
    [ENVOY],
    async () => {
      await using fleet = new Fleet(["first", "second"]);
      const [port, other] = freePorts(2) as [number, number];
      await using pinnace = await Pinnace.start(config(port, fleet, "first"));
      const bootstrap = bootstrapFor({ ads: pinnace.address, delta: mode === "delta" });
      await using envoy = await Envoy.run({
        ...bootstrap,
        dynamic_resources: {
          ...bootstrap.dynamic_resources as JsonObject,
          cds_config: own(mode),
          lds_config: own(mode),
        },
      });
      await envoy.ready();
      await answers(envoy, port, "orders", "first");
      assertEquals(await streams(pinnace), [
        ["Cluster"],
        ["ClusterLoadAssignment", "RouteConfiguration"],
        ["Listener"],
      ]);
      await pinnace.write(config(other, fleet, "second"));
      await answers(envoy, other, "orders", "second");
      // The cluster changes and its endpoints do not: Envoy must not wait for those for ever.
      await pinnace.write(config(other, fleet, "second", { protocol: "HTTP2" }));
      await envoy.process.expect("the changed cluster is in use", async () => {
        const warming = await envoy.stat("cluster_manager.warming_clusters");
        return warming === 0 && await envoy.stat("cluster_manager.cluster_modified") > 0;
      });
      await answers(envoy, other, "orders", "second");
    },
  );
}
