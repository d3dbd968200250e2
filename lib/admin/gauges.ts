/**
 * What is read at each scrape, as opposed to counted as it happens.
 *
 * @module
 */
import type { Finding } from "../model/finding.ts";
import type { PublisherStatus } from "../rollout/publishing.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Meters, Reading } from "./meters.ts";
import type { StatusCertificate, StatusSource } from "./status.ts";
import { labelOf } from "./tallies.ts";

/** A stream, as far as metrics look at it. */
export interface MeteredStream {
  readonly protocol: string;
  /** When the oldest push without ACK was written. Milliseconds since the epoch. */
  readonly oldestUnacked: number | undefined;
}

/** A dial-out, as far as metrics look at it. */
export interface MeteredSink {
  readonly name: string;
  /** Why the name does not resolve, while it does not. */
  readonly unresolved?: string;
  readonly links: readonly { readonly state: { readonly kind: string } }[];
}

/** A source of resources, as far as metrics look at it. */
export type MeteredSource = Pick<StatusSource, "name" | "state" | "resources" | "held">;

/** How the last load went. Times in milliseconds. */
export interface MeteredReload {
  readonly at: number;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
}

/** What is read at each scrape. */
export interface MetricSources {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly snapshot: () => Snapshot | undefined;
  readonly publisher: () => PublisherStatus;
  readonly reload: () => MeteredReload | undefined;
  readonly streams: () => readonly MeteredStream[];
  readonly sinks: () => readonly MeteredSink[];
  readonly connections: () => number;
  readonly sources: () => readonly MeteredSource[];
  readonly certificates: () => readonly Pick<StatusCertificate, "use" | "subject" | "notAfter">[];
  /** How late the event loop is. Seconds. */
  readonly loopDelay: () => number;
}

/** The wire protocols; those without a stream show 0. */
export const PROTOCOL_NAMES = [
  "ads",
  "ads-delta",
  "mcp-source",
  "mcp-sink",
  "mesh-config",
  "mesh-config-incremental",
];

/** States of a dial-out; those that no link is in show 0. */
const LINK_STATES = ["dialling", "up", "waiting"];

/** States of a source; those that none is in show 0. */
const SOURCE_STATES = ["connected", "stale", "waiting"];

/** Adds every gauge. */
export function addGauges(meters: Meters, sources: MetricSources): void {
  addProcess(meters, sources);
  addPeers(meters, sources);
  addSources(meters, sources);
  addSnapshot(meters, sources);
  addConfig(meters, sources);
}

function addProcess(meters: Meters, { version, startedAt, loopDelay }: MetricSources): void {
  const build = { version, runtime: `deno ${Deno.version.deno}` };
  meters.gauge("pinnace_build_info", "Always 1; the version is a label.", () => [
    { value: 1, labels: build },
  ]);
  meters.gauge(
    "process_start_time_seconds",
    "When the process started.",
    () => only(seconds(startedAt)),
  );
  meters.gauge(
    "process_resident_memory_bytes",
    "Memory of the process.",
    () => only(Deno.memoryUsage().rss),
  );
  meters.gauge(
    "pinnace_event_loop_delay_seconds",
    "How late the event loop was at worst in the last minute.",
    () => only(loopDelay()),
  );
}

function addPeers(meters: Meters, { streams, sinks, connections, now }: MetricSources): void {
  meters.gauge("pinnace_connections", "Connections of peers that dialled.", () => [
    { value: connections() },
  ]);
  meters.gauge(
    "pinnace_streams",
    "Live streams, by protocol.",
    () => countBy(streams().map(({ protocol }) => protocol), "protocol", PROTOCOL_NAMES),
  );
  meters.gauge(
    "pinnace_unacked_age_seconds",
    "Age of the oldest push that its peer has not answered; 0 if none.",
    () => {
      let oldest = Infinity;
      for (const { oldestUnacked } of streams()) oldest = Math.min(oldest, oldestUnacked ?? oldest);
      return [{ value: oldest === Infinity ? 0 : Math.max(0, now() - oldest) / 1000 }];
    },
  );
  meters.gauge(
    "pinnace_sink_links",
    "Dial-outs by sink and state.",
    () =>
      sinks().flatMap(({ name, links }) => {
        const states = links.map(({ state }) => state.kind);
        return countBy(states, "state", LINK_STATES)
          .map(({ value, labels }) => ({ value, labels: { sink: name, ...labels } }));
      }),
  );
  meters.gauge(
    "pinnace_sink_unresolved",
    "Whether the name of a sink does not resolve.",
    () =>
      sinks().map(({ name, unresolved }) => ({
        value: Number(unresolved !== undefined),
        labels: { sink: name },
      })),
  );
}

function addSources(meters: Meters, { sources, certificates }: MetricSources): void {
  const each = (value: (one: MeteredSource) => number) => () =>
    sources().map((one) => ({ value: value(one), labels: { source: labelOf(one.name) } }));
  meters.gauge(
    "pinnace_sources",
    "Sources of resources, by state.",
    () => countBy(sources().map(({ state }) => state), "state", SOURCE_STATES),
  );
  meters.gauge(
    "pinnace_source_connected",
    "Whether a source is connected.",
    each(({ state }) => Number(state === "connected")),
  );
  meters.gauge(
    "pinnace_source_resources",
    "Resources that a source gives.",
    each(({ resources }) => Object.values(resources).reduce((sum, count) => sum + count, 0)),
  );
  meters.gauge(
    "pinnace_source_held",
    "Whether what a source gave waits to be confirmed.",
    each(({ held }) => Number(held !== undefined)),
  );
  meters.gauge(
    "pinnace_certificate_not_after_seconds",
    "When a certificate of ours ends.",
    () =>
      certificates().flatMap(({ use, subject = "", notAfter }) =>
        notAfter === undefined ? [] : [{ value: notAfter / 1000, labels: { use, subject } }]
      ),
  );
}

function addSnapshot(meters: Meters, { snapshot, publisher }: MetricSources): void {
  const byKind = (measure: "size" | "byteLength") => () =>
    [...snapshot()?.collections ?? []].map(([kind, collection]) => ({
      value: collection[measure],
      labels: { kind },
    }));
  meters.gauge("pinnace_resources", "Resources published, by kind.", byKind("size"));
  meters.gauge(
    "pinnace_largest_response_bytes",
    "Size of a full response, by kind.",
    byKind("byteLength"),
  );
  meters.gauge("pinnace_services", "Services published.", () => only(snapshot()?.services.size));
  meters.gauge(
    "pinnace_snapshot_published_time_seconds",
    "When the snapshot served was published.",
    () => only(seconds(publisher().published?.publishedAt)),
  );
  meters.gauge(
    "pinnace_snapshot_saved",
    "Whether the snapshot served is in the store.",
    () => only(flag(publisher().published?.saved)),
  );
  meters.gauge(
    "pinnace_snapshot_held",
    "Whether a snapshot waits to be confirmed.",
    () => only(flag(publisher().held !== undefined)),
  );
}

function addConfig(meters: Meters, { reload }: MetricSources): void {
  meters.gauge(
    "pinnace_config_reload_success",
    "Whether the last load was free of errors.",
    () => only(flag(reload()?.ok)),
  );
  meters.gauge(
    "pinnace_config_reload_time_seconds",
    "When the configuration was last loaded.",
    () => only(seconds(reload()?.at)),
  );
  meters.gauge(
    "pinnace_config_reload_duration_seconds",
    "How long the last load took.",
    () => only(seconds(reload()?.durationMs)),
  );
  meters.gauge("pinnace_findings", "Findings of the last load, by severity.", () => {
    const findings = reload()?.findings;
    if (findings === undefined) return [];
    return countBy(findings.map(({ severity }) => severity), "severity", ["error", "warning"]);
  });
}

function only(value: number | undefined): Reading[] {
  return value === undefined ? [] : [{ value }];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** How often each value occurs, 0 for those of `known` that do not. */
function countBy(values: readonly string[], label: string, known: readonly string[]): Reading[] {
  const counts = new Map(known.map((value) => [value, 0]));
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([key, value]) => ({ value, labels: { [label]: key } }));
}
