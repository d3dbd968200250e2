import { assertEquals } from "@std/assert";
import { encodeResource } from "../../lib/convert/encode_resource.ts";
import { toDestinationRules } from "../../lib/convert/traffic.ts";
import { withFailoverLabels } from "../../lib/convert/failover.ts";
import { emptySnapshot } from "../../lib/snapshot/snapshot.ts";
import { unservedFindings } from "../../lib/view/shared/served_parts.ts";
import { PLAIN_TRAFFIC, TrafficRules } from "../../lib/view/traffic_rules.ts";
import {
  type DestinationRule,
  destinationRuleCodec,
  type Partially,
  type VirtualService,
  virtualServiceCodec,
} from "../../lib/wire/messages.ts";
import { SETTINGS } from "../snapshot/snapshots.ts";
import { anEndpoint, aService, CONTEXT } from "./services.ts";

const HOST = "orders.shop.example.com";
const orders = aService("shop/orders", { hosts: [HOST] });

interface World {
  readonly virtual?: Readonly<Record<string, Partially<VirtualService>>>;
  readonly rules?: Readonly<Record<string, Partially<DestinationRule>>>;
}

/** How traffic to `orders` is directed where there are these rules. */
function trafficIn({ virtual = {}, rules = {} }: World) {
  const { collections } = emptySnapshot(SETTINGS);
  const metadata = (key: string) => {
    const [namespace, name] = key.split("/") as [string, string];
    return { namespace, name, labels: {}, annotations: {} };
  };
  const virtualServices = Object.entries(virtual).map(([key, body]) =>
    encodeResource(metadata(key), virtualServiceCodec.pack(body))
  );
  const destinationRules = Object.entries(rules).map(([key, body]) =>
    encodeResource(metadata(key), destinationRuleCodec.pack(body))
  );
  const known = new TrafficRules();
  known.take(
    new Map([
      ["VirtualService", collections.get("VirtualService")!.patch(virtualServices, [])],
      ["DestinationRule", collections.get("DestinationRule")!.patch(destinationRules, [])],
    ]),
    CONTEXT,
  );
  return known.of(orders);
}

function leadingTo(host: string, extra: Partially<VirtualService> = {}): Partially<VirtualService> {
  return { hosts: [HOST], http: [{ route: [{ destination: { host } }] }], ...extra };
}

function targetIn(virtual: NonNullable<World["virtual"]>): string | undefined {
  return trafficIn({ virtual }).http[0]?.to[0]?.host;
}

Deno.test("rulings: a VirtualService counts where it is exported to the service's namespace", () => {
  const at = (key: string, ...exportTo: string[]) =>
    targetIn({ [key]: leadingTo("x.y", { exportTo }) });
  assertEquals(at("lab/x"), "x.y");
  assertEquals(at("lab/x", "*"), "x.y");
  assertEquals(at("lab/x", "far", "shop"), "x.y");
  assertEquals(at("lab/x", "."), undefined);
  assertEquals(at("lab/x", "lab"), undefined);
  assertEquals(at("lab/x", "~"), undefined);
  assertEquals(at("shop/x", "."), "x.y");
  assertEquals(at("shop/x", "lab"), "x.y", "its own, though exported to another namespace");
  assertEquals(at("shop/x", "~"), undefined);
});

Deno.test("rulings: those of the service's namespace go before others, and who loses is told", () => {
  const virtual = {
    "lab/a": leadingTo("lab.a"),
    "lab/secret": leadingTo("lab.b", { exportTo: ["."] }),
    "shop/orders": leadingTo("own.a"),
    "shop/other": leadingTo("own.b"),
    "shop/wide": leadingTo("own.c", { hosts: ["*.example.com"] }),
  };
  const traffic = trafficIn({ virtual });
  assertEquals(traffic.http[0]?.to[0]?.host, "own.a");
  assertEquals(traffic.overruled, [
    "VirtualService shop/other is not, since shop/orders goes before it",
    "VirtualService lab/a is not, since shop/orders goes before it",
  ]);
  const [finding, ...more] = unservedFindings({ key: "shop/orders", service: orders, traffic });
  assertEquals([finding?.rule, more], ["view/other-rules", []]);
  const { "shop/wide": wide, "lab/a": foreign } = virtual;
  assertEquals(targetIn({ "shop/wide": wide, "lab/a": foreign }), "own.c");
});

Deno.test("rulings: subsets of the service's namespace go before others of the same name", () => {
  const subset = (name: string, version: string) => ({ name, labels: { version } });
  const rules = {
    "lab/hidden": { host: HOST, exportTo: ["."], subsets: [subset("v0", "bad")] },
    "lab/x": { host: HOST, subsets: [subset("v1", "bad"), subset("v2", "2"), subset("v3", "3")] },
    "shop/orders": { host: HOST, subsets: [subset("v1", "1"), subset("v2", "2")] },
  };
  const { subsets, overruled } = trafficIn({ rules });
  assertEquals([...subsets], [
    ["v1", { version: "1" }],
    ["v2", { version: "2" }],
    ["v3", { version: "3" }],
  ]);
  assertEquals(overruled, [
    "subset v1 of DestinationRule lab/x is not, since shop/orders goes before it",
  ]);
});

Deno.test("rulings: policies that clients are not given are named, those of our failover are not", () => {
  const rules = {
    "lab/x": {
      host: HOST,
      trafficPolicy: {
        tls: {},
        connectionPool: {},
        loadBalancer: {},
        outlierDetection: {},
        portLevelSettings: [{}],
      },
      subsets: [{ name: "v1", trafficPolicy: { tls: {} } }, { name: "v2", trafficPolicy: {} }],
    },
  };
  assertEquals(trafficIn({ rules }).unserved, [
    "the trafficPolicy (tls, connectionPool, loadBalancer, outlierDetection, portLevelSettings) " +
    "(DestinationRule lab/x)",
    "the trafficPolicy of subset v1 (tls) (DestinationRule lab/x)",
  ]);
  const failover = ["eu", "us"];
  const endpoints = ["eu", "us"].map((locality) => anEndpoint(`192.0.2.1`, { locality }));
  const labelled = withFailoverLabels(endpoints, { failover });
  const made = toDestinationRules({ ...orders, failover, minHealthy: 0.5, endpoints }, labelled);
  assertEquals(made.length, 1);
  const own = Object.fromEntries(made.map(({ name, message }) => [`shop/${name}`, message]));
  assertEquals(trafficIn({ rules: own }).unserved, PLAIN_TRAFFIC.unserved);
});
