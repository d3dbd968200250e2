/**
 * Objects made by chance, the same ones for the same seed.
 *
 * @module
 */
import type { Partially, ServiceEntry, WorkloadEntry } from "../../../lib/wire/messages.ts";
import * as pools from "./pools.ts";
import type { Subject } from "./subjects.ts";

/** Numbers by chance, the same ones for the same seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 or more, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `below - 1`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** One of these. */
  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Up to `most` items. */
  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

/** `count` objects. Most of what is in them is right, so that they fail for one reason, or for none. */
export function* byChance(seed: number, count: number): Iterable<Subject> {
  for (let number = 0; number < count; number++) {
    // Each has a seed of its own, so that one can be made again without those before it.
    const own = (seed + Math.imul(number, 0x9e3779b1)) >>> 0;
    const chance = new Chance(own);
    const title = `by chance, number ${number} of seed ${seed}`;
    const metadata = {
      name: "orders",
      namespace: chance.once(10) ? chance.of(pools.NAMESPACES) : "default",
      labels: chance.once(4) ? chance.of(pools.OBJECT_LABELS) : {},
      annotations: chance.once(20) ? chance.of(pools.ANNOTATIONS) : {},
    };
    yield chance.once(5)
      ? { title, metadata, kind: "WorkloadEntry", spec: workloadEntry(chance, []) }
      : { title, metadata, kind: "ServiceEntry", spec: serviceEntry(chance) };
  }
}

function serviceEntry(chance: Chance): Partially<ServiceEntry> {
  const resolution = chance.of(pools.RESOLUTIONS.slice(0, chance.once(15) ? undefined : 5));
  const ports = chance.list(3, () => ({
    number: usually(chance, chance.below(65535) + 1, pools.NUMBERS),
    name: usually(chance, `p${chance.below(1000)}`, pools.PORT_NAMES),
    protocol: usually(chance, chance.of(["HTTP", "TCP", "TLS", "GRPC", ""]), pools.PROTOCOLS),
    ...(chance.once(3) ? { targetPort: usually(chance, 8080, pools.NUMBERS) } : {}),
  }));
  const names = ports.map((port) => port.name);
  const takesEndpoints = chance.once(8) || (resolution !== "NONE" && resolution !== "DYNAMIC_DNS");
  return {
    hosts: chance.once(30) ? [] : [host(chance, resolution), ...more(chance, resolution)],
    addresses: chance.once(3)
      ? chance.list(2, () => mutated(chance, usually(chance, "240.0.0.1", pools.ADDRESSES)))
      : [],
    ports,
    location: usually(chance, "MESH_EXTERNAL", pools.LOCATIONS),
    resolution,
    endpoints: takesEndpoints ? chance.list(3, () => workloadEntry(chance, names)) : [],
    exportTo: usually(chance, ["*"], pools.EXPORTS),
    subjectAltNames: [],
    ...(chance.once(6) ? { workloadSelector: { labels: labels(chance) } } : {}),
  };
}

function host(chance: Chance, resolution: ServiceEntry["resolution"]): string {
  const sound = resolution === "DYNAMIC_DNS" ? "*.example.com" : "api.example.com";
  return mutated(chance, usually(chance, sound, pools.HOSTS));
}

function more(chance: Chance, resolution: ServiceEntry["resolution"]): string[] {
  return chance.once(5) ? [host(chance, resolution)] : [];
}

function workloadEntry(chance: Chance, ports: readonly string[]): Partially<WorkloadEntry> {
  const address = mutated(
    chance,
    chance.once(4) ? chance.of(pools.HOSTS) : usually(chance, "10.0.0.1", pools.ADDRESSES),
  );
  const named = ports.length > 0 && chance.once(2) ? [chance.of(ports)] : [];
  const other = chance.once(8) ? [chance.of(pools.PORT_NAMES)] : [];
  return {
    address: chance.once(12) ? "" : address,
    ports: Object.fromEntries(
      [...named, ...other].map((name) => [name, usually(chance, 8080, pools.NUMBERS)]),
    ),
    labels: chance.once(4) ? labels(chance) : {},
    network: chance.once(6) ? "edge" : "",
    locality: chance.once(4) ? "eu/fra" : "",
    weight: chance.below(3),
    serviceAccount: "",
  };
}

function labels(chance: Chance): Record<string, string> {
  return Object.fromEntries(
    chance.list(3, () => chance.once(3) ? chance.of(pools.LABELS) : (["app", "orders"] as const)),
  );
}

/** What is right, but for once in eight. */
function usually<T>(chance: Chance, right: T, pool: readonly T[]): T {
  return chance.once(8) ? chance.of(pool) : right;
}

const CHARACTERS = [..."0123456789abcfgzAFZ-._:/%*@ \n\0üé１"];

/** The text, once in six with one or two characters put in, taken out or changed. */
function mutated(chance: Chance, text: string): string {
  if (!chance.once(6)) return text;
  const characters = [...text];
  for (let times = 1 + chance.below(2); times > 0; times--) {
    const at = chance.below(characters.length + 1);
    const put = chance.once(3) ? [] : [chance.of(CHARACTERS)];
    characters.splice(at, chance.below(2), ...put);
  }
  return characters.join("");
}
