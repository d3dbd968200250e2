/**
 * Everything that Pinnace counts. docs/metrics.md explains each; a test holds the two together.
 *
 * @module
 */
import type { Attributes, Counter } from "@opentelemetry/api";
import type { Finding } from "../model/finding.ts";
import type { PublisherStatus } from "../rollout/publishing.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { type Labels, Meters, type Reading } from "./meters.ts";

/** A stream, as far as metrics look at it. */
export interface MeteredStream {
  readonly protocol: string;
  /** When the oldest push without ACK was written. Milliseconds since the epoch. */
  readonly oldestUnacked: number | undefined;
}

/** A dial-out, as far as metrics look at it. */
export interface MeteredSink {
  readonly name: string;
  readonly links: readonly { readonly state: { readonly kind: string } }[];
}

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
  /** How late the event loop is. Seconds. */
  readonly loopDelay: () => number;
}

/** Nodes that NACKs are counted for by name; further ones are counted together. */
const NODES = 200;

/** Upper bounds of latencies. Seconds. */
const LATENCIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts what happens, reads what is, renders both. */
export class Metrics implements AsyncDisposable {
  readonly #meters = new Meters();
  readonly #pushes = this.#counter("pinnace_pushes_total", "Responses sent, by protocol and type.");
  readonly #bytes = this.#counter("pinnace_sent_bytes_total", "Bytes of responses sent.");
  readonly #acks = this.#counter("pinnace_acks_total", "Responses that peers accepted.");
  readonly #nacks = this.#counter("pinnace_nacks_total", "Responses that peers refused.");
  readonly #nodeNacks = this.#counter("pinnace_node_nacks_total", "Refusals by node id.");
  readonly #latency = this.#meters.histogram(
    "pinnace_ack_latency_seconds",
    "From a change of a file to the ACK of a peer.",
    LATENCIES,
  );
  readonly #opened = this.#counter("pinnace_streams_opened_total", "Streams opened, by protocol.");
  readonly #cut = this.#counter(
    "pinnace_streams_cut_total",
    "Streams ended since they took nothing.",
  );
  readonly #refused = this.#counter(
    "pinnace_connections_refused_total",
    "Connections turned away.",
  );
  readonly #violations = this.#counter(
    "pinnace_violations_total",
    "Connections that broke HTTP/2's rules.",
  );
  readonly #dials = this.#counter(
    "pinnace_sink_failures_total",
    "Dial-outs that failed or ended, by sink.",
  );
  readonly #reloads = this.#counter(
    "pinnace_config_reloads_total",
    "Loads of the configuration, by result.",
  );
  readonly #published = this.#counter("pinnace_snapshots_published_total", "Snapshots published.");
  readonly #held = this.#counter(
    "pinnace_snapshots_held_total",
    "Snapshots that the guard held back.",
  );
  readonly #writes = this.#counter(
    "pinnace_store_writes_total",
    "Snapshots written to the store, by result.",
  );
  readonly #writeTime = this.#meters.histogram(
    "pinnace_store_write_seconds",
    "How long a snapshot took to be safe on disk.",
    LATENCIES,
  );
  readonly #labels = new Map<string, Labels>();
  readonly #nodes = new Set<string>();

  constructor(sources: MetricSources) {
    this.#gauges(sources);
  }

  /** A response was written. */
  pushed(protocol: string, type: string, bytes: number): void {
    const labels = this.#of(protocol, type);
    this.#pushes.add(1, labels);
    this.#bytes.add(bytes, labels);
  }

  /** A peer accepted a response; `latency` in milliseconds where it carried a change. */
  acked(protocol: string, type: string, latency: number | undefined): void {
    const labels = this.#of(protocol, type);
    this.#acks.add(1, labels);
    if (latency !== undefined) this.#latency.record(latency / 1000, labels);
  }

  /** A peer refused a response. */
  nacked(protocol: string, type: string, node: string): void {
    this.#nacks.add(1, this.#of(protocol, type));
    const known = this.#nodes.has(node) || this.#nodes.size < NODES;
    if (known) this.#nodes.add(node);
    this.#nodeNacks.add(1, { node: known ? node : "other" });
  }

  /** A stream opened. */
  opened(protocol: string): void {
    this.#opened.add(1, { protocol });
  }

  /** A stream was cut since its peer took nothing. */
  cut(): void {
    this.#cut.add(1);
  }

  /** A connection was turned away. */
  refused(reason: string): void {
    this.#refused.add(1, { reason });
  }

  /** A connection was ended since its peer broke the rules of HTTP/2. */
  violated(reason: string): void {
    this.#violations.add(1, { reason });
  }

  /** A dial-out failed or ended. */
  dialFailed(sink: string): void {
    this.#dials.add(1, { sink });
  }

  /** A configuration was loaded. */
  reloaded(ok: boolean): void {
    this.#reloads.add(1, { result: ok ? "ok" : "error" });
  }

  /** A snapshot was published. */
  published(): void {
    this.#published.add(1);
  }

  /** The guard held a snapshot back. */
  held(): void {
    this.#held.add(1);
  }

  /** A snapshot is safe on disk. Milliseconds. */
  saved(ms: number): void {
    this.#writes.add(1, { result: "ok" });
    this.#writeTime.record(ms / 1000);
  }

  /** A snapshot could not be written. */
  saveFailed(): void {
    this.#writes.add(1, { result: "error" });
  }

  /** All of it, in Prometheus's text format. */
  render(): Promise<string> {
    return this.#meters.render();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#meters[Symbol.asyncDispose]();
  }

  #counter(name: string, description: string): Counter<Attributes> {
    return this.#meters.counter(name, description);
  }

  /** The same object for the same labels: pushes to thousands make none. Types are bounded by what is served. */
  #of(protocol: string, type: string): Labels {
    const key = `${protocol} ${type}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      labels = { protocol, type: this.#labels.size < TYPES ? type : "other" };
      if (this.#labels.size < TYPES) this.#labels.set(key, labels);
    }
    return labels;
  }

  #gauges(sources: MetricSources): void {
    const { snapshot, publisher, reload, streams, sinks, now } = sources;
    const gauge = (name: string, description: string, read: () => readonly Reading[]) =>
      this.#meters.gauge(name, description, read);
    gauge("pinnace_build_info", "Always 1; the version is a label.", () => [
      { value: 1, labels: { version: sources.version, runtime: `deno ${Deno.version.deno}` } },
    ]);
    gauge("process_start_time_seconds", "When the process started.", () => [
      { value: sources.startedAt / 1000 },
    ]);
    gauge("process_resident_memory_bytes", "Memory of the process.", () => [
      { value: Deno.memoryUsage().rss },
    ]);
    gauge("pinnace_event_loop_delay_seconds", "How late the event loop is.", () => [
      { value: sources.loopDelay() },
    ]);
    gauge("pinnace_connections", "Connections of peers that dialled.", () => [
      { value: sources.connections() },
    ]);
    gauge(
      "pinnace_streams",
      "Live streams, by protocol.",
      () => countBy(streams(), (s) => s.protocol, "protocol"),
    );
    gauge(
      "pinnace_unacked_age_seconds",
      "Age of the oldest push that no peer has answered; 0 if none.",
      () => {
        const oldest = Math.min(...streams().map((s) => s.oldestUnacked ?? Infinity));
        return [{ value: oldest === Infinity ? 0 : (now() - oldest) / 1000 }];
      },
    );
    gauge(
      "pinnace_sink_links",
      "Dial-outs by sink and state.",
      () =>
        sinks().flatMap(({ name, links }) =>
          countBy(links, (link) => link.state.kind, "state")
            .map(({ value, labels }) => ({ value, labels: { ...labels, sink: name } }))
        ),
    );
    gauge(
      "pinnace_resources",
      "Resources published, by kind.",
      () =>
        [...snapshot()?.collections ?? []].map(([kind, { size }]) => ({
          value: size,
          labels: { kind },
        })),
    );
    gauge(
      "pinnace_largest_response_bytes",
      "Size of a full response, by kind.",
      () =>
        [...snapshot()?.collections ?? []].map(([kind, { byteLength }]) => ({
          value: byteLength,
          labels: { kind },
        })),
    );
    gauge("pinnace_services", "Services published.", () => only(snapshot()?.services.size));
    gauge(
      "pinnace_snapshot_published_time_seconds",
      "When the snapshot served was published.",
      () => only(seconds(publisher().published?.publishedAt)),
    );
    gauge(
      "pinnace_snapshot_saved",
      "Whether the snapshot served is in the store.",
      () => only(flag(publisher().published?.saved)),
    );
    gauge("pinnace_snapshot_held", "Whether a snapshot waits to be confirmed.", () => [
      { value: publisher().held === undefined ? 0 : 1 },
    ]);
    gauge(
      "pinnace_config_reload_success",
      "Whether the last load was free of errors.",
      () => only(flag(reload()?.ok)),
    );
    gauge(
      "pinnace_config_reload_time_seconds",
      "When the configuration was last loaded.",
      () => only(seconds(reload()?.at)),
    );
    gauge(
      "pinnace_config_reload_duration_seconds",
      "How long the last load took.",
      () => only(seconds(reload()?.durationMs)),
    );
    gauge("pinnace_findings", "Findings of the last load, by severity.", () => {
      const findings = reload()?.findings;
      if (findings === undefined) return [];
      return (["error", "warning"] as const).map((severity) => ({
        value: findings.filter((finding) => finding.severity === severity).length,
        labels: { severity },
      }));
    });
  }
}

/** Pairs of protocol and type that are counted apart. Peers choose types; not all are known to us. */
const TYPES = 400;

function only(value: number | undefined): Reading[] {
  return value === undefined ? [] : [{ value }];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string, label: string): Reading[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return [...counts].map(([key, value]) => ({ value, labels: { [label]: key } }));
}
