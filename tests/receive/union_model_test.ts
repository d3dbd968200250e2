/**
 * Random parts that come, change and go, with names and hosts that overlap, against a model that works
 * everything out anew each time. fast-check prints seed and path of a failure.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Resource } from "../../lib/model/resource.ts";
import type { MergeMode } from "../../lib/model/settings.ts";
import { Union } from "../../lib/receive/union.ts";
import { decoded, entries, entry } from "./entries.ts";

/** Schedules per test; more by hand: MODEL_RUNS=20000 deno test --allow-read --allow-env tests/receive/union_model_test.ts */
const RUNS = Number(Deno.env.get("MODEL_RUNS") ?? 1000);

/** An entry as the model sees it. */
interface Entry {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly port: number;
  readonly addresses: readonly string[];
}

/** How many entries may be merged into one here. */
const MERGED = 2;

interface Claim {
  readonly part: string;
  readonly entry: Entry;
}

/** What is served under a name: whose, and which addresses with the part that each is of. */
interface Served {
  readonly part: string;
  readonly addresses: readonly string[];
}

/** Parts, who holds which name, who leads with which hosts. Every step goes through everything. */
class Model {
  #parts: { name: string; entries: ReadonlyMap<string, Entry> }[] = [
    { name: "", entries: new Map() },
  ];
  #holders = new Map<string, string>();
  leaders = new Map<string, Claim>();
  refused = new Set<string>();
  served = new Map<string, Served>();
  readonly limits = new Map<string, readonly string[]>();

  mayFill(part: string, name: string): boolean {
    const namespaces = this.limits.get(part) ?? [];
    return namespaces.length === 0 || namespaces.includes(name.split("/")[0]!);
  }

  set(name: string, entries: readonly Entry[] | undefined): void {
    const map = new Map((entries ?? []).map((one) => [one.name, one]));
    const at = this.#parts.findIndex((part) => part.name === name);
    if (at >= 0 && (entries !== undefined || name === "")) this.#parts[at] = { name, entries: map };
    else if (at >= 0) this.#parts.splice(at, 1);
    else if (entries !== undefined) this.#parts.push({ name, entries: map });
  }

  step(merge: MergeMode): void {
    const order = this.#parts.map(({ name }) => name);
    const claims = this.#claims();
    const strong = claims.map((claim) => ({ claim, strength: this.#strength(claim, claims) }));
    strong.sort((a, b) =>
      a.strength - b.strength || order.indexOf(a.claim.part) - order.indexOf(b.claim.part) ||
      (a.claim.entry.name < b.claim.entry.name ? -1 : 1)
    );
    const leaders: Claim[] = [];
    for (const { claim } of strong) {
      if (!leaders.some((l) => contend(l, claim))) leaders.push(claim);
    }
    this.leaders = new Map(leaders.map((claim) => [claim.entry.name, claim]));
    const others = claims.filter((claim) => !leaders.includes(claim));
    others.sort((a, b) =>
      order.indexOf(a.part) - order.indexOf(b.part) || (a.entry.name < b.entry.name ? -1 : 1)
    );
    this.#serve(others, merge);
  }

  #serve(others: readonly Claim[], merge: MergeMode): void {
    const members = new Map([...this.leaders].map(([name, leader]) => [name, [leader]]));
    this.refused = new Set();
    const byName = [...this.leaders.keys()].sort();
    for (const other of others) {
      const target = byName.find((name) => haveEqualHosts(this.leaders.get(name)!, other));
      const isMerged = merge === "endpoints" && target !== undefined &&
        this.leaders.get(target)!.entry.port === other.entry.port &&
        this.mayFill(other.part, target) && members.get(target)!.length <= MERGED;
      if (isMerged) members.get(target)!.push(other);
      else this.refused.add(other.entry.name);
    }
    this.served = new Map([...members].map(([name, claims]) => {
      const addresses = new Map<string, string>();
      for (const { part, entry: { addresses: own } } of claims) {
        const label = claims.length === 1 ? "" : part === "" ? "local" : part;
        for (const address of own) if (!addresses.has(address)) addresses.set(address, label);
      }
      const texts = [...addresses].map(([address, label]) => `${address} ${label}`);
      return [name, { part: claims[0]!.part, addresses: texts.sort() }];
    }));
  }

  #claims(): Claim[] {
    const names = new Set(this.#parts.flatMap(({ entries }) => [...entries.keys()]));
    const holders = new Map<string, string>();
    for (const name of names) {
      const offers = this.#parts.filter(({ entries }) => entries.has(name)).map((p) => p.name);
      const had = this.#holders.get(name);
      const keeps = offers[0] !== "" && had !== undefined && offers.includes(had);
      holders.set(name, keeps ? had : offers[0]!);
    }
    this.#holders = holders;
    return [...holders].map(([name, part]) => ({
      part,
      entry: this.#parts.find((one) => one.name === part)!.entries.get(name)!,
    }));
  }

  #strength(claim: Claim, claims: readonly Claim[]): number {
    if (claim.part === "") return 0;
    return this.#hold(claim, claims) + (this.#overreaches(claim, claims) ? 3 : 0);
  }

  #overreaches(claim: Claim, claims: readonly Claim[]): boolean {
    return claims.some((other) =>
      contend(claim, other) && !this.mayFill(claim.part, other.entry.name) &&
      this.mayFill(other.part, claim.entry.name)
    );
  }

  #hold(claim: Claim, claims: readonly Claim[]): number {
    const had = this.leaders.get(claim.entry.name);
    if (had?.part !== claim.part) return 3;
    const contested = claim.entry.hosts.filter((host) =>
      claims.some(({ part, entry }) => part !== claim.part && entry.hosts.includes(host))
    );
    const kept = contested.filter((host) => had.entry.hosts.includes(host)).length;
    return kept === contested.length ? 1 : kept > 0 ? 2 : 3;
  }
}

function contend(a: Claim, b: Claim): boolean {
  return a.part !== b.part && a.entry.hosts.some((host) => b.entry.hosts.includes(host));
}

function haveEqualHosts(a: Claim, b: Claim): boolean {
  const [one, two] = [a, b].map(({ entry }) => [...entry.hosts].sort().join());
  return one === two;
}

type Step =
  | { readonly do: "set"; readonly part: string; readonly entries: readonly Entry[] }
  | { readonly do: "remove"; readonly part: string }
  | { readonly do: "edit"; readonly part: string; readonly entry: Entry; readonly isGone: boolean }
  | { readonly do: "allow"; readonly part: string; readonly namespaces: readonly string[] }
  | { readonly do: "merge"; readonly merge: MergeMode };

const PARTS = ["", "a", "b", "c"];
const part = fc.constantFrom(...PARTS);
const someEntry: fc.Arbitrary<Entry> = fc.record({
  name: fc.constantFrom("m/v", "m/w", "n/x", "n/y", "n/z", "o/z"),
  hosts: fc.uniqueArray(fc.constantFrom("h1", "h2", "h3", "h4", "*.h"), { maxLength: 3 }),
  port: fc.constantFrom(80, 80, 80, 81),
  addresses: fc.uniqueArray(fc.constantFrom("10.0.0.1", "10.0.0.2", "10.0.0.3"), { maxLength: 2 }),
});
const someEntries = fc.uniqueArray(someEntry, { maxLength: 5, selector: ({ name }) => name });
const mode = fc.constantFrom<MergeMode>("refuse", "endpoints");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("set" as const), part, entries: someEntries }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), part }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("edit" as const),
      part,
      entry: someEntry,
      isGone: fc.integer({ max: 3, min: 0 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("merge" as const), merge: mode }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("allow" as const),
      part: fc.constantFrom("a", "b", "c"),
      namespaces: fc.subarray(["m", "n", "o"]),
    }),
  },
);

/** Schedules in which most sources are limited from the start. */
const limitedSteps = fc.tuple(
  fc.record({ a: fc.subarray(["m", "n"]), b: fc.constantFrom(["m"], ["n", "o"]) }),
  fc.array(step, { maxLength: 40 }),
).map(([limits, steps]): readonly Step[] => [
  ...Object.entries(limits).map(([part, namespaces]) => ({
    do: "allow" as const,
    part,
    namespaces,
  })),
  ...steps,
]);

function toResource({ name, hosts, port, addresses }: Entry): Resource {
  return entry(name, {
    hosts,
    ports: [{ number: port, protocol: "HTTP", name: "http" }],
    endpoints: addresses.map((address) => ({ address })),
  });
}

/** Both, side by side. */
class World {
  readonly model = new Model();
  readonly union: Union;
  readonly parts = new Map<string, ReadonlyMap<string, Entry>>();
  merge: MergeMode;

  constructor(merge: MergeMode) {
    this.merge = merge;
    this.union = new Union({ merge, bounds: { entries: MERGED, bytes: 1_000_000 } });
  }

  do(step: Step): void {
    if (step.do === "merge") this.union.setMerge(this.merge = step.merge);
    else if (step.do === "allow") {
      this.model.limits.set(step.part, step.namespaces);
      this.union.allow(step.part, step.namespaces);
    } else if (step.do === "remove") this.#set(step.part, undefined);
    else if (step.do === "set") this.#set(step.part, step.entries);
    else {
      const map = new Map(this.parts.get(step.part));
      if (step.isGone) map.delete(step.entry.name);
      else map.set(step.entry.name, step.entry);
      this.#set(step.part, [...map.values()]);
    }
    this.model.step(this.merge);
  }

  #set(name: string, list: readonly Entry[] | undefined): void {
    if (list === undefined) this.parts.delete(name);
    else this.parts.set(name, new Map(list.map((one) => [one.name, one])));
    this.model.set(name, list);
    this.union.set(name, list === undefined ? undefined : entries(...list.map(toResource)));
  }

  served(): Map<string, Served> {
    return new Map(Array.from(this.union.collections.get("ServiceEntry")!, (resource) => {
      const addresses = decoded(resource).endpoints.map(({ address, labels }) =>
        `${address} ${labels["pinnace-source"] ?? ""}`
      );
      const owner = this.union.owner("ServiceEntry", resource.name)!;
      return [resource.name, { part: owner, addresses: addresses.sort() }];
    }));
  }
}

const sorted = (map: ReadonlyMap<string, Served>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

Deno.test("union: whatever comes and goes, it is what a recomputation says", () => {
  fc.assert(
    fc.property(mode, fc.oneof(fc.array(step, { maxLength: 25 }), limitedSteps), (merge, steps) => {
      const world = new World(merge);
      for (const one of steps) {
        world.do(one);
        assertEquals(sorted(world.served()), sorted(world.model.served));
        const refused = world.union.findings()
          .filter(({ rule }) => rule === "receive/contested-host").map(({ subject }) => subject!);
        assertEquals(refused.sort(), [...world.model.refused].sort());
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("union: who is served stays served while it stays as it is and no one writes it in our own files", () => {
  fc.assert(
    fc.property(mode, fc.array(step, { maxLength: 25 }), (merge, steps) => {
      const world = new World(merge);
      for (const one of steps) {
        const before = [...world.model.leaders.values()];
        world.do(one);
        if (one.do === "allow" || (one.do !== "merge" && one.part === "")) continue;
        for (const { part, entry } of before) {
          // A limited one makes way for an entry where it has no say.
          if ((world.model.limits.get(part) ?? []).length > 0) continue;
          const still = world.parts.get(part)?.get(entry.name);
          if (still === undefined || toResource(still).version !== toResource(entry).version) {
            continue;
          }
          assertEquals(world.union.owner("ServiceEntry", entry.name), part);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("union: no host is served from two parts, and nothing is left out without reason", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const world = new World("refuse");
      for (const one of steps) {
        if (one.do === "merge") continue;
        world.do(one);
        const served = Array.from(
          world.union.collections.get("ServiceEntry")!,
          ({ name }) => ({ name, part: world.union.owner("ServiceEntry", name)! }),
        );
        const owners = new Map<string, string>();
        for (const { name, part } of served) {
          for (const host of world.parts.get(part)!.get(name)!.hosts) {
            assertEquals(owners.get(host) ?? part, part);
            owners.set(host, part);
          }
        }
        const subjects = new Set(world.union.findings().map(({ subject }) => subject));
        const names = new Set(served.map(({ name }) => name));
        for (const map of world.parts.values()) {
          for (const name of map.keys()) assert(names.has(name) || subjects.has(name));
        }
      }
    }),
    { numRuns: RUNS },
  );
});

Deno.test("union: after a restart what was served is served again", () => {
  const ownAddress = (list: readonly Entry[], part: string) =>
    list.map((one) => ({ ...one, addresses: [`10.1.0.${1 + PARTS.indexOf(part)}`] }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.shuffledSubarray(PARTS, { minLength: 4 }), (
      steps,
      order,
    ) => {
      const world = new World("refuse");
      for (const one of steps) {
        if (one.do === "set") world.do({ ...one, entries: ownAddress(one.entries, one.part) });
        else if (one.do === "edit") {
          world.do({ ...one, entry: ownAddress([one.entry], one.part)[0]! });
        } else if (one.do === "remove") world.do(one);
      }
      const served = world.union.collections;
      const restarted = new Union({ merge: "refuse", served });
      for (const [part, namespaces] of world.model.limits) restarted.allow(part, namespaces);
      for (const part of order) {
        const list = world.parts.get(part);
        if (list !== undefined) restarted.set(part, entries(...[...list.values()].map(toResource)));
      }
      const after = restarted.collections.get("ServiceEntry")!;
      for (const { name, version } of served.get("ServiceEntry")!) {
        assertEquals(after.get(name)?.version, version);
      }
    }),
    { numRuns: RUNS },
  );
});
