/** gRPC programs without a proxy and the routes of a VirtualService: every client takes what is served, and goes by it. */
import { assert, assertEquals } from "@std/assert";
import { encodeResource } from "../../lib/convert/convert.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import {
  type Partially,
  type VirtualService,
  virtualServiceCodec,
} from "../../lib/wire/messages.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { emptySnapshot, makeSnapshot } from "../../lib/snapshot/snapshot.ts";
import { ProbedServer } from "../cli/probed_server.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { interopTest } from "./lib/binaries.ts";
import { GRPC_CLIENTS, GrpcClient } from "./lib/grpc_client.ts";
import { HOST, orders, Servers, TARGET } from "./lib/grpc_world.ts";
import { Pinnace } from "./lib/pinnace.ts";

/** Makes a VirtualService with these routes all that a source has. */
function publish(source: ProbedServer, http: Partially<VirtualService>["http"]): void {
  const metadata = { namespace: "shop", name: "orders-routes", labels: {}, annotations: {} };
  const body = virtualServiceCodec.pack({ hosts: [HOST], http });
  const resource = encodeResource(metadata, body);
  const empty = emptySnapshot(SETTINGS);
  const collections = new Map(empty.collections);
  collections.set("VirtualService", Collection.of(MCP_RESOURCE_TYPE_URL, [resource]));
  const snapshot = makeSnapshot({ ...empty, collections });
  source.hub.publish({ snapshot, changedAt: Date.now() });
}

const to = (subset: string) => [{ destination: { host: HOST, subset } }];
const SAY = "/pinnace.interop.Echo/Say";

type Match = NonNullable<NonNullable<Partially<VirtualService>["http"]>[number]["match"]>;

/** Which version is called where the calls are `SAY`, without metadata of their own. */
const CASES: readonly (readonly [string, Match, "a" | "b"])[] = [
  ["an exact path", [{ uri: { exact: SAY } }], "b"],
  ["another path", [{ uri: { exact: "/pinnace.interop.Echo/Other" } }], "a"],
  ["a prefix", [{ uri: { prefix: "/pinnace.interop.Echo/" } }], "b"],
  ["a pattern", [{ uri: { regex: "/(?P<package>[a-z.]+)\\.(Echo|Other)/[[:alpha:]]{1,9}" } }], "b"],
  ["a choice that fits only in part", [{ uri: { regex: "/pinnace|Say" } }], "a"],
  ["a pattern in any case", [{ uri: { regex: "(?i)/PINNACE.*" } }], "b"],
  ["a method that no call has", [{ method: { exact: "GET" } }], "a"],
  ["the method that every call has", [{ method: { regex: "POST|PUT" } }], "b"],
  ["metadata that is not there", [{ headers: { "x-user": { prefix: "a" } } }], "a"],
  ["any of several", [{ headers: { "x-user": {} } }, { uri: { prefix: "/pinnace." } }], "b"],
];

/** grpc-go 1.85 goes by new routes an instant before it has their clusters, and fails a call that comes just then. */
const GO_RACE = /^Unavailable: unknown cluster selected for RPC/;

/** Clients would wait 15 s for a cluster that is not there, whether calls go there or not. */
const NOWHERE: Partially<VirtualService>["http"] = [{
  match: [{ uri: { prefix: "/never" } }],
  route: [{ destination: { host: "nowhere.example.com" } }],
}];

for (const name of GRPC_CLIENTS) {
  interopTest(
    `${name}: goes by the routes of a VirtualService`,
    [name, "grpc-backend"],
    async () => {
      await using servers = await Servers.start();
      const versions = [
        servers.at("a", { labels: { version: "v1" } }),
        servers.at("b", { labels: { version: "v2" } }),
      ];
      const subsets = { v1: { version: "v1" }, v2: { version: "v2" } };
      await using source = await ProbedServer.start();
      const write = (http: Partially<VirtualService>["http"]) => publish(source, http);
      write([{ route: to("v1") }]);
      await using pinnace = await Pinnace.start({
        services: [orders(versions, { subsets })],
        include: [`xds://${source.address}`],
      });
      await using client = await GrpcClient.start(name, { server: pinnace.address });
      await client.start(TARGET);
      const failures = [...await client.settlesOn(["a"])];
      for (const [what, match, expected] of CASES) {
        // First to the other, so that what is seen next is of these routes.
        write([{ route: to(expected === "a" ? "v2" : "v1") }]);
        failures.push(...await client.settlesOn([expected === "a" ? "b" : "a"]));
        write([...NOWHERE, { match, route: to("v2") }, { route: to("v1") }]);
        failures.push(
          ...await client.settlesOn([expected]).catch((cause) => {
            throw new Error(what, { cause });
          }),
        );
      }
      failures.push(...(await client.stop()).failures);
      const needless = failures.filter((failure) => name !== "grpc-go" || !GO_RACE.test(failure));
      assertEquals(needless, []);

      write([{ route: to("v1"), timeout: { seconds: 0, nanos: 200_000_000 } }]);
      await client.process.expect("calls are given 200 ms", async () => {
        const late = await client.call(TARGET, 1, 2_000);
        return late.failures.length === 1 && /^deadline_?exceeded/i.test(late.failures[0]!);
      });

      write([{ match: [{ method: { exact: "GET" } }], route: to("v1") }]);
      await client.process.expect("no route is left", async () => {
        const { failures: [first] } = await client.call(TARGET, 1);
        return first !== undefined && /^unavailable/i.test(first);
      });
      assert((await pinnace.metrics()).sum("pinnace_nacks_total") === 0, "nothing was refused");
    },
  );
}
