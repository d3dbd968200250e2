/**
 * Everything that Pinnace counts. docs/metrics.md explains each; a test holds the two together.
 *
 * @module
 */
import { addGauges, type MetricSources, PROTOCOL_NAMES } from "./gauges.ts";
import { Meters, type Read } from "./meters.ts";
import { Tally, TypeTallies } from "./tallies.ts";

export type { MeteredReload, MeteredSink, MeteredStream, MetricSources } from "./gauges.ts";

/** Nodes that NACKs are counted for by name; further ones are counted together. */
const NODES = 200;

/** Sinks that failures are counted for by name. A configuration may have had many over time. */
const SINKS = 10_000;

/** Values of labels that only our own code chooses. */
const FEW = 50;

/** Upper bounds of latencies. Seconds. */
const LATENCIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const RESULTS = { known: ["ok", "error"], max: FEW };

/** Counts what happens, reads what is, renders both. Counting is cheap; nothing but rendering allocates. */
export class Metrics implements AsyncDisposable {
  readonly #meters = new Meters();
  readonly #sources: MetricSources;
  readonly #types = new TypeTallies();
  readonly #nodes = new Tally("node", { max: NODES });
  readonly #opened = new Tally("protocol", { known: PROTOCOL_NAMES, max: FEW });
  readonly #refused = new Tally("reason", { max: FEW });
  readonly #violations = new Tally("reason", { max: FEW });
  readonly #dials = new Tally("sink", { max: SINKS });
  readonly #reloads = new Tally("result", RESULTS);
  readonly #writes = new Tally("result", RESULTS);
  readonly #latency = this.#meters.histogram(
    "pinnace_ack_latency_seconds",
    "From a change of a file to the ACK of a peer.",
    LATENCIES,
  );
  readonly #writeTime = this.#meters.histogram(
    "pinnace_store_write_seconds",
    "How long a snapshot took to be safe on disk.",
    LATENCIES,
  );
  #cut = 0;
  #published = 0;
  #held = 0;

  constructor(sources: MetricSources) {
    this.#sources = sources;
    this.#addStreams();
    this.#addConnections();
    this.#addSnapshots();
    addGauges(this.#meters, sources);
  }

  /** A response was written. */
  pushed(protocol: string, type: string, bytes: number): void {
    const counts = this.#types.of(protocol, type);
    counts.pushes++;
    counts.bytes += bytes;
  }

  /** A peer accepted a response; `latency` in milliseconds where it carried a change. */
  acked(protocol: string, type: string, latency: number | undefined): void {
    const counts = this.#types.of(protocol, type);
    counts.acks++;
    if (latency !== undefined) this.#latency.record(Math.max(0, latency) / 1000, counts.labels);
  }

  /** A peer refused a response. `node`: its id as it gave it, empty if it gave none. */
  nacked(protocol: string, type: string, node: string): void {
    this.#types.of(protocol, type).nacks++;
    this.#nodes.add(node === "" ? "unknown" : node);
  }

  /** A stream opened. */
  opened(protocol: string): void {
    this.#opened.add(protocol);
  }

  /** A stream was cut since its peer took nothing. */
  cut(): void {
    this.#cut++;
  }

  /** A connection was turned away. */
  refused(reason: string): void {
    this.#refused.add(reason);
  }

  /** A connection was ended since its peer broke the rules of HTTP/2. */
  violated(reason: string): void {
    this.#violations.add(reason);
  }

  /** A dial-out failed or ended. */
  dialFailed(sink: string): void {
    this.#dials.add(sink);
  }

  /** A configuration was loaded. */
  reloaded(ok: boolean): void {
    this.#reloads.add(ok ? "ok" : "error");
  }

  /** A snapshot was published. */
  published(): void {
    this.#published++;
  }

  /** The guard held a snapshot back. */
  held(): void {
    this.#held++;
  }

  /** A snapshot is safe on disk. Milliseconds. */
  saved(ms: number): void {
    this.#writes.add("ok");
    this.#writeTime.record(ms / 1000);
  }

  /** A snapshot could not be written. */
  saveFailed(): void {
    this.#writes.add("error");
  }

  /** All of it, in Prometheus's text format. Rejects with an AggregateError that names what could not be read. */
  render(): Promise<string> {
    // An alert on an increase sees the first refusal only if there was a 0 before it.
    for (const [kind, { size }] of this.#sources.snapshot()?.collections ?? []) {
      if (size > 0) this.#types.know({ kind });
    }
    for (const { name } of this.#sources.sinks()) this.#dials.add(name, 0);
    return this.#meters.render();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#meters[Symbol.asyncDispose]();
  }

  #addStreams(): void {
    const types = this.#types;
    const count = (name: string, description: string, read: Read) =>
      this.#meters.counter(name, description, read);
    count("pinnace_pushes_total", "Responses sent.", () => types.readings("pushes"));
    count("pinnace_sent_bytes_total", "Bytes of responses sent.", () => types.readings("bytes"));
    count("pinnace_acks_total", "Responses that peers accepted.", () => types.readings("acks"));
    count("pinnace_nacks_total", "Responses that peers refused.", () => types.readings("nacks"));
    count("pinnace_node_nacks_total", "Refusals by node id.", () => this.#nodes.readings());
    count("pinnace_streams_opened_total", "Streams opened.", () => this.#opened.readings());
    count(
      "pinnace_streams_cut_total",
      "Streams ended since they took nothing.",
      () => [{ value: this.#cut }],
    );
  }

  #addConnections(): void {
    const count = (name: string, description: string, tally: Tally) =>
      this.#meters.counter(name, description, () => tally.readings());
    count("pinnace_connections_refused_total", "Connections turned away.", this.#refused);
    count("pinnace_violations_total", "Connections that broke HTTP/2's rules.", this.#violations);
    count("pinnace_sink_failures_total", "Dial-outs that failed or ended.", this.#dials);
  }

  #addSnapshots(): void {
    const count = (name: string, description: string, read: Read) =>
      this.#meters.counter(name, description, read);
    count(
      "pinnace_config_reloads_total",
      "Loads of the configuration, by result.",
      () => this.#reloads.readings(),
    );
    count(
      "pinnace_snapshots_published_total",
      "Snapshots published.",
      () => [{ value: this.#published }],
    );
    count(
      "pinnace_snapshots_held_total",
      "Snapshots that the guard held back.",
      () => [{ value: this.#held }],
    );
    count(
      "pinnace_store_writes_total",
      "Snapshots written to the store, by result.",
      () => this.#writes.readings(),
    );
  }
}
