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
import { type Entry, MERGED, Model, type Served } from "./union_model.ts";

/** Schedules per test; more by hand: MODEL_RUNS=20000 deno test --allow-read --allow-env tests/receive/union_model_test.ts */
const RUNS = Number(Deno.env.get("MODEL_RUNS") ?? 1000);

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
