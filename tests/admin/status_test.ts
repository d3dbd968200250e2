import { assert, assertEquals } from "@std/assert";
import { eventsJsonSchema, statusJsonSchema } from "../../scripts/status_schema.ts";
import { buildStatus, statusSchema } from "../../lib/admin/status.ts";
import { status, statusSources } from "./statuses.ts";

Deno.test("status: what is built is what the schema says, no more and no less", () => {
  assertEquals(statusSchema.strict().parse(status()), status());
  const bare = buildStatus({
    ...statusSources(),
    snapshot: undefined,
    reload: undefined,
    findings: [],
    peers: [],
    sinks: [],
    sources: [],
    certificates: [],
    events: [],
  });
  assertEquals(statusSchema.parse(bare), bare);
  assertEquals(bare.snapshot, undefined);
});

Deno.test("status: ages and places are what a reader can use", () => {
  const { peers, findings, sinks, reload, held } = status();
  assertEquals(peers[0]!.oldestUnackedMs, 70);
  assertEquals(findings[0], {
    severity: "error",
    rule: "pinnace/x",
    message: "wrong",
    file: "a.yaml",
    line: 3,
    column: 5,
  });
  assertEquals(sinks[0]!.links.map((link) => link.state), ["up", "waiting"]);
  assertEquals([reload!.errors, reload!.warnings, held!.removes], [1, 0, 20]);
});

Deno.test("status: what a peer says of itself cannot swell it", () => {
  const long = "n".repeat(1_000_000);
  const [peer] = statusSources().peers;
  const subscriptions = () => [{ type: long, pending: false, acks: 0, nacks: 0, parked: 0 }];
  const peers = [{ ...peer!, peer: { id: long, userAgent: long }, subscriptions }];
  const shown = buildStatus({ ...statusSources(), peers });
  assert(JSON.stringify(shown).length < 5000);
  assertEquals(shown.peers[0]!.node, `${"n".repeat(256)}…`);
  assertEquals(status().peers[0]!.node, "istiod-1");
});

Deno.test("status: docs/api/status.schema.json is that of the schema (else run deno task schema)", async () => {
  assertEquals(await Deno.readTextFile("docs/api/status.schema.json"), statusJsonSchema());
});

Deno.test("status: docs/api/events.schema.json is that of the schema (else run deno task schema)", async () => {
  assertEquals(await Deno.readTextFile("docs/api/events.schema.json"), eventsJsonSchema());
});

Deno.test("status: a source says where it stands, and what it was told", () => {
  const [edge, hub] = status().sources;
  assertEquals(edge!.resources, { ServiceEntry: 3 });
  assertEquals(edge!.refused?.message, "shop/a: no host");
  assertEquals([hub!.state, hub!.lastError, hub!.lastPushAt], [
    "waiting",
    "connection refused",
    undefined,
  ]);
});

Deno.test("status: of the history only the newest events are shown", () => {
  const [event] = statusSources().events;
  const events = Array.from({ length: 200 }, (_, i) => ({ ...event!, seq: 200 - i }));
  const shown = buildStatus({ ...statusSources(), events }).events;
  assertEquals(shown.map(({ seq }) => seq), [200, 199, 198, 197, 196]);
});
