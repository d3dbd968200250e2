/**
 * Services that come, change and go at random, the same way for the same seed.
 *
 * @module
 */
import type { ServiceConfig } from "./pinnace.ts";
import { nameOf } from "./services.ts";

/** A number from 0 on below 1. */
export type Random = () => number;

/** Random numbers that follow from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number below `end`. */
export function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

/** How many there are at least, and at most: so many that the guard counts, and that one change is few. */
const BOUNDS = { least: 30, most: 80 };

/** The services of one edge, in a namespace of their own. */
export class RandomServices {
  readonly #namespace: string;
  readonly #random: Random;
  readonly #services = new Map<string, ServiceConfig>();
  #made = 0;
  #changes = 0;

  /** With as many as there are at least. */
  constructor(namespace: string, random: Random) {
    this.#namespace = namespace;
    this.#random = random;
    while (this.#services.size < BOUNDS.least) this.#add();
  }

  /** As they are written. */
  get list(): readonly ServiceConfig[] {
    return [...this.#services.values()];
  }

  /** By `namespace/name`, the address of the first endpoint, which each change changes. */
  get addresses(): ReadonlyMap<string, string> {
    return new Map(this.list.map((service) => {
      const [endpoint] = service.endpoints as readonly { readonly address: string }[];
      return [nameOf(service), endpoint!.address];
    }));
  }

  /** Adds one, changes one or removes one. */
  step(): void {
    const { size } = this.#services;
    const chance = this.#random();
    if (size <= BOUNDS.least || (chance < 0.3 && size < BOUNDS.most)) this.#add();
    else if (chance < 0.7) this.#put(this.#any());
    else this.#services.delete(this.#any());
  }

  #add(): void {
    this.#put(`s${++this.#made}`);
  }

  #any(): string {
    return [...this.#services.keys()][below(this.#random, this.#services.size)]!;
  }

  #put(name: string): void {
    const change = ++this.#changes;
    const first = `10.${change >> 16}.${(change >> 8) & 255}.${change & 255}`;
    const more = Array.from({ length: below(this.#random, 3) }, (_, at) => ({
      address: `192.0.2.${at + 1}`,
      weight: 1 + below(this.#random, 9),
    }));
    this.#services.set(name, {
      name,
      namespace: this.#namespace,
      hosts: [`${name}.${this.#namespace}.example.com`],
      ports: ["443:8443/GRPC", ...(this.#random() < 0.5 ? ["80/HTTP"] : [])],
      endpoints: [{ address: first, labels: { version: `v${change}` } }, ...more],
    });
  }
}
