/** What a snapshot remembers of who gave what, and that it suffices to begin again as one was. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { MergeMode } from "../../lib/model/settings.ts";
import { limitToNames } from "../../lib/receive/limit_set.ts";
import { Origins, servedBySource } from "../../lib/receive/origins.ts";
import { Union } from "../../lib/receive/union.ts";
import type { Collections } from "../../lib/rollout/parts.ts";
import { entries, entry } from "./entries.ts";

/** Who gives what is served, our own apart. */
function owners(origins: Collections): Record<string, string> {
  const all = [...origins.values()].flatMap((collection) => [...collection]);
  return Object.fromEntries(all.map(({ name, version }) => [name, version]));
}

Deno.test("origins: who gives what is followed; our own is nobody's", () => {
  const union = new Union({ merge: "refuse" });
  const origins = new Origins(union);
  const now = () => owners(origins.now());
  union.set("", entries(entry("own/o")));
  union.set("edge", entries(entry("e/a"), entry("e/b")));
  assertEquals(now(), { "e/a": "edge", "e/b": "edge" });
  union.set("other", entries(entry("e/a", { hosts: ["another.example.com"] }), entry("o/z")));
  assertEquals(now(), { "e/a": "edge", "e/b": "edge", "o/z": "other" });
  union.set("edge", entries(entry("e/b")));
  assertEquals(now(), { "e/a": "other", "e/b": "edge", "o/z": "other" });
  union.set("", entries(entry("own/o"), entry("e/b", { hosts: ["mine.example.com"] })));
  assertEquals(now(), { "e/a": "other", "o/z": "other" });
  assertEquals(origins.now(), origins.now(), "nothing changed");
});

Deno.test("origins: what was served of each source is found in a snapshot", () => {
  const union = new Union({ merge: "refuse" });
  union.set("", entries(entry("own/o")));
  union.set("edge", entries(entry("e/a"), entry("e/b")));
  union.set("other", entries(entry("e/a", { hosts: ["another.example.com"] }), entry("o/z")));
  const found = servedBySource(union.collections, new Origins(union).now());
  const names = [...found].map(([source, kinds]) =>
    `${source}: ${Array.from(kinds.get("ServiceEntry")!, ({ name }) => name).join(" ")}`
  );
  assertEquals(names.sort(), ["edge: e/a e/b", "other: o/z"]);
});

/** Schedules per test; more by hand: MODEL_RUNS=20000. */
const RUNS = Number(Deno.env.get("MODEL_RUNS") ?? 300);

const PARTS = ["", "a", "b", "c"];

const step = fc.record({
  part: fc.constantFrom(...PARTS),
  gives: fc.option(fc.uniqueArray(
    fc.record({
      name: fc.constantFrom("n/v", "n/w", "n/x", "n/y"),
      hosts: fc.uniqueArray(fc.constantFrom("h1.example", "h2.example", "h3.example"), {
        minLength: 1,
        maxLength: 2,
      }),
      address: fc.constantFrom("10.0.0.1", "10.0.0.2"),
    }),
    { maxLength: 4, selector: ({ name }) => name },
  )),
});

for (const merge of ["refuse", "endpoints"] satisfies MergeMode[]) {
  Deno.test(`origins: begun again in any order (${merge}), everyone has what they had`, () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 20 }),
        fc.shuffledSubarray(PARTS.slice(1), {
          minLength: 3,
        }),
        (steps, order) => {
          const union = new Union({ merge });
          const origins = new Origins(union);
          const parts = new Map<string, Collections>();
          for (const { part, gives } of steps) {
            const given = gives?.map(({ name, hosts, address }) =>
              entry(name, { hosts, endpoints: [{ address }] })
            );
            const collections = given && entries(...given);
            if (collections === undefined) parts.delete(part);
            else parts.set(part, collections);
            union.set(part, collections ?? (part === "" ? entries() : undefined));
            origins.now();
          }
          const before = owners(origins.now());
          const bySource = servedBySource(union.collections, origins.now());
          const again = new Union({ merge, served: union.collections });
          again.set("", parts.get("") ?? entries());
          const there = order.filter((part) => parts.has(part));
          for (const part of there) {
            again.set(part, limitToNames(parts.get(part)!, bySource.get(part) ?? new Map()));
          }
          for (const part of there) again.set(part, parts.get(part)!);
          again.settle();
          const after = owners(new Origins(again).now());
          assertEquals({ ...after, ...before }, after);
        },
      ),
      { numRuns: RUNS },
    );
  });
}
