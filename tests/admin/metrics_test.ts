import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Metrics, type MetricSources } from "../../lib/admin/metrics.ts";
import { statusSources } from "./statuses.ts";

function sources(): MetricSources {
  const { snapshot, publisher, now } = statusSources();
  return {
    version: "0.1.0",
    startedAt: now,
    now: () => now,
    snapshot: () => snapshot,
    publisher: () => publisher,
    reload: () => ({ at: now, ok: false, durationMs: 12, findings: statusSources().findings }),
    streams: () => [
      { protocol: "ads", oldestUnacked: now - 2000 },
      { protocol: "ads", oldestUnacked: undefined },
    ],
    sinks: () => [{ name: "mesh-a", links: [{ state: { kind: "up" } }] }],
    connections: () => 2,
    loopDelay: () => 0.25,
  };
}

/** Everything happens once. */
function exercise(metrics: Metrics): void {
  metrics.opened("ads");
  metrics.pushed("ads", "t", 1000);
  metrics.acked("ads", "t", 42);
  metrics.nacked("ads", "t", "istiod-1");
  metrics.cut();
  metrics.refused("deadline");
  metrics.violated("reset_flood");
  metrics.dialFailed("mesh-a");
  metrics.reloaded(true);
  metrics.published();
  metrics.held();
  metrics.saved(7);
  metrics.saveFailed();
}

Deno.test("metrics: each is explained in docs/metrics.md, and nothing else is", async () => {
  await using metrics = new Metrics(sources());
  exercise(metrics);
  const text = await metrics.render();
  const named = [...text.matchAll(/^# HELP (\S+) /gm)].map(([, name]) => name!);
  const docs = await Deno.readTextFile("docs/metrics.md");
  const explained = [...docs.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name!);
  assertEquals(named.toSorted(), explained.toSorted());
});

Deno.test("metrics: values are in seconds and bytes, under their labels", async () => {
  await using metrics = new Metrics(sources());
  exercise(metrics);
  const lines = (await metrics.render()).split("\n");
  for (
    const line of [
      `pinnace_pushes_total{protocol="ads",type="t"} 1`,
      `pinnace_sent_bytes_total{protocol="ads",type="t"} 1000`,
      `pinnace_ack_latency_seconds_sum{protocol="ads",type="t"} 0.042`,
      `pinnace_ack_latency_seconds_bucket{protocol="ads",type="t",le="0.05"} 1`,
      `pinnace_node_nacks_total{node="istiod-1"} 1`,
      `pinnace_streams{protocol="ads"} 2`,
      `pinnace_unacked_age_seconds 2`,
      `pinnace_sink_links{state="up",sink="mesh-a"} 1`,
      `pinnace_config_reload_success 0`,
      `pinnace_findings{severity="error"} 1`,
      `pinnace_resources{kind="ServiceEntry"} 1`,
      `pinnace_largest_response_bytes{kind="ServiceEntry"} 1`,
      `pinnace_snapshot_held 1`,
      `pinnace_store_write_seconds_sum 0.007`,
      `pinnace_store_writes_total{result="error"} 1`,
    ]
  ) assert(lines.includes(line), `${line} is not among\n${lines.join("\n")}`);
});

Deno.test("metrics: what peers choose cannot make them grow without bound", async () => {
  await using metrics = new Metrics(sources());
  for (let i = 0; i < 2000; i++) {
    metrics.nacked("ads", `x.istio.io/v1/Kind${i}`, `node-${i}`);
  }
  const text = await metrics.render();
  const samples = text.split("\n").filter((line) => /^pinnace_(node_)?nacks_total/.test(line));
  assert(samples.length < 700, String(samples.length));
  assertStringIncludes(text, `pinnace_node_nacks_total{node="other"} 1800`);
});
