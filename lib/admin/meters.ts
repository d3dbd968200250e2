/**
 * Counters, gauges and histograms, rendered as Prometheus reads them. OpenTelemetry counts; its
 * exporter's serializer writes; no server of theirs runs.
 *
 * @module
 */
import type { Attributes, Counter, Histogram, Meter } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";

/** Labels of a sample. */
export type Labels = Readonly<Record<string, string>>;

/** One value of a gauge that is read when asked for. */
export interface Reading {
  readonly value: number;
  readonly labels?: Labels;
}

/** Makes and renders metrics. */
export class Meters implements AsyncDisposable {
  readonly #reader = new ReaderOnDemand();
  readonly #provider = new MeterProvider({ readers: [this.#reader] });
  readonly #meter: Meter = this.#provider.getMeter("pinnace");
  readonly #serializer = new PrometheusSerializer("", false, undefined, true, true);

  /** A value that only grows. Names end in `_total`. */
  counter(name: string, description: string): Counter<Attributes> {
    return this.#meter.createCounter(name, { description });
  }

  /** A distribution, with these upper bounds. Names end in their unit. */
  histogram(name: string, description: string, bounds: readonly number[]): Histogram<Attributes> {
    const advice = { explicitBucketBoundaries: [...bounds] };
    return this.#meter.createHistogram(name, { description, advice });
  }

  /** A value that is read at each scrape. */
  gauge(name: string, description: string, read: () => readonly Reading[]): void {
    const gauge = this.#meter.createObservableGauge(name, { description });
    gauge.addCallback((result) => {
      for (const { value, labels } of read()) result.observe(value, labels);
    });
  }

  /** Everything, in Prometheus's text format. */
  async render(): Promise<string> {
    const { resourceMetrics } = await this.#reader.collect();
    return this.#serializer.serialize(resourceMetrics);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
  }
}

/** Collects when asked, and never by itself. */
class ReaderOnDemand extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
