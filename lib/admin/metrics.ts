/**
 * Everything that Pinnace counts. docs/metrics.md explains each; a test holds the two together.
 *
 * @module
 */
import { addGauges, type MeteredSource, type MetricSources, PROTOCOL_NAMES } from "./gauges.ts";
import { Meters, type Read } from "./meters.ts";
import { Tally, TypeTallies } from "./tallies.ts";

export type {
  MeteredReload,
  MeteredSink,
  MeteredSource,
  MeteredStream,
  MetricSources,
} from "./gauges.ts";

/** Nodes that NACKs are counted for by name; further ones are counted together. */
const NODES = 200;

/** Sinks that failures are counted for by name. A configuration may have had many over time. */
const SINKS = 10_000;

/** Sources that are counted by name; there are never more at one time, but over time there may be. */
const SOURCES = 2000;

/** Why something is published, by sort. */
const CAUSES = ["file", "source", "settings", "confirmed", "start"];

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
  readonly #pushes = new Tally("source", { max: SOURCES });
  readonly #refusals = new Tally("source", { max: SOURCES });
  readonly #unsaved = new Tally("source", { max: SOURCES });
  readonly #received = new Tally("source", { max: SOURCES });
  readonly #pulls = new Tally("source", { max: SOURCES });
  readonly #causes = new Tally("cause", { known: CAUSES, max: FEW });
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
  #paced = 0;
  #overdue = 0;
  #denied = 0;
  #published = 0;
  #held = 0;
  /** The sources, while a scrape is under way: several metrics read them, and they are put together anew each time. */
  #scraped: readonly MeteredSource[] | undefined;

  constructor(given: MetricSources) {
    const sources = { ...given, sources: () => this.#scraped ?? given.sources() };
    this.#sources = sources;
    this.#addStreams();
    this.#addConnections();
    this.#addSources();
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

  /** Answers to a peer wait since it asks in a tight loop. */
  paced(): void {
    this.#paced++;
  }

  /** A client did not follow from one set of clusters to the next in time. */
  overdue(): void {
    this.#overdue++;
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

  /** A source's push changed something, or was refused. */
  sourcePushed(source: string): void {
    this.#pushes.add(source);
  }

  /** A push came on a stream that a source dialled. */
  sourceReceived(source: string, bytes: number): void {
    this.#received.add(source, bytes);
  }

  /** A source's push was refused. */
  sourceRefused(source: string): void {
    this.#refusals.add(source);
  }

  /** What a source gave could not be saved. */
  sourceSaveFailed(source: string): void {
    this.#unsaved.add(source);
  }

  /** Someone who dialled as a source was not let in. */
  sourceDenied(): void {
    this.#denied++;
  }

  /** A server that we pull from was not reached, or its stream ended. */
  pullFailed(source: string): void {
    this.#pulls.add(source);
  }

  /** A configuration was loaded. */
  reloaded(ok: boolean): void {
    this.#reloads.add(ok ? "ok" : "error");
  }

  /** A snapshot was published, for causes of these sorts; each counts once. */
  published(causes: Iterable<string> = []): void {
    this.#published++;
    for (const cause of new Set(causes)) this.#causes.add(cause);
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
  async render(): Promise<string> {
    this.#scraped = undefined; // of a scrape before this one, if that is still under way
    this.#scraped = this.#sources.sources();
    try {
      this.#know();
      return await this.#meters.render();
    } finally {
      this.#scraped = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#meters[Symbol.asyncDispose]();
  }

  /** Makes a 0 of what is there and has not happened yet. */
  #know(): void {
    // An alert on an increase sees the first refusal only if there was a 0 before it.
    for (const [kind, { size }] of this.#sources.snapshot()?.collections ?? []) {
      if (size > 0) this.#types.know({ kind });
    }
    for (const { name } of this.#sources.sinks()) this.#dials.add(name, 0);
    for (const { name } of this.#sources.sources()) {
      for (const tally of [this.#pushes, this.#refusals, this.#unsaved, this.#received]) {
        tally.add(name, 0);
      }
    }
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
    count(
      "pinnace_streams_paced_total",
      "Times that answers waited for a peer that asks in a tight loop.",
      () => [{ value: this.#paced }],
    );
    count(
      "pinnace_transitions_overdue_total",
      "Times that a client did not follow from one set of clusters to the next in time.",
      () => [{ value: this.#overdue }],
    );
  }

  #addConnections(): void {
    const count = (name: string, description: string, tally: Tally) =>
      this.#meters.counter(name, description, () => tally.readings());
    count("pinnace_connections_refused_total", "Connections turned away.", this.#refused);
    count("pinnace_violations_total", "Connections that broke HTTP/2's rules.", this.#violations);
    count("pinnace_sink_failures_total", "Dial-outs that failed or ended.", this.#dials);
  }

  #addSources(): void {
    const count = (name: string, description: string, tally: Tally) =>
      this.#meters.counter(name, description, () => tally.readings());
    const changes = "Pushes of sources that changed something, or were refused.";
    count("pinnace_source_pushes_total", changes, this.#pushes);
    count("pinnace_source_save_failures_total", "Sets of sources not saved.", this.#unsaved);
    count(
      "pinnace_source_bytes_total",
      "Bytes of pushes on streams that sources dialled.",
      this.#received,
    );
    count("pinnace_source_refusals_total", "Pushes of sources that were refused.", this.#refusals);
    count("pinnace_source_failures_total", "Pulls that failed or ended.", this.#pulls);
    this.#meters.counter(
      "pinnace_sources_denied_total",
      "Streams of sources that were not let in.",
      () => [{ value: this.#denied }],
    );
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
      "pinnace_publish_causes_total",
      "Snapshots published, by sort of cause.",
      () => this.#causes.readings(),
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
