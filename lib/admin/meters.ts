/**
 * Counters, gauges and histograms, rendered as Prometheus reads them. OpenTelemetry collects; its
 * exporter's serializer writes; no server of theirs runs.
 *
 * @module
 */
import type { Attributes, Histogram, Meter, Observable } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";

/** Labels of a sample. */
export type Labels = Readonly<Record<string, string>>;

/** One value of a counter or gauge, read when asked for. */
export interface Reading {
  readonly value: number;
  readonly labels?: Labels;
}

/** Gives every value of one metric. */
export type Read = () => readonly Reading[];

/** Makes and renders metrics. */
export class Meters implements AsyncDisposable {
  readonly #reader = new ReaderOnDemand();
  readonly #provider = new MeterProvider({ readers: [this.#reader] });
  readonly #meter: Meter = this.#provider.getMeter("pinnace");
  readonly #serializer = new PrometheusSerializer("", false, undefined, true, true);

  /** A value that only grows, read at each scrape: what happens often is counted in plain numbers. Names end in `_total`. */
  counter(name: string, description: string, read: Read): void {
    observe(name, this.#meter.createObservableCounter(name, { description }), read);
  }

  /** A value that comes and goes, read at each scrape. */
  gauge(name: string, description: string, read: Read): void {
    observe(name, this.#meter.createObservableGauge(name, { description }), read);
  }

  /** A distribution, with these upper bounds. Names end in their unit. */
  histogram(name: string, description: string, bounds: readonly number[]): Histogram<Attributes> {
    const advice = { explicitBucketBoundaries: [...bounds] };
    return this.#meter.createHistogram(name, { description, advice });
  }

  /**
   * Everything, in Prometheus's text format. Rejects with an AggregateError where a metric could not
   * be read: one that is missing without a word would pass for one with nothing to say.
   */
  async render(): Promise<string> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) {
      throw new AggregateError(errors, errors.map((one) => messageOf(one)).join("; "));
    }
    return this.#serializer.serialize(resourceMetrics);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
  }
}

function observe(name: string, instrument: Observable, read: Read): void {
  instrument.addCallback((result) => {
    try {
      for (const { value, labels } of read()) result.observe(value, labels);
    } catch (cause) {
      throw new Error(`${name} cannot be read: ${messageOf(cause)}`, { cause });
    }
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Collects when asked, and never by itself. */
class ReaderOnDemand extends MetricReader {
  constructor() {
    // Whoever counts bounds its labels; sinks are as many as the configuration names. Beyond the
    // library's own limit, 2000, values would be mixed up under one label.
    super({ cardinalitySelector: () => 100_000 });
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
