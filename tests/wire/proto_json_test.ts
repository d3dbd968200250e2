import { assertEquals, assertMatch } from "@std/assert";
import { encode } from "../../lib/wire/codec.ts";
import {
  clusterCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  type Partially,
  routeConfigurationCodec,
  routerCodec,
} from "../../lib/wire/messages.ts";
import type { Any, Cluster } from "../../lib/wire/messages.ts";
import { anyJson } from "../../lib/wire/proto_json.ts";

const PREFIX = "type.googleapis.com/";

const any = (type: string, message: object): Any => ({
  typeUrl: PREFIX + type,
  value: encode(type, message),
});

Deno.test("proto json: a cluster is as Envoy is configured with it", () => {
  const cluster: Partially<Cluster> = {
    name: "c",
    type: "STATIC",
    connectTimeout: { seconds: 1, nanos: 500_000_000 },
    commonLbConfig: { healthyPanicThreshold: { value: 12.5 }, localityWeightedLbConfig: {} },
    circuitBreakers: { thresholds: [{ priority: "HIGH", maxRequests: { value: 0 } }] },
    loadAssignment: {
      clusterName: "c",
      endpoints: [{
        lbEndpoints: [{
          endpoint: { address: { socketAddress: { address: "192.0.2.1", portValue: 80 } } },
          healthStatus: "DRAINING",
          loadBalancingWeight: { value: 3 },
        }],
      }],
    },
  };
  assertEquals(anyJson(clusterCodec.pack(cluster)), {
    "@type": `${PREFIX}envoy.config.cluster.v3.Cluster`,
    name: "c",
    type: "STATIC",
    connectTimeout: "1.5s",
    circuitBreakers: { thresholds: [{ priority: "HIGH", maxRequests: 0 }] },
    commonLbConfig: { healthyPanicThreshold: { value: 12.5 }, localityWeightedLbConfig: {} },
    loadAssignment: {
      clusterName: "c",
      endpoints: [{
        lbEndpoints: [{
          endpoint: { address: { socketAddress: { address: "192.0.2.1", portValue: 80 } } },
          healthStatus: "DRAINING",
          loadBalancingWeight: 3,
        }],
      }],
    },
  });
});

Deno.test("proto json: what is within an Any is decoded, at all depths", () => {
  const router = { name: "router", typedConfig: routerCodec.pack({}) };
  const manager = httpConnectionManagerCodec.pack({
    rds: { routeConfigName: "80" },
    httpFilters: [router, {
      name: "other",
      typedConfig: { typeUrl: `${PREFIX}a.B`, value: new Uint8Array(7) },
    }],
  });
  const json = anyJson(listenerCodec.pack({ name: "l", apiListener: { apiListener: manager } }));
  assertEquals(json["apiListener"], {
    apiListener: {
      "@type":
        `${PREFIX}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      rds: { routeConfigName: "80" },
      httpFilters: [
        {
          name: "router",
          typedConfig: { "@type": `${PREFIX}envoy.extensions.filters.http.router.v3.Router` },
        },
        { name: "other", typedConfig: { "@type": `${PREFIX}a.B`, bytes: 7 } },
      ],
    },
  });
});

Deno.test("proto json: a member of a oneof shows even with its default", () => {
  const json = anyJson(routeConfigurationCodec.pack({
    name: "r",
    virtualHosts: [{
      name: "v",
      domains: ["*"],
      routes: [{ match: { prefix: "" }, route: { cluster: "" } }],
    }],
  }));
  assertEquals(json["virtualHosts"], [{
    name: "v",
    domains: ["*"],
    routes: [{ match: { prefix: "" }, route: { cluster: "" } }],
  }]);
});

Deno.test("proto json: Google's own types are what they stand for", async (t) => {
  const cases: readonly [string, string, object, unknown][] = [
    ["a duration", "Duration", { seconds: 5, nanos: 0 }, "5s"],
    ["a negative duration", "Duration", { seconds: 0, nanos: -1_000_000 }, "-0.001s"],
    ["a time", "Timestamp", { seconds: 1_577_836_800, nanos: 0 }, "2020-01-01T00:00:00Z"],
    ["a part of a second", "Timestamp", { seconds: 0, nanos: 10 }, "1970-01-01T00:00:00.00000001Z"],
    ["a time in no calendar", "Timestamp", { seconds: 2 ** 52, nanos: 0 }, "4503599627370496s"],
    ["a truth", "BoolValue", { value: false }, false],
    ["bytes", "BytesValue", { value: Uint8Array.of(1, 2) }, "AQI="],
    ["no number", "DoubleValue", { value: NaN }, "NaN"],
    ["a number that is not exact", "UInt64Value", { value: 2n ** 60n }, "1152921504606846976"],
    ["a struct", "Struct", {
      fields: {
        a: { listValue: { values: [{ numberValue: 1 }, { nullValue: "NULL_VALUE" }] } },
        b: { structValue: { fields: { c: { boolValue: true } } } },
        ["__proto__"]: { stringValue: "x" },
      },
    }, JSON.parse('{"a":[1,null],"b":{"c":true},"__proto__":"x"}')],
  ];
  for (const [title, name, message, expected] of cases) {
    await t.step(title, () => {
      assertEquals(anyJson(any(`google.protobuf.${name}`, message))["value"], expected as never);
    });
  }
});

Deno.test("proto json: what is not known or no such message is said with its size", () => {
  assertEquals(anyJson({ typeUrl: "x", value: new Uint8Array(3) }), { "@type": "x", bytes: 3 });
  const broken = anyJson({ typeUrl: clusterCodec.typeUrl, value: Uint8Array.of(255) });
  assertEquals([broken["@type"], broken["bytes"]], [clusterCodec.typeUrl, 1]);
  assertMatch(broken["error"] as string, /cannot decode envoy\.config\.cluster\.v3\.Cluster/);
});

Deno.test("proto json: fields that are not known are counted", () => {
  const known = clusterCodec.encode({ name: "c" });
  const value = Uint8Array.of(...known, 0xfa, 0x7f, 2, 1, 1); // field 2047, two bytes
  assertEquals(anyJson({ typeUrl: clusterCodec.typeUrl, value }), {
    "@type": clusterCodec.typeUrl,
    name: "c",
    unknownBytes: 5,
  });
});

Deno.test("proto json: Anys within Anys end somewhere", () => {
  let inner: Any = routerCodec.pack({});
  for (let i = 0; i < 1000; i++) inner = any("google.protobuf.Any", inner);
  let depth = 0;
  for (let json = anyJson(inner); json["value"] !== undefined; depth++) {
    json = json["value"] as typeof json;
  }
  assertEquals(depth < 20, true);
});
