import { assert, assertEquals } from "@std/assert";
import { check } from "../../lib/config/check.ts";
import { normaliseService } from "../../lib/config/normalise.ts";
import { parse } from "../../lib/config/parse.ts";
import { serviceSchema } from "../../lib/config/schema_service.ts";

const DEFAULTS = { namespace: "default", domain: "svc.cluster.local", exportTo: ["*"] };
const ENDPOINTS = `endpoints: [
  { address: 10.0.0.1, labels: { version: v1, color: blue }, locality: eu/fra/a },
  { address: 10.0.0.2, labels: { version: v2 }, locality: eu/ams },
]`;

function checked(yaml: string) {
  const parsed = parse(`{ name: a, ports: [80], ${yaml} }`);
  assert(parsed.ok, JSON.stringify(parsed));
  return check(serviceSchema, parsed.document);
}

function of(yaml: string) {
  const result = checked(yaml);
  assert(result.ok, JSON.stringify(result));
  return normaliseService(result.value, DEFAULTS);
}

/** What is found, a line each: `severity rule path: message; hint`. */
function found(yaml: string): string[] {
  return of(yaml).problems.map(({ severity, rule, path, message, hint }) =>
    `${severity} ${rule} ${path.join(".")}: ${message}${hint === undefined ? "" : `; ${hint}`}`
  );
}

/** What is wrong with the form, a line each: `path: message`. */
function malformed(yaml: string): string[] {
  const result = checked(yaml);
  return result.ok
    ? []
    : result.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

Deno.test("traffic: a service that says nothing of it has none of the fields", () => {
  const { service } = of(ENDPOINTS);
  for (const key of ["subsets", "split", "failover", "minHealthy"]) assert(!(key in service), key);
  assert(!service.endpoints.some((endpoint) => "drain" in endpoint));
});

Deno.test("traffic: a name of split without a subset means the label version", () => {
  const { service, problems } = of(
    `${ENDPOINTS}, subsets: { blue: { color: blue } }, split: { v2: 20, blue: 80 }`,
  );
  assertEquals(service.subsets, { blue: { color: "blue" }, v2: { version: "v2" } });
  assertEquals(Object.keys(service.subsets!), ["blue", "v2"]);
  assertEquals(Object.entries(service.split!), [["blue", 80], ["v2", 20]]);
  assertEquals(problems, []);
});

Deno.test("traffic: a subset of that name is meant before the label", () => {
  const { service } = of(`${ENDPOINTS}, subsets: { v1: { color: blue } }, split: { v1: 1 }`);
  assertEquals(service.subsets, { v1: { color: "blue" } });
});

Deno.test("traffic: a subset that no endpoint is in is an error, with the nearest known", () => {
  assertEquals(found(`${ENDPOINTS}, split: { v1: 1, v22: 1 }`), [
    "error pinnace/empty-subset split.v22: no endpoint has the label version: v22; did you mean v2?",
  ]);
  assertEquals(found(`${ENDPOINTS}, subsets: { green: { color: green } }`), [
    "error pinnace/empty-subset subsets.green: no endpoint has the label color: green; " +
    "endpoints have color: blue",
  ]);
  assertEquals(found(`${ENDPOINTS}, subsets: { b: { color: bleu, version: v1 } }`), [
    "error pinnace/empty-subset subsets.b: no endpoint has the labels color: bleu, version: v1; " +
    "did you mean blue?",
  ]);
  assertEquals(found(`${ENDPOINTS}, subsets: { canary: { version: v1 } }, split: { canery: 1 }`), [
    "error pinnace/empty-subset split.canery: no endpoint has the label version: canery; " +
    "did you mean canary?",
  ]);
  // Each label is there, but not together.
  assertEquals(found(`${ENDPOINTS}, subsets: { b: { color: blue, version: v2 } }`), [
    "error pinnace/empty-subset subsets.b: no endpoint has the labels color: blue, version: v2; " +
    "label endpoints so",
  ]);
});

Deno.test("traffic: without endpoints there is no subset, but those of a selector are not known", () => {
  for (const without of ["endpoints: []", "hosts: [a.example]"]) {
    assertEquals(found(`${without}, split: { v1: 1 }`), [
      "error pinnace/empty-subset split.v1: there is no endpoint, so none is in the subset v1; " +
      "give the service `endpoints`",
    ]);
  }
  assertEquals(found("workloadSelector: { labels: { app: a } }, split: { v1: 1 }"), []);
  // One of weight 0 is none.
  const left = "endpoints: [{ address: 10.0.0.1, labels: { version: v1 }, weight: 0 }, 10.0.0.2]";
  assertEquals(found(`${left}, split: { v1: 1 }`).length, 2);
});

Deno.test("traffic: names of subsets and weights have a form", () => {
  const name = "cannot be the name of a subset: write lower-case letters, digits and -, " +
    "at most 63 of them";
  assertEquals(malformed("split: { V1: 1 }"), [`split.V1: the key \`V1\` ${name}`]);
  assertEquals(malformed("subsets: { v1.2: { a: b } }"), [
    `subsets.v1.2: the key \`v1.2\` ${name}`,
  ]);
  assertEquals(malformed("subsets: { a: {} }"), ["subsets.a: `a` must hold at least one label"]);
  assertEquals(malformed("split: {}"), [
    "split: `split` must give some subset a weight above 0",
  ]);
  const many = Array.from({ length: 101 }, (_, i) => `s${i}: 1`).join(", ");
  assertEquals(malformed(`split: { ${many} }`), ["split: `split` must hold at most 100 subsets"]);
  assertEquals(malformed("split: { a: 0, b: 0 }"), [
    "split: `split` must give some subset a weight above 0",
  ]);
  for (const weight of ["-1", "1000001"]) {
    assertEquals(malformed(`split: { a: ${weight}, b: 1 }`), [
      "split.a: `a` must be a whole number from 0 to 1000000",
    ]);
  }
  assertEquals(malformed("split: { a: 0.5, b: 1 }").length, 1);
});

Deno.test("traffic: minHealthy is a share or a percentage", () => {
  const share = (text: string) => of(`${ENDPOINTS}, minHealthy: ${text}`).service.minHealthy;
  assertEquals(["0.5", "50%", "0", "100%", "12.5%"].map(share), [0.5, 0.5, 0, 1, 0.125]);
  for (const text of ["1.5", "-0.1", "101%", "50", "half", "'50 %'"]) {
    assertEquals(malformed(`minHealthy: ${text}`), [
      "minHealthy: `minHealthy` must be a share: 0 to 1, or 0% to 100%",
    ], text);
  }
  assertEquals(found("endpoints: [], minHealthy: 1"), [
    "warning config/never minHealthy: `minHealthy` is about the endpoints written here: " +
    "there are none",
  ]);
});

Deno.test("traffic: failover is a list of localities, each of which can count", () => {
  assertEquals(of(`${ENDPOINTS}, failover: [eu/fra, eu]`).service.failover, ["eu/fra", "eu"]);
  assertEquals(found(`${ENDPOINTS}, failover: [eu/fra, eu]`), []);
  assertEquals(found(`${ENDPOINTS}, failover: [eu, eu/fra, eu]`), [
    "warning config/never failover.1: eu/fra never counts: eu comes before it and holds it; " +
    "put it before the wider one",
    "warning config/never failover.2: eu never counts: eu comes before it and holds it; remove one",
  ]);
  assertEquals(found(`${ENDPOINTS}, failover: [eu/fre, us]`), [
    "warning config/never failover.0: no endpoint is in eu/fre; did you mean eu/fra?",
    "warning config/never failover.1: no endpoint is in us",
  ]);
  const form = "must be region, region/zone or region/zone/subzone";
  for (const text of ["a/b/c/d", "a//b", "''", "/a", "a/", "'*'", "a b"]) {
    assertEquals(malformed(`failover: [${text}]`), [
      `failover.0: item 1 of \`failover\` ${form}`,
    ], text);
  }
  assertEquals(malformed("failover: []"), [
    "failover: `failover` must not be empty; leave it out where all localities are alike",
  ]);
  assertEquals(found("workloadSelector: { labels: { a: b } }, failover: [eu]"), [
    "warning config/never failover: `failover` orders the endpoints written here, " +
    "and a selector picks them",
  ]);
});

Deno.test("traffic: an endpoint drains where it says so", () => {
  const { service } = of(
    "endpoints: [{ address: 10.0.0.1, drain: true }, { address: a, drain: false }]",
  );
  assertEquals(service.endpoints.map(({ drain }) => drain), [true, undefined]);
  assertEquals(malformed("endpoints: [{ address: a, drain: yes }]").length, 1);
});

Deno.test("traffic: an alias is a name without a port", () => {
  assertEquals(malformed("aliases: [a, b.c, d_e, F-1, 10.0.0.1]"), []);
  for (const alias of ["a:80", "'*'", "'*.a'", "a b", "-a", "a.", "a/b", "''"]) {
    assertEquals(malformed(`aliases: [${alias}]`), [
      "aliases.0: item 1 of `aliases` must be a name of letters, digits, -, _ and ., without a port",
    ], alias);
  }
});
