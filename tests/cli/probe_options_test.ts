import { assert, assertEquals, assertMatch } from "@std/assert";
import type { ProbeFlags } from "../../lib/cli/probe_flags.ts";
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
