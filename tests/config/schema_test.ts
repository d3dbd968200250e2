import { assert, assertEquals } from "@std/assert";
import { check } from "../../lib/config/check.ts";
import { configFileSchema, includedFileSchema, wholeFileSchema } from "../../lib/config/schema.ts";
import { serviceSchema } from "../../lib/config/schema_service.ts";
import { parse } from "../../lib/config/parse.ts";

type AnySchema = Parameters<typeof check>[0];

/** What is wrong with a YAML text, a line each: `path: message; hint`. */
function wrong(schema: AnySchema, yaml: string): string[] {
  const parsed = parse(yaml);
  assert(parsed.ok);
  const checked = check(schema, parsed.document);
  if (checked.ok) return [];
  return checked.problems.map(({ path, message, hint }) =>
    `${path.join(".")}: ${message}${hint === undefined ? "" : `; ${hint}`}`
  );
}

const service = (more: string) => wrong(serviceSchema, `{ name: a, ports: [80], ${more} }`);
const settings = (yaml: string) => wrong(configFileSchema, yaml);

const LATER: readonly (readonly [AnySchema, string, string])[] = [
  [configFileSchema, "push: { waves: {} }", "push.waves"],
];

for (const [schema, yaml, path] of LATER) {
  Deno.test(`schema: ${path}, of a later version, is refused and not ignored`, () => {
    const key = path.split(".").at(-1);
    assertEquals(wrong(schema, yaml), [
      `${path}: \`${key}\` is not supported yet by this version; take it out`,
    ]);
  });
}

Deno.test("schema: an unknown key is an error with the nearest known one", () => {
  assertEquals(settings("lisen: []"), ["lisen: unknown key `lisen`; did you mean `listen`?"]);
  assertEquals(settings("push: { Quiet: 1s }"), [
    "push.Quiet: unknown key `Quiet`; did you mean `quiet`?",
  ]);
  assertEquals(settings("watch: { interval: 1s }"), [
    "watch.interval: unknown key `interval`; known here: poll",
  ]);
  assertEquals(service("endpoint: []"), [
    "endpoint: unknown key `endpoint`; did you mean `endpoints`?",
  ]);
  assertEquals(service("subject_alt_names: []"), [
    "subject_alt_names: unknown key `subject_alt_names`; did you mean `subjectAltNames`?",
  ]);
  assertEquals(settings("pears: []"), ["pears: unknown key `pears`; did you mean `peers`?"]);
});

Deno.test("schema: every mistake is said at once, unknown keys beside wrong values", () => {
  assertEquals(wrong(serviceSchema, "{ nmae: a, ports: [0], weight: 1 }").length, 4);
});

Deno.test("schema: settings do not belong into an included file", () => {
  assertEquals(wrong(includedFileSchema, "{ services: [], sinks: [] }"), [
    "sinks: `sinks` does not belong here; an included file holds `services` alone; settings go into " +
    "the --config file",
  ]);
  assertEquals(wrong(includedFileSchema, "{}"), [": `services` is missing"]);
});

Deno.test("schema: a label that YAML would read as a number is refused, with what to do", () => {
  const hint = "put it in quotes, else YAML reads it as something else (1.10 as 1.1)";
  assertEquals(service("labels: { version: 1.10 }"), [
    `labels.version: \`version\` must be text, not the number 1.1; ${hint}`,
  ]);
  assertEquals(service("labels: { canary: true }"), [
    `labels.canary: \`canary\` must be text, not true; ${hint}`,
  ]);
  assertEquals(service("endpoints: [{ address: x, labels: { v: 2 } }]"), [
    `endpoints.0.labels.v: \`v\` must be text, not the number 2; ${hint}`,
  ]);
  assertEquals(service("labels: { v: ~ }"), [
    "labels.v: `v` is empty; give text, or leave the key out",
  ]);
  assertEquals(service('labels: { v: "1.10", yes: no }'), []);
});

Deno.test("schema: ports in all their forms", () => {
  const ports = (list: string) => wrong(serviceSchema, `{ name: a, ports: ${list} }`);
  assertEquals(
    ports(
      '[80, "443", "443:8443", 443/HTTPS, "443:8443/GRPC", { number: 1, name: x, protocol: TCP, targetPort: 2 }]',
    ),
    [],
  );
  const form = "is no port; write number:targetPort/PROTOCOL, as in 443:8443/GRPC or 80/HTTP";
  assertEquals(ports('["GRPC/443"]'), [`ports.0: item 1 of \`ports\` ${form}`]);
  for (const port of ["0", '"0"', "65536", '"65536/TCP"', '"80:0"', "{ number: 70000 }", "1.5"]) {
    assertEquals(ports(`[${port}]`).length, 1, port);
  }
  assertEquals(ports("[]"), ["ports: `ports` must hold at least one port"]);
  assertEquals(ports("80"), ["ports: `ports` must be a list, not the number 80"]);
  assertEquals(ports("[[80]]"), [
    "ports.0: item 1 of `ports` must be a number or text or a mapping, not a list",
  ]);
  assertEquals(ports("[{ number: 80, potocol: TCP }]"), [
    "ports.0.potocol: unknown key `potocol`; did you mean `protocol`?",
  ]);
  assertEquals(ports("[{ name: http }]"), ["ports.0: `number` is missing"]);
});

Deno.test("schema: a name that cannot be one comes with one that could", () => {
  const name = (text: string) => wrong(serviceSchema, `{ name: "${text}", ports: [80] }`);
  assertEquals(name("providers:com.test.X"), [
    "name: `name` must be lower-case letters, digits, - and .; providers-com.test.x would do",
  ]);
  assertEquals(name("-"), ["name: `name` must be lower-case letters, digits, - and ."]);
  assertEquals(name("orders"), []);
  assertEquals(service("namespace: a/b").length, 1);
});

Deno.test("schema: a choice names all there are, and the nearest", () => {
  assertEquals(service("resolution: dns"), [
    "resolution: `resolution` must be one of NONE, STATIC, DNS, DNS_ROUND_ROBIN, DYNAMIC_DNS, not " +
    '"dns"; did you mean DNS?',
  ]);
  assertEquals(settings("log: { level: warning }"), [
    'log.level: `level` must be one of debug, info, warn, error, not "warning"; did you mean warn?',
  ]);
});

Deno.test("schema: durations and sizes have a unit and bounds", () => {
  assertEquals(
    settings(
      "push: { quiet: 1m30s, max: 2m }, watch: { poll: 1.5s }, limits: { file: 1.5MiB }".replace(
        /^(.*)$/,
        "{ $1 }",
      ),
    ),
    [
      "push.quiet: `quiet` must be from 0 to 1m",
    ],
  );
  assertEquals(settings("watch: { poll: 5 }"), [
    "watch.poll: `poll` must be text, not the number 5; put it in quotes, else YAML reads it as something else (1.10 as 1.1)",
  ]);
  assertEquals(settings("watch: { poll: 1d }"), [
    "watch.poll: `poll` is no duration; write a number and a unit, as in 100ms, 5s or 1m30s",
  ]);
  assertEquals(settings("limits: { file: 32MB }"), [
    "limits.file: `file` is no size; write a number and a unit, as in 512KiB or 32MiB",
  ]);
  assertEquals(settings("push: { guard: 2 }"), ["push.guard: `guard` must be from 0 to 1"]);
});

Deno.test("schema: the whole file, for editors, holds what is checked piece by piece", () => {
  assertEquals(wrong(wholeFileSchema, "{ instance: a, services: [{ name: a, ports: [80] }] }"), []);
  assertEquals(wrong(wholeFileSchema, "{ services: [{ name: a }] }"), [
    "services.0: `ports` is missing",
  ]);
});
