/**
 * The shape of `/api/v1/status`. The schema is the source; docs/api/status.schema.json is made of it.
 *
 * @module
 */
import { z } from "zod";
import { eventSchema } from "./event_schema.ts";

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
  protocol: z.enum([
    "ads",
    "ads-delta",
    "mcp-source",
    "mcp-sink",
    "mesh-config",
    "mesh-config-incremental",
  ]),
  address: z.string(),
  identity: z.string().optional().describe("SPIFFE URI or DNS name of its certificate"),
  listener: z.string().optional().describe("listen address that it dialled, as configured"),
  node: z.string().optional(),
  userAgent: z.string().optional(),
  sink: z.string().optional().describe("name of the sink, where Pinnace dialled"),
  kind: z.enum(["istio", "envoy", "grpc", "dubbo"]).describe("what it is served as"),
  rule: z.int().optional().describe("which of `peers` it matched, counted from 1; absent: none"),
  wave: z.int(),
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

const source = z.object({
  name: z.string().describe("identity, token, instance or address of who dialled; xds://… pulled"),
  via: z.enum(["receive", "pull"]).describe("it dials us, or we dial it"),
  address: z.string().optional(),
  instance: z.string().optional().describe("what it calls itself"),
  state: z.enum(["connected", "stale", "waiting"])
    .describe("stale: away, its last set stays; waiting: it has given nothing yet"),
  since: time.optional(),
  resources: z.record(z.string(), z.int()).describe("by kind"),
  lastPushAt: time.optional(),
  refused: z.object({ at: time, message: z.string() }).optional()
    .describe("the last push that was refused, until one is accepted"),
  held: z.object({ id: z.string(), message: z.string() }).optional()
    .describe("waits to be confirmed"),
  lastError: z.string().optional(),
  streams: z.array(z.object({
    address: z.string(),
    openedAt: time,
    pushes: z.int(),
    nacks: z.int(),
  })),
});

const certificate = z.object({
  use: z.string().describe("where: listen ADDRESS, receive ADDRESS, sink NAME, pull URL"),
  subject: z.string().optional().describe("absent: it could never be read; problem says why"),
  notAfter: time.optional(),
  problem: z.string().optional(),
});

/** The schema of the status. */
export const statusSchema = z.object({
  instance: z.string(),
  version: z.string(),
  startedAt: time,
  listen: z.array(z.object({
    address: z.string(),
    use: z.enum(["peers", "sources"]).describe("who is to dial it: sinks and clients, or sources"),
    tls: z.boolean(),
    alive: z.boolean().describe("it takes connections"),
    problem: z.string().optional().describe("why it is not open yet; it waits for its TLS files"),
  })),
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
  sources: z.array(source),
  certificates: z.array(certificate),
  events: z.array(eventSchema).describe("the newest 5; /api/v1/events has more"),
  store: z.object({ place: z.string(), durable: z.boolean() }),
});

/** The status of a running Pinnace. */
export type Status = z.infer<typeof statusSchema>;
