/**
 * An honest edge beside hostile sources: our own program, that changes every second and is timed.
 *
 * @module
 */
import { Pinnace } from "../interop/lib/pinnace.ts";
import { pause, until } from "../interop/lib/wait.ts";
import type { Finding } from "./bench.ts";

/** Whoever sees what arrives. */
export interface Witness {
  /** Whether everybody has seen this revision. */
  haveSeen(revision: string): boolean;
  /** How many have not, as of the last time asked. */
  missing(revision: string): number;
  /** Whether there is anybody who could still bring it about. */
  alive(): boolean;
}

const SERVICES = 20;

/** A change that takes longer than this to be everywhere never will be. Milliseconds. */
const PATIENCE = 30_000;

/** A running edge. Its next change is written only once the one before was seen: of two, one may never be sent. */
export class Edge implements AsyncDisposable {
  readonly number: 1 | 2;
  readonly #pinnace: Pinnace;
  readonly #sinks: readonly unknown[];
  readonly #witness: Witness;
  readonly #stop = new AbortController();
  readonly #took: number[] = [];
  #revision = 0;
  #lost: string | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #changing: Promise<unknown> = Promise.resolve();

  private constructor(
    number: 1 | 2,
    { pinnace, sinks, witness }: {
      readonly pinnace: Pinnace;
      readonly sinks: readonly unknown[];
      readonly witness: Witness;
    },
  ) {
    this.number = number;
    this.#pinnace = pinnace;
    this.#sinks = sinks;
    this.#witness = witness;
  }

  /** Starts an edge that dials these sinks. */
  static async start(
    number: 1 | 2,
    sinks: readonly unknown[],
    witness: Witness,
  ): Promise<Edge> {
    const pinnace = await Pinnace.start(configuration(number, 0, sinks));
    return new Edge(number, { pinnace, sinks, witness });
  }

  /** `host:port` where clients dial it. */
  get address(): string {
    return this.#pinnace.address;
  }

  /** Resolves once its first revision was seen by everybody; from then on it changes every second. */
  async settled(): Promise<void> {
    const first = revisionOf(this.number, 0);
    await until(`${first} is seen`, () => this.#witness.haveSeen(first));
    this.#ticking = this.#tick();
  }

  /** Changes something; gives how long it took to be seen by everybody, or undefined. Milliseconds. */
  change(): Promise<number | undefined> {
    const changed = this.#changing.then(() => this.#change());
    this.#changing = changed;
    return changed;
  }

  /** Stops the changes and says what became of them. */
  async verdict(): Promise<Finding> {
    this.#stop.abort();
    await this.#ticking;
    const sorted = this.#took.toSorted((a, b) => a - b);
    return {
      ok: this.#lost === undefined && sorted.length > 0,
      what: `edge ${this.number}: ${sorted.length} of ${this.#revision} revisions seen by all; ` +
        `median ${sorted[sorted.length >> 1]} ms, slowest ${sorted.at(-1)} ms` +
        `${this.#lost === undefined ? "" : `; ${this.#lost}`}`,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ticking;
    await this.#pinnace[Symbol.asyncDispose]();
  }

  async #tick(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#lost === undefined && this.#witness.alive()) {
      await Promise.all([this.change(), pause(1000)]);
    }
  }

  async #change(): Promise<number | undefined> {
    const revision = revisionOf(this.number, ++this.#revision);
    const startedAt = performance.now();
    await this.#pinnace.write(configuration(this.number, this.#revision, this.#sinks));
    try {
      await until(`${revision} is seen`, () => this.#witness.haveSeen(revision), {
        deadline: PATIENCE,
        every: 10,
      });
    } catch {
      const sinks = (await this.#pinnace.status()).sinks;
      this.#lost ??= `${revision} was not seen by ${this.#witness.missing(revision)} within ` +
        `${PATIENCE / 1000} s; its sinks: ${JSON.stringify(sinks)}`;
      return undefined;
    }
    const took = Math.round(performance.now() - startedAt);
    this.#took.push(took);
    return took;
  }
}

function revisionOf(edge: 1 | 2, n: number): string {
  return `rev-${edge}${String(n).padStart(5, "0")}`;
}

function configuration(edge: 1 | 2, n: number, sinks: readonly unknown[]) {
  const namespace = `site-${edge}`;
  const services = Array.from({ length: SERVICES }, (_, i) => ({
    name: `service-${i}`,
    namespace,
    ports: ["80:8080/HTTP"],
    endpoints: [{
      address: `192.0.2.${i + 1}`,
      labels: i === 0 ? { revision: revisionOf(edge, n) } : {},
    }],
  }));
  const log = { level: "info", format: "json" };
  return { instance: `edge-${edge}`, services, sinks, log };
}
