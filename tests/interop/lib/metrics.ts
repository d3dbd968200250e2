/**
 * Reading of Prometheus's text format, as far as tests ask.
 *
 * @module
 */

/** One sample. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of one scrape. */
export class Metrics {
  readonly samples: readonly Sample[];

  constructor(text: string) {
    this.samples = text.split("\n").flatMap((line) => parseLine(line) ?? []);
  }

  /** Scrapes an endpoint. */
  static async scrape(url: string): Promise<Metrics> {
    const response = await fetch(url);
    const text = await response.text();
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200)}`);
    return new Metrics(text);
  }

  /** Sum of the samples of this name whose labels hold these; 0 where there is none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels);
    return this.samples
      .filter((s) => s.name === name && wanted.every(([key, value]) => s.labels[key] === value))
      .reduce((sum, s) => sum + s.value, 0);
  }
}

function parseLine(line: string): Sample | undefined {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
  if (match === null) return undefined;
  const [, name, labels = "", value] = match;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name: name!,
    labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text!.replace(/\\(.)/g, "$1")])),
    value: Number(value),
  };
}
