import { assertEquals } from "@std/assert";
import { loadOnce } from "../../lib/config/load_once.ts";
import { checkPeerPlaces } from "../../lib/config/settings_peers.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import { PLAIN_CONVERTER } from "./testdata/plain_converter.ts";
import { malformed, normalise, wrong } from "./testdata/settings_input.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

const places = (yaml: string) =>
  checkPeerPlaces(normalise(yaml)).map(({ severity, path, message, hint }) =>
    `${severity} ${path.join(".")}: ${message}; ${hint}`
  );

Deno.test("peers: every key, and defaults", () => {
  const { peers } = normalise(`
peers:
  - match:
      id: "dubbo-*"
      annotations: { site: fra }
      metadata: { ISTIO_VERSION: "1.1*" }
      identity: "spiffe://example.org/*"
      listener: 127.0.0.1:15010
      sink: mesh
    as: dubbo
    namespaces: [shop, "team-*"]
    labels: { version: "1.10" }
    wave: 2
  - { match: { annotations: {}, metadata: {} } }
`);
  assertEquals(peers, [
    {
      match: {
        id: "dubbo-*",
        annotations: { site: "fra" },
        metadata: { ISTIO_VERSION: "1.1*" },
        identity: "spiffe://example.org/*",
        listener: "127.0.0.1:15010",
        sink: "mesh",
      },
      as: "dubbo",
      namespaces: ["shop", "team-*"],
      labels: { version: "1.10" },
      wave: 2,
    },
    { match: {}, namespaces: [], labels: {} },
  ]);
});

Deno.test("peers: forms that are none are said with what would be right", () => {
  assertEquals(malformed("peers: [{ as: istio }]"), ["peers.0: `match` is missing"]);
  assertEquals(malformed("peers: [{ match: { node: x } }]"), [
    "peers.0.match.node: unknown key `node`; known here: id, annotations, metadata, identity, " +
    "listener, sink",
  ]);
  assertEquals(malformed("peers: [{ match: {}, as: Envoy }]"), [
    'peers.0.as: `as` must be one of istio, envoy, grpc, dubbo, not "Envoy"; did you mean envoy?',
  ]);
  const quotes = "put it in quotes, else YAML reads it as something else (1.10 as 1.1)";
  assertEquals(malformed("peers: [{ match: { metadata: { V: 1.10 } }, labels: { v: 1.10 } }]"), [
    `peers.0.match.metadata.V: \`V\` must be text, not the number 1.1; ${quotes}`,
    `peers.0.labels.v: \`v\` must be text, not the number 1.1; ${quotes}`,
  ]);
  const namespace = "must be the name of a namespace, in which * stands for any text";
  assertEquals(malformed('peers: [{ match: {}, namespaces: ["a/b", "*", "-a"] }]'), [
    `peers.0.namespaces.0: item 1 of \`namespaces\` ${namespace}`,
    `peers.0.namespaces.2: item 3 of \`namespaces\` ${namespace}`,
  ]);
  assertEquals(malformed('peers: [{ match: { id: "" } }]'), [
    "peers.0.match.id: `id` must not be empty",
  ]);
});

Deno.test("peers: a rule that can never count is a warning", () => {
  assertEquals(wrong("peers: [{ match: { id: a } }, { match: {} }]"), []);
  assertEquals(wrong("peers: [{ match: {} }, { match: { id: a } }, { match: {} }]"), [
    "warning peers.1: item 2 of `peers` never counts: item 1 matches every peer, and the first counts",
    "warning peers.2: item 3 of `peers` never counts: item 1 matches every peer, and the first counts",
  ]);
  const twice = "peers: [{ match: { id: a, metadata: { x: y, z: w } } }, " +
    "{ match: { metadata: { z: w, x: y }, id: a } }]";
  assertEquals(wrong(twice), [
    "warning peers.1: item 2 of `peers` never counts: item 1 matches the same peers, and the first counts",
  ]);
});

Deno.test("peers: a wave without effect is said", () => {
  assertEquals(wrong("peers: [{ match: { id: a }, wave: 2 }, { match: {}, wave: 1 }]"), [
    "warning peers.0.wave: `wave` has no effect in this version, which pushes to all at once",
  ]);
});

Deno.test("peers: a listener or sink that there is not is a warning", () => {
  const rule = (match: string) => `peers: [{ match: { ${match} } }]\n`;
  assertEquals(places(rule('listener: "127.0.0.1:15010"')), []);
  assertEquals(places(rule('listener: "127.*"')), []);
  assertEquals(places(rule('listener: "[::]:1"')), [
    "warning peers.0.match.listener: [::]:1 is no address of `listen`, so nobody matches; " +
    "there is 127.0.0.1:15010",
  ]);
  assertEquals(places(rule('listener: "127.0.0.1:15011"')), [
    "warning peers.0.match.listener: 127.0.0.1:15011 is no address of `listen`, so nobody " +
    "matches; did you mean 127.0.0.1:15010?",
  ]);
  const many = Array.from({ length: 200 }, (_, i) => `{ name: s${i}, address: 'a${i}:1' }`);
  assertEquals(places(`sinks: [${many}]\n${rule("sink: elsewhere")}`), [
    "warning peers.0.match.sink: no sink is named elsewhere, so nobody matches; there is s0, s1, " +
    "s2, s3, s4, s5, s6, s7, …",
  ]);
  assertEquals(places(`listen: []\n${rule('listener: "*"')}`), [
    "warning peers.0.match.listener: * is no address of `listen`, so nobody matches; there are none",
  ]);
  const sinks = "sinks: [{ name: mesh-a, address: 'a:1' }, 'b:1']\n";
  assertEquals(places(`${sinks}${rule("sink: mesh-a")}`), []);
  assertEquals(places(`${sinks}${rule('sink: "b:1"')}`), []);
  assertEquals(places(`${sinks}${rule('sink: "other-*"')}`), []);
  assertEquals(places(`${sinks}${rule("sink: mesh-b")}`), [
    "warning peers.0.match.sink: no sink is named mesh-b, so nobody matches; did you mean mesh-a?",
  ]);
  assertEquals(places(rule("sink: mesh")), [
    "warning peers.0.match.sink: no sink is named mesh, so nobody matches; there are none",
  ]);
});

Deno.test("peers: a rule is held against listeners and sinks in other files of the folder", () => {
  using folder = new TempFolder();
  folder.write("a.yaml", "sinks: [{ name: mesh, address: 'a:1' }]\n");
  folder.write("b.yaml", 'listen: ["127.0.0.1:7"]\nservices: []\n');
  folder.write(
    "c.yaml",
    "peers:\n  - match: { sink: mesh }\n  - match: { listener: '127.0.0.1:7' }\n" +
      "  - match: { sink: mosh }\n",
  );
  const { findings, settings } = loadOnce(folder.path, {
    converter: PLAIN_CONVERTER,
    hostName: "test",
  });
  assertEquals(findings.map((f) => formatFinding(f).replace(`${folder.path}/`, "")), [
    "c.yaml:4:14: warning: no sink is named mosh, so nobody matches; did you mean mesh? [config/never]",
  ]);
  assertEquals(settings?.peers.length, 3);
});

Deno.test("peers: there are not more rules than each peer can be held against", () => {
  const rules = (count: number) =>
    `peers: [${Array.from({ length: count }, (_, i) => `{ match: { id: p${i} } }`)}]`;
  assertEquals([malformed(rules(1000)), wrong(rules(1000))], [[], []]);
  assertEquals(malformed(rules(1001)), ["peers: `peers` must hold at most 1000 items"]);
});
