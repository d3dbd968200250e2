import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Metrics, type MetricSources } from "../../lib/admin/metrics.ts";
import { statusSources } from "./statuses.ts";

const EDGE = "spiffe://example.org/edge/fra";

function sources(changed: Partial<MetricSources> = {}): MetricSources {
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
    sources: () => statusSources().sources,
    certificates: () => statusSources().certificates,
    connections: () => 2,
    loopDelay: () => 0.25,
    ...changed,
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
  metrics.paced();
  metrics.overdue();
  metrics.sourcePushed(EDGE);
  metrics.sourceReceived(EDGE, 500);
  metrics.sourceRefused(EDGE);
  metrics.sourceSaveFailed(EDGE);
  metrics.sourceDenied();
  metrics.pullFailed("xds://hub.example:15010");
  metrics.reloaded(true);
  metrics.published(["file", "file", "source"]);
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
      `pinnace_sink_links{sink="mesh-a",state="up"} 1`,
      `pinnace_sink_links{sink="mesh-a",state="waiting"} 0`,
      `pinnace_sink_unresolved{sink="mesh-a"} 0`,
      `pinnace_sink_failures_total{sink="mesh-a"} 1`,
      `pinnace_sources{state="connected"} 1`,
      `pinnace_sources{state="stale"} 0`,
      `pinnace_source_connected{source="xds://hub.example:15010"} 0`,
      `pinnace_source_resources{source="${EDGE}"} 3`,
      `pinnace_source_held{source="${EDGE}"} 1`,
      `pinnace_source_pushes_total{source="${EDGE}"} 1`,
      `pinnace_source_pushes_total{source="xds://hub.example:15010"} 0`,
      `pinnace_source_bytes_total{source="${EDGE}"} 500`,
      `pinnace_source_refusals_total{source="${EDGE}"} 1`,
      `pinnace_source_failures_total{source="xds://hub.example:15010"} 1`,
      `pinnace_source_save_failures_total{source="${EDGE}"} 1`,
      `pinnace_sources_denied_total 1`,
      `pinnace_certificate_not_after_seconds{use="listen",subject="CN=edge"} 1767398400`,
      `pinnace_publish_causes_total{cause="file"} 1`,
      `pinnace_publish_causes_total{cause="settings"} 0`,
      `pinnace_streams_paced_total 1`,
      `pinnace_transitions_overdue_total 1`,
      `pinnace_connections 2`,
      `pinnace_connections_refused_total{reason="deadline"} 1`,
      `pinnace_violations_total{reason="reset_flood"} 1`,
      `pinnace_streams_opened_total{protocol="ads"} 1`,
      `pinnace_streams_cut_total 1`,
      `pinnace_event_loop_delay_seconds 0.25`,
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

Deno.test("metrics: a certificate that could not be read has no end, and is none of them", async () => {
  await using metrics = new Metrics(sources());
  const ends = (await metrics.render()).split("\n")
    .filter((line) => line.startsWith("pinnace_certificate_not_after_seconds{"));
  const uses = ends.map((line) => /use="([^"]*)"/.exec(line)![1]);
  assertEquals(uses, ["listen", "sink mesh-a"]);
  assertEquals(sources().certificates().length, 3);
});

Deno.test("metrics: a scrape asks once for the sources, and each scrape anew", async () => {
  let asked = 0;
  await using metrics = new Metrics(sources({
    sources: () => statusSources().sources.slice(0, ++asked),
  }));
  const count = (text: string) => text.match(/^pinnace_source_connected\{/gm)?.length;
  assertEquals([count(await metrics.render()), asked], [1, 1]);
  assertEquals([count(await metrics.render()), asked], [2, 2]);
});

Deno.test("metrics: what peers choose cannot make them grow without bound", async () => {
  await using metrics = new Metrics(sources());
  for (let i = 0; i < 2000; i++) {
    metrics.nacked("ads", `x.istio.io/v1/Kind${i}`, `node-${i}`);
  }
  metrics.nacked("ads", "t".repeat(1_000_000), "n".repeat(1_000_000));
  const text = await metrics.render();
  const samples = text.split("\n").filter((line) => /^pinnace_(node_)?nacks_total/.test(line));
  assert(samples.length < 400, String(samples.length));
  assert(text.length < 200_000, String(text.length));
  assertStringIncludes(text, `pinnace_node_nacks_total{node="other"} 1801`);
  assertStringIncludes(text, `pinnace_nacks_total{protocol="ads",type="other"} 1901`);
});

Deno.test("metrics: types made up by a peer do not crowd out those of kinds", async () => {
  await using metrics = new Metrics(sources());
  for (let i = 0; i < 2000; i++) metrics.pushed("ads", `x.istio.io/v1/Kind${i}`, 1);
  metrics.pushed("ads", "networking.istio.io/v1/Sidecar", 7);
  const wanted = `pinnace_pushes_total{protocol="ads",type="networking.istio.io/v1/Sidecar"} 1`;
  assertStringIncludes(await metrics.render(), wanted);
});

Deno.test("metrics: a node id cannot forge a sample", async () => {
  await using metrics = new Metrics(sources());
  metrics.nacked("ads", "t", 'x"} 1\npinnace_fake_total 7 \\');
  metrics.nacked("ads", "t", "");
  const lines = (await metrics.render()).split("\n");
  assertEquals(lines.filter((line) => line.startsWith("pinnace_fake")), []);
  const nodes = lines.filter((line) => line.startsWith("pinnace_node_nacks_total"));
  assertEquals(nodes, [
    'pinnace_node_nacks_total{node="x\\"} 1\\npinnace_fake_total 7 \\\\"} 1',
    'pinnace_node_nacks_total{node="unknown"} 1',
  ]);
});

Deno.test("metrics: before anything happened, what may happen stands at 0", async () => {
  await using metrics = new Metrics(sources());
  const lines = (await metrics.render()).split("\n");
  for (
    const line of [
      `pinnace_nacks_total{protocol="mcp-sink",type="istio/networking/v1alpha3/serviceentries"} 0`,
      `pinnace_nacks_total{protocol="ads",type="networking.istio.io/v1/ServiceEntry"} 0`,
      `pinnace_nacks_total{protocol="mesh-config",type="type.googleapis.com/istio.networking.v1alpha3.ServiceEntry"} 0`,
      `pinnace_sink_failures_total{sink="mesh-a"} 0`,
      `pinnace_config_reloads_total{result="error"} 0`,
      `pinnace_store_writes_total{result="error"} 0`,
      `pinnace_streams{protocol="mcp-source"} 0`,
      `pinnace_streams_cut_total 0`,
    ]
  ) assert(lines.includes(line), `${line} is not among\n${lines.join("\n")}`);
});

Deno.test("metrics: before anything is published there are no figures of a snapshot", async () => {
  await using metrics = new Metrics(sources({
    snapshot: () => undefined,
    publisher: () => ({
      save: {},
      store: { place: "/var/lib/pinnace", durable: true, findings: [] },
      alerts: [],
    }),
    reload: () => undefined,
    streams: () => [],
    sinks: () => [],
  }));
  const text = await metrics.render();
  for (const name of ["resources", "snapshot_saved", "config_reload_success", "findings"]) {
    assert(!text.includes(`\npinnace_${name}`), name);
  }
  assertStringIncludes(text, "\npinnace_unacked_age_seconds 0\n");
});

Deno.test("metrics: a hundred thousand streams are no more than a small scrape", async () => {
  const stream = { protocol: "ads", oldestUnacked: undefined };
  const streams = Array.from({ length: 200_000 }, () => stream);
  await using metrics = new Metrics(sources({ streams: () => streams }));
  const text = await metrics.render();
  assertStringIncludes(text, `\npinnace_streams{protocol="ads"} 200000\n`);
  assertStringIncludes(text, "\npinnace_unacked_age_seconds 0\n");
});

Deno.test("metrics: thousands of sinks keep a sample each", async () => {
  const sinks = Array.from({ length: 3000 }, (_, i) => ({ name: `s${i}`, links: [] }));
  await using metrics = new Metrics(sources({ sinks: () => sinks }));
  const text = await metrics.render();
  assertEquals(text.match(/^pinnace_sink_links\{sink="s\d+",state="up"\} 0$/gm)?.length, 3000);
});

Deno.test("metrics: one that cannot be read is an error that names it, not a gap", async () => {
  const connections = () => {
    throw new Error("no server");
  };
  await using metrics = new Metrics(sources({ connections }));
  const error = await assertRejects(() => metrics.render(), AggregateError);
  assertEquals(error.message, "pinnace_connections cannot be read: no server");
});
