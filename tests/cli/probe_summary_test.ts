import { assertEquals, assertMatch } from "@std/assert";
import { summarise } from "../../lib/cli/probe_summary.ts";
import {
  aggregateClusterCodec,
  clusterCodec,
  clusterLoadAssignmentCodec,
  httpConnectionManagerCodec,
  listenerCodec,
  routeConfigurationCodec,
  tcpProxyCodec,
} from "../../lib/wire/messages.ts";
import type { Any } from "../../lib/wire/messages.ts";

const at = (address: string, portValue = 80) => ({ socketAddress: { address, portValue } });
const endpoint = (address: string, healthStatus?: "DRAINING" | "UNHEALTHY") => ({
  endpoint: { address: at(address) },
  healthStatus,
});
const text = (any: Any) => summarise(any).text;

Deno.test("probe summary: a cluster is its type, and where its endpoints are", () => {
  const cases: [string, Any][] = [
    ["EDS", clusterCodec.pack({ name: "c", type: "EDS" })],
    [
      "EDS, endpoints by EDS e, RING_HASH, TLS",
      clusterCodec.pack({
        name: "c",
        type: "EDS",
        edsClusterConfig: { serviceName: "e" },
        lbPolicy: "RING_HASH",
        transportSocket: { name: "tls" },
      }),
    ],
    [
      "STRICT_DNS, a.example:80, [2001:db8::1]:80",
      clusterCodec.pack({
        type: "STRICT_DNS",
        loadAssignment: {
          endpoints: [{ lbEndpoints: [endpoint("a.example"), endpoint("2001:db8::1")] }],
        },
      }),
    ],
    [
      "envoy.clusters.aggregate, of a, b, c, 2 more",
      clusterCodec.pack({
        clusterType: {
          name: "envoy.clusters.aggregate",
          typedConfig: aggregateClusterCodec.pack({ clusters: ["a", "b", "c", "d", "e"] }),
        },
      }),
    ],
  ];
  for (const [expected, any] of cases) assertEquals(text(any), expected);
});

Deno.test("probe summary: an assignment is counted, by what matters in operation", () => {
  assertEquals(text(clusterLoadAssignmentCodec.pack({ clusterName: "c" })), "no endpoints");
  const assignment = clusterLoadAssignmentCodec.pack({
    endpoints: [
      { lbEndpoints: [endpoint("192.0.2.1"), endpoint("192.0.2.2", "DRAINING")] },
      {
        priority: 1,
        lbEndpoints: [
          endpoint("192.0.2.3", "DRAINING"),
          endpoint("192.0.2.4", "UNHEALTHY"),
          { endpoint: { address: { pipe: { path: "/run/x" } } } },
        ],
      },
    ],
  });
  assertEquals(
    text(assignment),
    "5 endpoints: 192.0.2.1:80, 192.0.2.2:80, 192.0.2.3:80, 2 more, 2 localities, 2 priorities, 2 draining, 1 unhealthy",
  );
});

Deno.test("probe summary: routes are who calls, what is asked, and where it goes", () => {
  const { text, lines } = summarise(routeConfigurationCodec.pack({
    virtualHosts: [
      {
        domains: ["a", "a:80"],
        routes: [
          { match: { path: "/exact" }, route: { cluster: "x" } },
          {
            match: { prefix: "/p/", headers: [{ name: "user" }] },
            route: {
              weightedClusters: {
                clusters: [{ name: "v1", weight: { value: 80 } }, {
                  name: "v2",
                  weight: { value: 20 },
                }],
              },
            },
          },
          { match: { safeRegex: { regex: ".*x" } }, nonForwardingAction: {} },
          { match: { prefix: "" } },
        ],
      },
      { domains: ["b"], routes: [] },
    ],
  }));
  assertEquals(text, "2 virtual hosts");
  assertEquals(lines, [
    "a, a:80 /exact → x",
    "a, a:80 /p/* with user → v1 (80), v2 (20)",
    "a, a:80 ~.*x → the program itself",
    "a, a:80 → no cluster",
    "b → no routes",
  ]);
});

Deno.test("probe summary: what is many is cut, and said how much", () => {
  const virtualHosts = Array.from({ length: 50 }, (_, i) => ({ domains: [`h${i}`], routes: [] }));
  const { text, lines } = summarise(routeConfigurationCodec.pack({ virtualHosts }));
  assertEquals([text, lines.length, lines.at(-1)], ["50 virtual hosts", 21, "… 30 more"]);
});

Deno.test("probe summary: a listener is where it listens, and what becomes of which connection", () => {
  const manager = httpConnectionManagerCodec.pack({ rds: { routeConfigName: "80" } });
  const { text, lines } = summarise(listenerCodec.pack({
    address: at("127.0.0.1", 443),
    filterChains: [
      {
        filterChainMatch: { serverNames: ["a.example"], transportProtocol: "tls" },
        filters: [{ name: "tcp", typedConfig: tcpProxyCodec.pack({ cluster: "c" }) }],
      },
      {
        filterChainMatch: {
          prefixRanges: [{ addressPrefix: "240.0.0.1", prefixLen: { value: 32 } }],
          destinationPort: { value: 9 },
          applicationProtocols: ["h2"],
        },
        filters: [{ name: "hcm", typedConfig: manager }],
      },
      { filters: [{ name: "echo" }] },
    ],
    defaultFilterChain: {},
  }));
  assertEquals(text, "127.0.0.1:443, 4 filter chains");
  assertEquals(lines, [
    "SNI a.example, tls → c",
    "to 240.0.0.1/32, to port 9, h2 → HTTP, routes 80",
    "all else → echo",
    "all else → no filters",
  ]);
  const api = listenerCodec.pack({ apiListener: { apiListener: manager } });
  assertEquals(summarise(api), { text: "API listener, HTTP, routes 80", lines: [] });
});

Deno.test("probe summary: what is not known or broken is its type and size", () => {
  assertEquals(text({ typeUrl: "a.B", value: new Uint8Array(1) }), "a.B, 1 byte");
  assertEquals(text({ typeUrl: "", value: new Uint8Array(2) }), "no type, 2 bytes");
  assertMatch(
    text({ typeUrl: clusterCodec.typeUrl, value: Uint8Array.of(255) }),
    /^type\.googleapis\.com\/\S+, 1 byte: cannot decode/,
  );
});
