/**
 * Services as people write them, and what Envoys get of them. A case is a folder of
 * tests/testdata/views/envoy with `in.yaml`; `out.yaml` holds the messages by name, with what is said
 * of them. UPDATE_GOLDEN=1 writes it anew.
 */
import { assert, assertEquals } from "@std/assert";
import { dump } from "js-yaml";
import type { JsonObject } from "../../../lib/wire/proto_json.ts";
import { caseFolder, readCases, resourcesOf } from "./envoy_world.ts";

const UPDATE = Deno.env.get("UPDATE_GOLDEN") === "1";

const cases = readCases();

Deno.test("envoy view: there are golden cases", () =>
  assert(cases.length >= 15, `${cases.length}`));

for (const { name, view } of cases) {
  Deno.test(`envoy view: golden case ${name}`, () => {
    const resources = Object.entries(resourcesOf(view))
      .filter(([, of]) => Object.keys(of).length > 0);
    const shown = { ...Object.fromEntries(resources), findings: view.findings };
    const text = dump(JSON.parse(JSON.stringify(shown, shorten)), { lineWidth: 100, noRefs: true });
    const out = new URL("out.yaml", caseFolder(name));
    if (UPDATE) Deno.writeTextFileSync(out, text);
    else assertEquals(text, Deno.readTextFileSync(out));
  });
}

/** What is the same in every case is said in short. */
function shorten(key: string, value: unknown): unknown {
  if (key === "circuitBreakers" || key === "retryPolicy") return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { "@type": type, ...message } = value as JsonObject;
  if (type === undefined) return value;
  const name = String(type).replace(/^.*\./, "");
  return Object.keys(message).length === 0 ? name : { "@type": name, ...message };
}

Deno.test("envoy view: every cluster lets through what it is asked, every virtual host tries again", () => {
  const clusters = cases.flatMap(({ view }) => Object.values(resourcesOf(view)["CDS"]!));
  const unbounded = 2 ** 32 - 1;
  for (const { circuitBreakers } of clusters) {
    assertEquals(circuitBreakers, {
      thresholds: [{
        maxConnections: unbounded,
        maxPendingRequests: unbounded,
        maxRequests: unbounded,
        maxRetries: unbounded,
      }],
    });
  }
  const hosts = cases.flatMap(({ view }) => Object.values(resourcesOf(view)["RDS"]!))
    .flatMap(({ virtualHosts }) => virtualHosts as unknown as JsonObject[]);
  for (const { retryPolicy } of hosts) {
    const { retryOn } = retryPolicy as JsonObject;
    assertEquals(retryOn, "connect-failure,refused-stream,reset-before-request");
  }
  assert(clusters.length > 20 && hosts.length > 10);
});
