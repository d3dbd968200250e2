import { assert, assertEquals } from "@std/assert";
import { SETTING_KEYS } from "../../lib/config/schema.ts";
import { checkSettings, normaliseSettings } from "../../lib/config/settings.ts";
import { input, malformed, normalise, wrong } from "./testdata/settings_input.ts";

Deno.test("settings: every default", () => {
  assertEquals(normalise("{}"), {
    defaults: { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] },
    include: [],
    instance: "host",
    listen: [{ address: "127.0.0.1:15010", allow: [], insecure: false }],
    peers: [],
    sinks: [],
    pull: [],
    push: { quiet: 100, max: 1000, guard: 0.5 },
    envoy: {
      bind: "127.0.0.1",
      portOffset: 0,
      trustedCa: "/etc/ssl/certs/ca-certificates.crt",
    },
    watch: { poll: 5000 },
    limits: { file: 32 * 1024 ** 2, message: 16 * 1024 ** 2 },
    admin: "127.0.0.1:15014",
    log: { level: "info", format: "text" },
    unknownCollection: "empty",
  });
});

Deno.test("settings: every key, in its short and its long form", () => {
  const settings = normalise(`
instance: edge
defaults: { namespace: shop }
include: [a, b/]
listen: ["127.0.0.1:1", { address: "0.0.0.0:2", insecure: true }]
sinks: ["a.example:9901", { name: b, address: "b:1", headers: { x: y }, heartbeat: 1m }]
push: { quiet: 0, max: 250ms, guard: 0.1 }
envoy: { bind: "::1", portOffset: 10000, trustedCa: /etc/ca.pem }
watch: { poll: 1m }
limits: { file: 64KiB, message: 1MiB }
admin: { address: "127.0.0.1:3" }
log: { level: debug, format: json }
mcp: { unknownCollection: error }
`.replace("quiet: 0", 'quiet: "0"'));
  assertEquals(settings, {
    defaults: { namespace: "shop", domain: "svc.cluster.local", exportTo: ["*"] },
    include: ["a", "b/"],
    instance: "edge",
    listen: [
      { address: "127.0.0.1:1", allow: [], insecure: false },
      { address: "0.0.0.0:2", allow: [], insecure: true },
    ],
    peers: [],
    pull: [],
    sinks: [
      {
        name: "a.example:9901",
        address: "a.example:9901",
        headers: {},
        heartbeat: 30_000,
        collections: [],
        wave: 1,
      },
      {
        name: "b",
        address: "b:1",
        headers: { x: "y" },
        heartbeat: 60_000,
        collections: [],
        wave: 1,
      },
    ],
    push: { quiet: 0, max: 250, guard: 0.1 },
    envoy: { bind: "::1", portOffset: 10_000, trustedCa: "/etc/ca.pem" },
    watch: { poll: 60_000 },
    limits: { file: 65_536, message: 1_048_576 },
    admin: "127.0.0.1:3",
    log: { level: "debug", format: "json" },
    unknownCollection: "error",
  });
  assertEquals(normalise("listen: []").listen, []);
});

Deno.test("settings: no admin listener is had by saying so", () => {
  assertEquals("admin" in normalise("admin: false"), false);
});

/** Something other than the default for each key, as a last good configuration may have it. */
const EVERY_KEY: Readonly<Record<string, string>> = {
  defaults: "{ namespace: shop }",
  include: '[services/, "xds://127.0.0.1:15020"]',
  instance: "old",
  listen: '[{ address: "127.0.0.1:1", tls: server, allow: [a.example] }]',
  peers: "[{ match: { id: x }, as: grpc }]",
  sinks: "['a:1', { address: 'b:1', tls: true, wave: 2 }]",
  receive: '{ address: "127.0.0.1:2", merge: endpoints }',
  push: "{ guard: 0.2 }",
  envoy: "{ portOffset: 1000 }",
  watch: "{ poll: 1m }",
  limits: "{ file: 1MiB }",
  admin: "false",
  log: "{ level: debug }",
  mcp: "{ unknownCollection: error }",
};
const yamlOf = (entries: readonly (readonly [string, string])[]) =>
  entries.map(([key, value]) => `${key}: ${value}\n`).join("") || "{}";

Deno.test("settings: what is not written comes from the fallback, where there is one", () => {
  const all = Object.entries(EVERY_KEY);
  assertEquals(Object.keys(EVERY_KEY).sort(), [...SETTING_KEYS].sort());
  const fallback = normalise(yamlOf(all));
  assertEquals(normaliseSettings({}, { hostName: "host", fallback }), fallback);
  for (const [key, value] of all) {
    const one = input(yamlOf([[key, value]]));
    assertEquals(normaliseSettings(one, { hostName: "host", fallback }), fallback, key);
    const others = normalise(yamlOf(all.filter(([other]) => other !== key)));
    const mended = normaliseSettings(one, { hostName: "host", fallback: others });
    assertEquals(mended, fallback, `${key} as written counts`);
  }
});

Deno.test("settings: an empty list that is written counts, not the fallback", () => {
  const fallback = normalise(yamlOf(Object.entries(EVERY_KEY)));
  const empty = input("{ include: [], listen: [], peers: [], sinks: [] }");
  const settings = normaliseSettings(empty, { hostName: "host", fallback });
  const { include, pull, listen, peers, sinks } = settings;
  assertEquals([include, pull, listen, peers, sinks], [[], [], [], [], []]);
});

Deno.test("settings: envoy.bind is an address, and one off loopback is told", () => {
  for (const bind of ["127.0.0.1", "127.1.2.3", "::1"]) {
    assertEquals(wrong(`envoy: { bind: "${bind}" }`), [], bind);
  }
  for (const bind of ["0.0.0.0", "::", "192.0.2.1"]) {
    assertEquals(wrong(`envoy: { bind: "${bind}" }`), [
      `warning envoy.bind: Envoys listen on ${bind}, where other machines may reach them: ` +
      "such an Envoy is an open proxy to every service",
    ]);
  }
  for (const bind of ["localhost", "127.0.0.1:80", "[::1]", "fe80::1%eth0", "1"]) {
    assertEquals(malformed(`envoy: { bind: "${bind}" }`), [
      "envoy.bind: `bind` must be an IP address, as in 127.0.0.1 or ::1",
    ]);
  }
  for (const offset of ["-1", "65535"]) {
    assertEquals(malformed(`envoy: { portOffset: ${offset} }`), [
      "envoy.portOffset: `portOffset` must be a whole number from 0 to 65534",
    ]);
  }
});

Deno.test("settings: an address is host:port", () => {
  const bad = ["localhost", "127.0.0.1:", ":80", "a:99999", "http://a:80", "::1:80", "a b:1"];
  for (const address of bad) {
    assertEquals(wrong(`listen: ["${address}"]`), [`error listen.0: ${address} is not an address`]);
  }
  for (const address of ["localhost:80", "127.0.0.1:0", "[::1]:80", "[fe80::1%eth0]:80"]) {
    const yaml = `listen: [{ address: "${address}", insecure: true }]`;
    assertEquals(wrong(yaml), []);
  }
  assertEquals(wrong("sinks: ['a:0']"), ["error sinks.0: a:0 has no port that can be dialled"]);
  assertEquals(wrong("admin: { address: x }"), ["error admin.address: x is not an address"]);
});

Deno.test("settings: variables are looked up, but no value is repeated in a message", () => {
  const yaml = 'sinks: [{ address: "${HOST}", headers: { x: "${TOKEN}" } }]';
  assertEquals(wrong(yaml, { HOST: "a:1", TOKEN: "t" }), []);
  assertEquals(wrong(yaml, {}), [
    "error sinks.0.address: the environment variable HOST is not set",
    "error sinks.0.headers.x: the environment variable TOKEN is not set",
  ]);
  assertEquals(wrong(yaml, { HOST: "secret", TOKEN: "secret\n" }), [
    "error sinks.0.address: ${HOST} is not an address",
    "error sinks.0.headers.x: the header x holds more than printable ASCII",
  ]);
});

Deno.test("settings: an admin listener off loopback is a warning, since its token travels in plaintext", () => {
  const said = (path: string) =>
    `warning ${path}: \`admin\` can be reached from other machines, in plaintext: whoever is on the ` +
    "way can read the status, and take the token that confirms what is held";
  assertEquals(wrong("admin: '0.0.0.0:15014'"), [said("admin")]);
  assertEquals(wrong("admin: { address: '[::]:15014' }"), [said("admin.address")]);
  assertEquals(wrong("admin: '${A}'", { A: "192.0.2.1:1" }), [said("admin")]);
  for (const local of ["'127.0.0.1:1'", "'[::1]:1'", "'localhost:1'", "false"]) {
    assertEquals(wrong(`admin: ${local}`), [], local);
  }
});

Deno.test("settings: listening twice, and waiting longer than the longest, are errors", () => {
  assertEquals(wrong("listen: ['localhost:1', { address: 'localhost:1' }]"), [
    "error listen.1.address: localhost:1 is listened on twice",
  ]);
  assertEquals(wrong("listen: ['[::1]:0', '[::1]:0']"), []);
  assertEquals(wrong("push: { max: 10ms }"), []);
  assertEquals(wrong("push: { quiet: 2s }"), [
    "error push.quiet: `quiet` must not be longer than `max`",
  ]);
});

Deno.test("settings: whatever a variable holds, and wherever, no message repeats it", () => {
  const secret = "hunter2";
  const places = [
    "listen: ['${S}']",
    "listen: [{ address: '127.0.0.1:1', tls: '${S}', insecure: true }]",
    "sinks: ['${S}']",
    "sinks: [{ address: 'a:1', proxy: '${S}' }]",
    "sinks: [{ address: 'a:1', headers: { authorization: '${S}' }, tokenFile: '${S}' }]",
    "sinks: [{ address: '${S}', tls: { cert: '${S}' } }]",
    "include: ['xds://${S}']",
    "include: [{ xds: '${S}', proxy: 'http://u:${S}@h:1', tokenFile: x }]",
    "receive: { address: '${S}', tokens: { a: '${S}', b: '${S}' } }",
    "admin: '${S}'",
  ];
  const values = [secret, `${secret}:1`, `http://u:${secret}@a`, `\n${secret}`, `${secret}%`];
  let said = 0;
  for (const yaml of places) {
    for (const value of values) {
      const problems = checkSettings(input(yaml), () => value);
      said += problems.length;
      assertEquals(JSON.stringify(problems).includes(secret), false, `${yaml} ${value}`);
    }
  }
  assert(said >= places.length * 3, "there is much to be said");
});

Deno.test("settings: of a proxy or header with a $ that begins no variable nothing is repeated", () => {
  const yaml =
    "sinks: [{ address: 'a:1', proxy: 'http://u:${hunter 2}@h:1', headers: { x: 'a${b c}' } }]";
  assertEquals(wrong(yaml), [
    "error sinks.0.proxy: `proxy` holds a $ that begins no variable",
    "error sinks.0.headers.x: the header x holds a $ that begins no variable",
  ]);
});
