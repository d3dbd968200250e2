/**
 * `/api/v1/status`: everything that a person or a program may want to know of a running Pinnace. The
 * schema is the source; docs/api/status.schema.json is made of it.
 *
 * @module
 */
import { z } from "zod";
import type { Finding } from "../model/finding.ts";
import type { SubscriptionStatus } from "../protocol/stream.ts";
import type { PublisherStatus } from "../rollout/publishing.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** Longest text of a peer that is shown whole. UTF-16 code units. */
const BRIEF = 256;

const time = z.iso.datetime().describe("RFC 3339, UTC");

const finding = z.object({
  severity: z.enum(["error", "warning"]),
  rule: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  subject: z.string().optional().describe("namespace/name"),
  file: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
});

const subscription = z.object({
  type: z.string().describe("type URL or collection"),
  names: z.int().optional().describe("names asked for; absent: all"),
  sentVersion: z.string().optional(),
  ackedVersion: z.string().optional(),
  pending: z.boolean().describe("a response waits for its ACK"),
  acks: z.int(),
  nacks: z.int(),
  lastNack: z.string().optional(),
  parked: z.int().describe("resources held back since the peer refused them"),
});

const peer = z.object({
  key: z.int(),
  protocol: z.enum(["ads", "ads-delta", "mcp-source", "mcp-sink"]),
  address: z.string(),
  node: z.string().optional(),
  userAgent: z.string().optional(),
  sink: z.string().optional().describe("name of the sink, where Pinnace dialled"),
  openedAt: time,
  bytesSent: z.int(),
  oldestUnackedMs: z.number().optional(),
  subscriptions: z.array(subscription),
});

const link = z.object({
  address: z.string(),
  state: z.enum(["dialling", "up", "waiting"]),
  since: time.optional(),
  retryAt: time.optional(),
  attempts: z.int().describe("since it was last up"),
  lastError: z.string().optional(),
});

/** The schema of the status. */
export const statusSchema = z.object({
  instance: z.string(),
  version: z.string(),
  startedAt: time,
  listen: z.array(z.string()),
  snapshot: z.object({
    id: z.string(),
    publishedAt: time,
    saved: z.boolean(),
    services: z.int(),
    resources: z.record(z.string(), z.int()).describe("by kind"),
  }).optional(),
  held: z.object({
    id: z.string(),
    since: time,
    removes: z.int(),
    of: z.int(),
    message: z.string(),
  }).optional().describe("waits for pinnace snapshots confirm"),
  alerts: z.array(z.object({ kind: z.string(), since: time, message: z.string() })),
  reload: z.object({
    at: time,
    ok: z.boolean(),
    durationMs: z.number(),
    errors: z.int(),
    warnings: z.int(),
  }).optional(),
  findings: z.array(finding),
  peers: z.array(peer),
  sinks: z.array(z.object({
    name: z.string(),
    address: z.string(),
    unresolved: z.string().optional(),
    links: z.array(link),
  })),
  store: z.object({ place: z.string(), durable: z.boolean() }),
});

/** The status of a running Pinnace. */
export type Status = z.infer<typeof statusSchema>;

/** A stream, as far as the status looks at it. */
export interface StatusPeer {
  readonly key: number;
  readonly protocol: Status["peers"][number]["protocol"];
  readonly address: string;
  readonly peer: { readonly id: string; readonly userAgent?: string } | undefined;
  readonly sink: string | undefined;
  readonly openedAt: number;
  readonly bytesSent: number;
  readonly oldestUnacked: number | undefined;
  subscriptions(): readonly SubscriptionStatus[];
}

/** A dial-out, as far as the status looks at it. */
export interface StatusSink {
  readonly name: string;
  readonly address: string;
  readonly unresolved?: string;
  readonly links: readonly {
    readonly address: string;
    readonly state:
      | { readonly kind: "dialling" | "up"; readonly since: number }
      | { readonly kind: "waiting"; readonly retryAt: number };
    readonly attempts: number;
    readonly lastError?: string;
  }[];
}

/** What the status is made of. Times in milliseconds since the epoch. */
export interface StatusSources {
  readonly instance: string;
  readonly version: string;
  readonly startedAt: number;
  readonly now: number;
  readonly listen: readonly string[];
  readonly snapshot: Snapshot | undefined;
  readonly publisher: PublisherStatus;
  readonly reload:
    | { readonly at: number; readonly ok: boolean; readonly durationMs: number }
    | undefined;
  readonly findings: readonly Finding[];
  readonly peers: readonly StatusPeer[];
  readonly sinks: readonly StatusSink[];
}

/** Puts the status together. */
export function buildStatus(sources: StatusSources): Status {
  const { instance, version, listen, snapshot, publisher, reload, findings, now } = sources;
  const { published, held, alerts, store } = publisher;
  const count = (severity: Finding["severity"]) =>
    findings.filter((one) => one.severity === severity).length;
  return {
    instance,
    version,
    startedAt: iso(sources.startedAt),
    listen: [...listen],
    ...(snapshot && published && {
      snapshot: {
        id: snapshot.id,
        publishedAt: iso(published.publishedAt),
        saved: published.saved,
        services: snapshot.services.size,
        resources: Object.fromEntries([...snapshot.collections].map(([kind, c]) => [kind, c.size])),
      },
    }),
    ...(held && {
      held: {
        id: held.id,
        since: iso(held.since),
        removes: held.verdict.removed,
        of: held.verdict.of,
        message: held.message,
      },
    }),
    alerts: alerts.map(({ kind, since, message }) => ({ kind, since: iso(since), message })),
    ...(reload && {
      reload: {
        at: iso(reload.at),
        ok: reload.ok,
        durationMs: reload.durationMs,
        errors: count("error"),
        warnings: count("warning"),
      },
    }),
    findings: findings.map(describeFinding),
    peers: sources.peers.map((one) => describePeer(one, now)),
    sinks: sources.sinks.map(describeSink),
    store: { place: store.place, durable: store.durable },
  };
}

function describeFinding({ position, path: _, ...rest }: Finding): Status["findings"][number] {
  return { ...rest, ...position };
}

function describePeer(one: StatusPeer, now: number): Status["peers"][number] {
  const { key, protocol, address, peer, sink, openedAt, bytesSent, oldestUnacked } = one;
  return {
    key,
    protocol,
    address,
    ...(peer && { node: brief(peer.id) }),
    ...(peer?.userAgent === undefined ? {} : { userAgent: brief(peer.userAgent) }),
    ...(sink === undefined ? {} : { sink }),
    openedAt: iso(openedAt),
    bytesSent,
    ...(oldestUnacked === undefined ? {} : { oldestUnackedMs: now - oldestUnacked }),
    subscriptions: one.subscriptions().map((each) => ({ ...each, type: brief(each.type) })),
  };
}

function describeSink({ name, address, unresolved, links }: StatusSink): Status["sinks"][number] {
  return {
    name,
    address,
    ...(unresolved === undefined ? {} : { unresolved }),
    links: links.map(({ address, state, attempts, lastError }) => ({
      address,
      state: state.kind,
      ...(state.kind === "waiting" ? { retryAt: iso(state.retryAt) } : { since: iso(state.since) }),
      attempts,
      ...(lastError === undefined ? {} : { lastError }),
    })),
  };
}

/** What a peer says of itself may be as long as a message; thousands of those are no status. */
function brief(text: string): string {
  return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
