import { assert } from "@std/assert";
import { Metrics } from "../../lib/admin/metrics.ts";
import {
  meterPublisher,
  meterPulls,
  meterReceiver,
  meterSessions,
  meterSources,
} from "../../lib/cli/metering.ts";
import type { ReceivedStreamInfo } from "../../lib/transport/receiver_observer.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";
import { ack, nack, peer, push } from "./session_events.ts";

const STREAM: ReceivedStreamInfo = {
  key: 1,
  source: "edge",
  namedBy: "instance",
  address: "192.0.2.1:1",
  instance: "edge",
  openedAt: 0,
  bytesReceived: 0,
  collections: () => [],
};

const HEAD = { type: "t", nonce: "1", version: "v", incremental: false };

/** Metrics of which nothing is read but what was counted. */
function counted(): Metrics {
  return new Metrics({
    version: "0",
    startedAt: 0,
    now: () => 0,
    snapshot: () => undefined,
    publisher: () => ({
      save: {},
      store: { place: "", durable: true, findings: [] },
      alerts: [],
    }),
    reload: () => undefined,
    streams: () => [],
    sinks: () => [],
    sources: () => [],
    certificates: () => [],
    connections: () => 0,
    loopDelay: () => 0,
  });
}

async function has(metrics: Metrics, samples: readonly string[]): Promise<void> {
  const lines = (await metrics.render()).split("\n");
  for (const line of samples) {
    assert(lines.includes(line), `${line} is not among\n${lines.join("\n")}`);
  }
}

Deno.test("metering: what sources give is counted once, whoever else hears of it", async () => {
  await using metrics = counted();
  const [sources, receiver, pulls] = [
    meterSources(metrics),
    meterReceiver(metrics),
    meterPulls(metrics),
  ];
  const refused = { kind: "refused", head: HEAD, findings: [], message: "no" } as const;
  receiver.opened(STREAM);
  receiver.push(STREAM, refused, 100);
  sources({ kind: "refused", name: "edge", type: "t", message: "no" });
  receiver.nacked(STREAM, HEAD, { code: 3, message: "no", details: [] });
  sources({
    kind: "pushed",
    name: "edge",
    type: "t",
    version: "v",
    resources: 1,
    removed: 0,
    held: false,
  });
  receiver.acked(STREAM, HEAD);
  sources({ kind: "saveFailed", name: "edge", error: new Error("full") });
  receiver.denied("192.0.2.9:1", "unknown");
  pulls.down("xds://hub:1", "192.0.2.1:1", "ended", 1000);
  await has(metrics, [
    'pinnace_source_pushes_total{source="edge"} 2',
    'pinnace_source_refusals_total{source="edge"} 1',
    'pinnace_source_save_failures_total{source="edge"} 1',
    'pinnace_source_bytes_total{source="edge"} 100',
    "pinnace_sources_denied_total 1",
    'pinnace_source_failures_total{source="xds://hub:1"} 1',
  ]);
});

Deno.test("metering: a publication counts once under each sort of cause", async () => {
  await using metrics = counted();
  const publication = {
    snapshot: snapshotOf({}),
    changedAt: 0,
    causes: [
      { kind: "file", name: "a", what: "added" },
      { kind: "file", name: "b", what: "added" },
      { kind: "source", name: "edge" },
    ],
  } as const;
  meterPublisher(metrics)({ kind: "published", publication, save: "saved" });
  await has(metrics, [
    "pinnace_snapshots_published_total 1",
    'pinnace_publish_causes_total{cause="file"} 1',
    'pinnace_publish_causes_total{cause="source"} 1',
    'pinnace_publish_causes_total{cause="start"} 0',
  ]);
});

Deno.test("metering: sessions count pushes, answers, what was paced and what was overdue", async () => {
  await using metrics = counted();
  const sessions = meterSessions(metrics);
  sessions.opened(peer(1));
  sessions.sent(peer(1), push("t"), { bytes: 10, change: true });
  sessions.event(peer(1), ack("t"), 5);
  sessions.event(peer(1), nack("t"));
  sessions.paced(peer(1));
  sessions.overdue(peer(1), "clusters");
  sessions.closed(peer(1));
  await has(metrics, [
    'pinnace_streams_opened_total{protocol="ads"} 1',
    'pinnace_sent_bytes_total{protocol="ads",type="t"} 10',
    'pinnace_acks_total{protocol="ads",type="t"} 1',
    'pinnace_nacks_total{protocol="ads",type="t"} 1',
    "pinnace_streams_paced_total 1",
    "pinnace_transitions_overdue_total 1",
  ]);
});
