import { assert, assertEquals } from "@std/assert";
import { check } from "../../lib/config/check.ts";
import { parse } from "../../lib/config/parse.ts";
import { configFileSchema } from "../../lib/config/schema.ts";
import { checkSettings, normaliseSettings } from "../../lib/config/settings.ts";

function input(yaml: string) {
  const parsed = parse(yaml);
  assert(parsed.ok);
  const checked = check(configFileSchema, parsed.document);
  assert(checked.ok, JSON.stringify(checked));
  return checked.value;
}

const normalise = (yaml: string) => normaliseSettings(input(yaml), { hostName: "host" });
const wrong = (yaml: string, env: Readonly<Record<string, string>> = {}) =>
  checkSettings(input(yaml), (name) => env[name])
    .map(({ severity, path, message }) => `${severity} ${path.join(".")}: ${message}`);

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

Deno.test("settings: what is not written comes from the fallback, where there is one", () => {
  const fallback = normalise(
    "{ instance: old, sinks: ['a:1'], admin: false, push: { guard: 0.2 } }",
  );
  const settings = normaliseSettings(input("instance: new"), { hostName: "host", fallback });
  assertEquals(settings, { ...fallback, instance: "new" });
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

Deno.test("settings: sinks have names of their own; one address twice is a warning", () => {
  assertEquals(wrong("sinks: ['a:1', { name: x, address: 'b:1' }, { name: x, address: 'c:1' }]"), [
    "error sinks.2: two sinks are named x, items 2 and 3",
  ]);
  assertEquals(wrong("sinks: ['a:1', 'a:1']"), [
    "error sinks.1: two sinks are named a:1, items 1 and 2",
  ]);
  assertEquals(wrong("sinks: ['a:1', { name: b, address: 'a:1' }]"), [
    "warning sinks.1: the sinks 1 and 2 have the same address",
  ]);
});

Deno.test("settings: headers that are gRPC's own are refused", () => {
  assertEquals(wrong("sinks: [{ address: 'a:1', headers: { grpc-timeout: x, x-bin: y } }]"), [
    "error sinks.0.headers.grpc-timeout: the header grpc-timeout cannot be set",
    "error sinks.0.headers.x-bin: the header x-bin cannot be set",
  ]);
});

Deno.test("settings: listening twice, and waiting longer than the longest, are errors", () => {
  assertEquals(wrong("listen: ['localhost:1', { address: 'localhost:1' }]"), [
    "error listen.1.address: localhost:1 is listened on twice",
  ]);
  assertEquals(wrong("listen: ['[::1]:0', '[::1]:0']"), []);
  assertEquals(wrong("push: { quiet: 2s }"), [
    "error push.quiet: `quiet` must not be longer than `max`",
  ]);
});
