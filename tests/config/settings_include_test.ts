import { assert, assertEquals } from "@std/assert";
import { loadOnce } from "../../lib/config/load_once.ts";
import { includedFiles, includedServers } from "../../lib/config/settings_include.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { hints, input, malformed, normalise, wrong } from "./testdata/settings_input.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

Deno.test("include: servers are pulled from, and files stay files", () => {
  const { include, pull } = normalise(`
include:
  - xds://tier.example:15010
  - services/
  - xds: "\${TIER}:15012"
    tls: { folder: tls/tier, serverName: tier }
    tokenFile: tier.token
    proxy: "http://proxy:3128"
    headers: { x-site: fra }
    namespaces: [shop, "team-*"]
  - more/*.yaml
`);
  assertEquals(include, ["services/", "more/*.yaml"]);
  assertEquals(pull, [
    {
      url: "xds://tier.example:15010",
      address: "tier.example:15010",
      headers: {},
      namespaces: [],
    },
    {
      url: "xds://${TIER}:15012",
      address: "${TIER}:15012",
      tls: { files: { kind: "folder", folder: "tls/tier" }, serverName: "tier" },
      tokenFile: "tier.token",
      proxy: "http://proxy:3128",
      headers: { "x-site": "fra" },
      namespaces: ["shop", "team-*"],
    },
  ]);
});

Deno.test("include: an item is either a file or a server", () => {
  const items = input("include: [a, 'xds://b:1', { xds: 'c:1' }, './xds:/d']").include!;
  assertEquals(includedFiles(items), [{ pattern: "a", index: 0 }, {
    pattern: "./xds:/d",
    index: 3,
  }]);
  assertEquals(includedServers(items).map(({ url }) => url), ["xds://b:1", "xds://c:1"]);
});

Deno.test("include: the address of a server is host:port and can be dialled", () => {
  assertEquals(wrong("include: ['xds://']"), ["error include.0: an empty text is not an address"]);
  assertEquals(wrong("include: ['xds://a']"), ["error include.0: a is not an address"]);
  assertEquals(wrong("include: ['xds://a:0']"), [
    "error include.0: a:0 has no port that can be dialled",
  ]);
  assertEquals(wrong("include: [a, { xds: 'xds://a:1' }]"), [
    "error include.1.xds: xds://a:1 is not an address",
  ]);
  assertEquals(wrong("include: ['xds://${HOST}:1']", { HOST: "a" }), []);
  assertEquals(wrong("include: ['xds://${HOST}:1']"), [
    "error include.0: the environment variable HOST is not set",
  ]);
});

Deno.test("include: one server twice is an error, however it is written", () => {
  assertEquals(wrong("include: ['xds://a:1', b, { xds: '${A}' }]", { A: "a:1" }), [
    "error include.2.xds: the items 1 and 3 of `include` are the same server",
  ]);
  assertEquals(wrong("include: ['xds://a:1', 'xds://a:2']"), []);
});

Deno.test("include: a server is dialled by the rules of sinks", () => {
  assertEquals(
    wrong(
      "include: [{ xds: 'a.example:1', tokenFile: t, proxy: 'proxy:1', headers: { grpc-x: y } }]",
    ),
    [
      "error include.0.proxy: `proxy` does not begin with http://",
      "error include.0.headers.grpc-x: the header grpc-x cannot be set",
      "warning include.0.tokenFile: the token for xds://a.example:1 travels in plaintext, through " +
      "the proxy as well: whoever is on its way can take it",
    ],
  );
  assertEquals(malformed("include: [{ xds: 'a:1', wave: 1 }]"), [
    "include.0.wave: unknown key `wave`; known here: xds, tls, tokenFile, proxy, headers, namespaces",
  ]);
  assertEquals(malformed("include: [{ xds: 'a:1', namespaces: [] }]"), [
    "include.0.namespaces: `namespaces` must not be empty; leave it out for every namespace, or " +
    "name those that are meant",
  ]);
});

Deno.test("include: no other scheme can be included", () => {
  assertEquals(wrong("include: ['https://a/b.yaml', 'XDS://a:1']"), [
    "error include.0: https:// is nothing that can be included",
    "error include.1: XDS:// is nothing that can be included",
  ]);
  assertEquals(hints("include: ['grpc://a:1']"), [
    "write xds://host:port for an MCP-over-xDS server; all else is files",
  ]);
});

Deno.test("include: a file that is not there is pointed at, servers before it or not", () => {
  using folder = new TempFolder();
  const config = folder.write(
    "c.yaml",
    "include:\n  - xds://127.0.0.1:1\n  - there.yaml\n  - { xds: '127.0.0.1:2' }\n  - gone.yaml\n",
  );
  folder.write("there.yaml", "services: []\n");
  const { findings, settings } = loadOnce(config, {
    converter: PLAIN_CONVERTER,
    hostName: "test",
  });
  assertEquals(findings.map((f) => formatFinding(f).replace(`${folder.path}/`, "")), [
    "c.yaml:5:5: error: gone.yaml is not there [config/include]",
  ]);
  assertEquals(settings, undefined);
});

Deno.test("include: an included file names no server", () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", "include: [more.yaml]\n");
  folder.write("more.yaml", "include: ['xds://127.0.0.1:1']\nservices: []\n");
  const { findings } = loadOnce(config, { converter: PLAIN_CONVERTER, hostName: "test" });
  assert(
    findings.some(({ message, hint }) =>
      message === "`include` does not belong here" && hint!.includes("--config file")
    ),
  );
});
