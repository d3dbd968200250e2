import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ProbeFlags } from "../../lib/cli/probe_flags.ts";
import { xdsTypeByUrl } from "../../lib/model/xds_type.ts";
import { readProbeOptions } from "../../lib/cli/probe_options.ts";

const FLAGS: ProbeFlags = {
  protocol: "mcp",
  timeout: "20s",
  node: "probe",
  format: "text",
  maxMessage: "64MiB",
};

Deno.test("probe: what is written wrongly is told before anything is dialled", () => {
  const wrong = (address: string, flags: Partial<ProbeFlags> = {}) => {
    const read = readProbeOptions(address, { ...FLAGS, ...flags });
    assert(typeof read === "string");
    return read;
  };
  assertMatch(wrong("localhost"), /not host:port/);
  assertMatch(wrong("localhost:0"), /not host:port/);
  assertMatch(wrong("a:1", { timeout: "10" }), /--timeout is a duration such as 10s/);
  assertMatch(wrong("a:1", { timeout: "48h" }), /up to 24h/);
  assertMatch(wrong("a:1", { maxMessage: "1" }), /--max-message is a size/);
  assertMatch(wrong("a:1", { header: ["x"] }), /--header is key=value/);
  assertMatch(wrong("a:1", { header: ["TE=x"] }), /--header: te cannot be set; HTTP/);
  assertMatch(wrong("a:1", { header: ["grpc-timeout=1S"] }), /cannot be set; .* gRPC's own/);
  assertMatch(wrong("a:1", { header: ["x-bin=1"] }), /x-bin cannot be set/);
  assertMatch(wrong("a:1", { header: ["a b=1"] }), /the name a b holds more than/);
  const value = wrong("a:1", { header: ["x-token=geheim\u00e9"] });
  assertEquals(value, "--header: x-token holds more than printable ASCII");
  assertMatch(wrong("a:1", { cert: "a.crt" }), /--cert and --key go together/);
  assertMatch(wrong("a:1", { proxy: "https://p:1" }), /--proxy: /);
  assertMatch(wrong("a:1", { tokenFile: "" }), /--token-file is empty/);
  assertMatch(wrong("a:1", { protocol: "ads", incremental: true }), /--protocol ads-delta/);
});

Deno.test("probe: options become what is dialled", () => {
  const read = readProbeOptions("xds://[::1]:15010", {
    ...FLAGS,
    protocol: "ads",
    collection: ["ServiceEntry", "x.istio.io/v1/Other"],
    type: ["ServiceEntry"],
    header: ["X-Site=fra=1"],
    proxy: "http://u:p@proxy:3128",
    ca: "/ca.crt",
    serverName: "hub.example",
  });
  assert(typeof read !== "string");
  assertEquals(read.types.map(({ typeUrl }) => typeUrl), [
    "networking.istio.io/v1/ServiceEntry",
    "x.istio.io/v1/Other",
  ]);
  assertEquals(read.target, {
    host: "::1",
    port: 15010,
    headers: { "x-site": "fra=1" },
    tls: { files: { kind: "files", ca: "/ca.crt" }, serverName: "hub.example" },
    proxy: { host: "proxy", port: 3128, authorization: `Basic ${btoa("u:p")}` },
  });
});

Deno.test("probe: what is asked for follows from who asks, what is named, and how it is spoken", async (t) => {
  const { protocol: _, ...flags } = FLAGS;
  const read = (extra: Partial<ProbeFlags>) => {
    const options = readProbeOptions("a:1", { ...flags, ...extra });
    if (typeof options === "string") return options;
    const short = (typeUrl: string) => xdsTypeByUrl(typeUrl)?.shortName ?? typeUrl;
    return {
      protocol: options.protocol,
      as: options.as,
      types: options.types.map(({ typeUrl, names }) => [short(typeUrl), names ?? "all"]),
      walks: options.walk !== undefined,
      shown: options.shown && [...options.shown].map(short),
    };
  };
  const envoy = [["CDS", "all"], ["LDS", "all"], ["EDS", []], ["RDS", []]];
  const good: [string, Partial<ProbeFlags>, Record<string, unknown>][] = [
    ["nothing: MCP, as ever", {}, { protocol: "mcp", as: undefined, walks: false }],
    ["a client: ADS", { as: "envoy" }, { protocol: "ads", types: envoy, walks: true }],
    ["its protocol", { as: "dubbo", protocol: "ads-delta" }, {
      protocol: "ads-delta",
      walks: true,
    }],
    ["targets of gRPC", { as: "grpc", resource: ["t", "t"] }, {
      types: [["LDS", ["t"]], ["RDS", []], ["CDS", []], ["EDS", []]],
      walks: true,
    }],
    ["an xDS type: as an Envoy", { type: ["CDS"] }, {
      protocol: "ads",
      as: "envoy",
      types: [["CDS", "all"]],
      walks: false,
    }],
    ["a type by its name, its URL and less", {
      type: ["Listener", "type.googleapis.com/envoy.config.listener.v3.Listener"],
      collection: ["envoy.config.listener.v3.Listener"],
    }, { types: [["LDS", "all"]] }],
    ["a type with names", { type: ["rds"], resource: ["80"] }, {
      types: [["RDS", ["80"]]],
      walks: false,
    }],
    ["endpoints without names: those of clusters", { type: ["EDS"] }, {
      types: envoy,
      walks: true,
      shown: ["EDS"],
    }],
    ["names of Istio's kinds too", {
      type: ["ServiceEntry"],
      protocol: "ads",
      resource: ["shop/a"],
    }, { as: undefined, types: [["networking.istio.io/v1/ServiceEntry", ["shop/a"]]] }],
  ];
  for (const [title, extra, expected] of good) {
    await t.step(title, () => {
      const found = read(extra);
      if (typeof found === "string") throw new Error(found);
      assertEquals<unknown>({ ...found, ...expected }, found);
    });
  }
  const wrong: [Partial<ProbeFlags>, RegExp][] = [
    [{ protocol: "mcp", userAgent: "x" }, /^--user-agent is for --protocol ads/],
    [{ as: "envoy", metadata: ["x"] }, /^--metadata is key=value, not x$/],
    [{ as: "grpc" }, /^--as grpc needs --resource TARGET/],
    [{ as: "envoy", protocol: "mcp" }, /^--as is for --protocol ads and ads-delta, not mcp$/],
    [{ protocol: "mcp", type: ["CDS"] }, /^CDS is no collection of MCP; --protocol ads/],
    [{ protocol: "mcp", resource: ["x"] }, /^--resource is for --protocol ads/],
    [{ as: "envoy", resource: ["x"] }, /^--resource goes with --type; --as envoy asks for all/],
    [{ protocol: "ads", resource: ["x"] }, /^--resource goes with --type, or with --as grpc$/],
    [{ type: ["CDS", "LDS"], resource: ["x"] }, /^--resource goes with one --type/],
    [{ as: "grpc", type: ["CDS"] }, /^a gRPC program asks by name: --resource/],
    [{ type: ["EDS", "ServiceEntry"] }, /^EDS and RDS are asked for by name/],
    [{ as: "dubbo", type: ["CDS", "EDS"] }, /^--as dubbo never asks for CDS/],
  ];
  for (const [extra, expected] of wrong) {
    await t.step(JSON.stringify(extra), () => assertMatch(String(read(extra)), expected));
  }
});

Deno.test("probe: it says that it is who it is like, unless told otherwise", () => {
  const node = (extra: Partial<ProbeFlags>) => {
    const { protocol: _p, node: _n, ...flags } = FLAGS;
    const options = readProbeOptions("a:1", { ...flags, ...extra });
    if (typeof options === "string") throw new Error(options);
    const { id, userAgentName } = options.node;
    return [id, userAgentName];
  };
  const resource = ["t"];
  assertEquals(node({ protocol: "ads" }), ["pinnace-probe", "pinnace-probe"]);
  assertEquals(node({ as: "envoy" }), ["pinnace-probe", "envoy"]);
  assertEquals(node({ as: "grpc", resource })[1]?.startsWith("gRPC"), true);
  const dubbo = "sidecar~127.0.0.1~pinnace-probe~default.svc.cluster.local";
  assertEquals(node({ as: "dubbo" }), [dubbo, undefined]);
  assertEquals(node({ as: "grpc", resource, userAgent: "gRPC Java", node: "n" }), [
    "n",
    "gRPC Java",
  ]);
});

Deno.test("probe: metadata go along as texts", () => {
  const { protocol: _, ...flags } = FLAGS;
  const metadata = ["GENERATOR=grpc", "a=b=c", "__proto__=x"];
  const options = readProbeOptions("a:1", { ...flags, as: "envoy", metadata });
  assert(typeof options !== "string");
  assertEquals(Object.entries(options.node.metadata!.fields), [
    ["GENERATOR", { stringValue: "grpc" }],
    ["a", { stringValue: "b=c" }],
    ["__proto__", { stringValue: "x" }],
  ]);
});
