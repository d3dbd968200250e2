/** Statuses to test with. */
import { buildStatus, type Status, type StatusSources } from "../../lib/admin/status.ts";
import type { Snapshot } from "../../lib/snapshot/snapshot.ts";
import { EventLog } from "../../lib/admin/events.ts";
import { snapshotOf } from "../snapshot/snapshots.ts";

const NOW = Date.UTC(2026, 0, 2);

/** What a status is made of: a snapshot of one entry, a peer, a sink in each state. */
export function statusSources(): StatusSources {
  const snapshot = snapshotOf({ "shop/a": "x" });
  return {
    instance: "edge-1",
    version: "0.1.0",
    startedAt: NOW - 60_000,
    now: NOW,
    listen: [
      { address: "127.0.0.1:15010", use: "peers", tls: false, alive: true },
      { address: "[::]:15012", use: "peers", tls: true, alive: true },
      { address: "[::]:9901", use: "sources", tls: true, alive: true },
    ],
    snapshot,
    publisher: {
      published: {
        id: snapshot.id,
        changedAt: NOW - 50_000,
        publishedAt: NOW - 49_000,
        resources: 1,
        saved: true,
      },
      held: {
        id: "held",
        verdict: { pass: false, removed: 20, of: 30, limit: 0.5 },
        since: NOW - 10,
        message: "it would remove too much",
      },
      save: {},
      store: { place: "/var/lib/pinnace", durable: true, findings: [] },
      alerts: [{ kind: "held", since: NOW - 10, message: "it would remove too much" }],
    },
    reload: { at: NOW - 10, ok: false, durationMs: 12 },
    findings: [{
      severity: "error",
      rule: "pinnace/x",
      message: "wrong",
      position: { file: "a.yaml", line: 3, column: 5 },
      path: ["services", 0],
    }],
    peers: [{
      key: 1,
      protocol: "ads",
      address: "192.0.2.1:1",
      peer: { id: "istiod-1", userAgent: "envoy" },
      sink: undefined,
      identity: "spiffe://example.org/ns/istio-system/sa/istiod",
      listener: "0.0.0.0:15012",
      kind: "istio",
      rule: 1,
      wave: 2,
      openedAt: NOW - 100,
      bytesSent: 10,
      oldestUnacked: NOW - 70,
      subscriptions:
        () => [{ type: "t", pending: true, acks: 0, nacks: 1, parked: 1, lastNack: "no" }],
    }],
    sinks: [{
      name: "mesh-a",
      address: "mesh-a.example:9901",
      unresolved: "no such host",
      links: [
        { address: "192.0.2.1:9901", state: { kind: "up", since: NOW - 5 }, attempts: 0 },
        {
          address: "192.0.2.2:9901",
          state: { kind: "waiting", retryAt: NOW + 5 },
          attempts: 3,
          lastError: "refused",
        },
      ],
    }],
    sources: [{
      name: "spiffe://example.org/edge/fra",
      via: "receive",
      address: "192.0.2.9:40000",
      instance: "edge-fra",
      state: "connected",
      since: NOW - 5000,
      resources: { ServiceEntry: 3 },
      lastPushAt: NOW - 4000,
      refused: { at: NOW - 4000, message: "shop/a: no host" },
      held: { id: "h1", message: "it would remove too much" },
      streams: [{ address: "192.0.2.9:40000", openedAt: NOW - 5000, pushes: 4, nacks: 1 }],
    }, {
      name: "xds://hub.example:15010",
      via: "pull",
      address: "hub.example:15010",
      state: "waiting",
      since: NOW - 9000,
      resources: {},
      lastError: "connection refused",
      streams: [],
    }],
    certificates: [
      { use: "listen", subject: "CN=edge", notAfter: NOW + 86_400_000, problem: "no such file" },
      { use: "sink mesh-a", subject: "spiffe://example.org/edge", notAfter: NOW + 90 * 86_400_000 },
      { use: "pull xds://hub.example:15010", problem: "/tls/hub does not exist" },
    ],
    events: eventsOf(snapshot),
  };
}

function eventsOf(snapshot: Snapshot) {
  const events = new EventLog({ now: () => NOW - 49_000 });
  const causes = [{ kind: "file", name: "services.yaml", what: "changed" }] as const;
  events.published({ snapshot, changedAt: NOW - 50_000, causes });
  events.sent([1]);
  events.answered([1], "ack");
  return events.list();
}

/** A status with something of everything. */
export function status(): Status {
  return buildStatus(statusSources());
}
