import { assert, assertEquals } from "@std/assert";
import { configJsonSchema } from "../../lib/config/json_schema.ts";
import { loadOnce } from "../../lib/config/load_once.ts";
import { formatFinding } from "../../lib/model/finding.ts";
import { checkTogether } from "../../lib/convert/together.ts";
import { conflicts } from "../../lib/convert/conflicts.ts";
import { convertService } from "../../lib/convert/convert.ts";
import { normalise } from "./testdata/settings_input.ts";
import { TempFolder } from "./testdata/temp_folder.ts";

const ROOT = new URL("../../", import.meta.url);
const EXAMPLE = new URL("config.example.yaml", ROOT);
const options = { converter: { convertService, checkTogether, conflicts }, hostName: "test" };

Deno.test("json schema: the committed file is what the schema gives (deno task schema)", () => {
  const committed = JSON.parse(Deno.readTextFileSync(new URL("config.schema.json", ROOT)));
  assertEquals(committed, JSON.parse(JSON.stringify(configJsonSchema())));
});

Deno.test("example: it names the schema in its first line and loads without a finding", () => {
  const text = Deno.readTextFileSync(EXAMPLE);
  const [, schema] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)!;
  assert(Deno.statSync(new URL(schema!, ROOT)).isFile);
  const { findings, settings, services } = loadOnce(EXAMPLE.pathname, options);
  assertEquals(findings.map(formatFinding), []);
  assertEquals(services.map(({ service }) => service.name), ["orders", "billing", "search"]);
  assertEquals(settings?.listen, [
    { address: "127.0.0.1:15010", allow: [], insecure: false },
  ]);
});

/** The example with everything that is commented out put in, as a reader who tries it all would have it. */
function uncommented(): string {
  const isKey = /^( *)# ((?:- )?(?:[a-zA-Z]+:| {2,}(?:- )?\S).*)$/;
  return Deno.readTextFileSync(EXAMPLE).split("\n").slice(1)
    .filter((line) => !line.includes("workloadSelector"))
    .map((line) => line.replace(isKey, "$1$2")).join("\n");
}

const ENVIRONMENT: Readonly<Record<string, string>> = { SITE: "fra", PROXY_PASSWORD: "secret" };

Deno.test("example: what is commented out is right too, and shows the defaults", () => {
  using folder = new TempFolder();
  const config = folder.write("c.yaml", uncommented());
  const all = loadOnce(config, { ...options, environment: (name) => ENVIRONMENT[name] });
  assertEquals(all.findings.map(formatFinding), []);
  const plain = loadOnce(EXAMPLE.pathname, options);
  const { sinks, instance, listen, receive, peers, pull, ...settings } = all.settings!;
  assertEquals(instance, "edge-1");
  assertEquals(pull.map(({ url }) => url), ["xds://tier-b.example:15012"]);
  assertEquals([listen.slice(0, 1), listen.length], [plain.settings!.listen, 2]);
  assertEquals(listen[1]!.insecure, listen[0]!.insecure);
  const [short, long] = sinks;
  assertEquals(sinks.map(({ name }) => name), ["mesh-a.example:9901", "mesh-b"]);
  assertEquals(long!.headers, { "x-site": "${SITE}" });
  for (const key of ["heartbeat", "collections", "wave"] as const) {
    assertEquals(long![key], short![key], key);
  }
  const least = normalise(`receive: "${receive!.address}"`).receive!;
  for (const key of ["insecure", "merge", "collections"] as const) {
    assertEquals(receive![key], least[key], key);
  }
  assertEquals(peers.map(({ wave }) => wave), [1]);
  const { sinks: _s, instance: _i, listen: _l, peers: _p, pull: _u, ...defaults } = plain.settings!;
  assertEquals(settings, defaults);
  const directed = all.services.map(({ service }) => {
    const { subsets, split, failover, minHealthy, ...rest } = service;
    return { directing: { subsets, split, failover, minHealthy }, rest };
  });
  assertEquals(directed.map(({ rest }) => rest), plain.services.map((s) => s.service));
  assertEquals(directed[1]!.directing, {
    subsets: { blue: { app: "billing" } },
    split: { blue: 100 },
    failover: ["eu/fra", "eu"],
    minHealthy: 0,
  });
});

Deno.test("example: every key of the schema is in it", () => {
  const text = Deno.readTextFileSync(EXAMPLE);
  const keys = [...new Set(keysOf(configJsonSchema()))];
  const missing = keys.filter((key) => !new RegExp(`[\\s{]${key}:`).test(text));
  assertEquals(missing, []);
});

function keysOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === "properties"
      ? [...Object.keys(value as object), ...Object.values(value as object).flatMap(keysOf)]
      : keysOf(value)
  );
}

Deno.test("docs: every key of the schema is in docs/config.md", () => {
  const text = Deno.readTextFileSync(new URL("docs/config.md", ROOT));
  const isThere = (key: string) => new RegExp(`[\`.\\]]${key}[\`.[]`).test(text);
  assertEquals([...new Set(keysOf(configJsonSchema()))].filter((key) => !isThere(key)), []);
});
