/**
 * What is offered after refusals, against the plain definition of it written over maps.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { unknownResource } from "../../lib/protocol/held.ts";
import { named } from "../../lib/protocol/named.ts";
import { Parking, type Proposal } from "../../lib/protocol/parking.ts";
import type { Collection } from "../../lib/snapshot/collection.ts";
import { collectionOf, type Contents } from "./fixtures.ts";

const NAMES = ["a", "b", "c", "d"];
const NOTHING = collectionOf({});

const contents: fc.Arbitrary<Contents> = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.constantFrom("1", "2", "3"),
  { noNullPrototype: true },
);

/** A peer that refuses whatever holds one of these pairs. */
const poison = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom("1", "2", "3")).map((pair) => pair.join("@")),
  { maxLength: 4 },
);

/** The definition, without any sharing: maps, and names parked with the version refused. */
class Definition {
  accepted: Contents | undefined;
  parked = new Map<string, string | undefined>();
  readonly refused = new Map<string, readonly string[]>();

  constructor(accepted: Contents | undefined) {
    this.accepted = accepted;
  }

  offer(target: Contents): Contents | undefined {
    const { accepted } = this;
    const touched = [...this.parked].some(([name, version]) => target[name] !== version);
    const held = accepted !== undefined && !touched;
    const first = held ? back(target, [...this.parked.keys()], accepted) : target;
    if (!held) this.parked.clear();
    const news = this.refused.get(key(first));
    if (news === undefined) return first;
    if (accepted === undefined) return undefined;
    this.parked = differences(target, accepted);
    return [back(first, news, accepted), accepted].find((c) => !this.refused.has(key(c)));
  }

  accept(target: Contents, offered: Contents): void {
    this.accepted = offered;
    this.parked = differences(target, offered);
  }

  refuse(target: Contents, offered: Contents): void {
    const accepted = this.accepted ?? {};
    this.refused.set(key(offered), [...differences(offered, accepted).keys()]);
    this.parked = differences(target, accepted);
  }
}

function key(contents: Contents): string {
  return JSON.stringify(Object.entries(contents).sort());
}

function differences(target: Contents, from: Contents): Map<string, string | undefined> {
  const names = NAMES.filter((name) => target[name] !== from[name]);
  return new Map(names.map((name) => [name, target[name]]));
}

function back(target: Contents, names: readonly string[], accepted: Contents): Contents {
  const kept = Object.entries(target).filter(([name]) => !names.includes(name));
  return Object.fromEntries([
    ...kept,
    ...Object.entries(accepted).filter(([name]) => names.includes(name)),
  ]);
}

function plain(collection: Collection | undefined): Contents | undefined {
  return collection === undefined
    ? undefined
    : Object.fromEntries([...collection].map(({ name, version }) => [name, version]));
}

function refuse(parking: Parking, proposal: Proposal): void {
  parking.refuse(proposal, proposal.collection.diff(parking.accepted ?? NOTHING));
}

for (const start of [undefined, {}]) {
  const from = start === undefined ? "where nothing is known" : "from nothing";
  Deno.test(`parking: what is offered is what the definition says, ${from}`, () => {
    fc.assert(
      fc.property(fc.array(contents, { maxLength: 30, size: "max" }), poison, (targets, bad) => {
        const parking = new Parking();
        const definition = new Definition(start);
        if (start !== undefined) parking.told(NOTHING);
        const refused = new Set<string>();
        for (const target of targets) {
          // Each target is offered until nothing new comes: a refusal may give a second offer.
          for (let turn = 0;; turn++) {
            assert(turn < 5, "offers go round in circles");
            const proposal = parking.propose(collectionOf(target), true);
            const offered = definition.offer(target);
            assertEquals(plain(proposal?.collection), offered);
            if (proposal === undefined || offered === undefined) break;
            assert(!refused.has(key(offered)), "offers what was refused");
            const news = parking.accepted?.version !== proposal.collection.version;
            if (!news) break;
            if (Object.entries(offered).some((pair) => bad.includes(pair.join("@")))) {
              refused.add(key(offered));
              refuse(parking, proposal);
              definition.refuse(target, offered);
            } else {
              parking.accept(proposal);
              definition.accept(target, offered);
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });
}

Deno.test("parking: of a peer that refuses without end only the latest refusals are remembered", () => {
  const parking = new Parking();
  for (let i = 0; i < 300; i++) {
    refuse(parking, parking.propose(collectionOf({ a: `${i}` }), true)!);
  }
  assertEquals(parking.propose(collectionOf({ a: "299" }), true), undefined);
  assertEquals(parking.propose(collectionOf({ a: "44" }), true), undefined);
  assertEquals(plain(parking.propose(collectionOf({ a: "43" }), true)?.collection), { a: "43" });
});

Deno.test("parking: of a refusal too large to remember everything is held back when it comes again", () => {
  const parking = new Parking();
  const many = (version: string) =>
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`n${i}`, version]));
  parking.told(collectionOf({ x: "1" }));
  refuse(parking, parking.propose(collectionOf({ ...many("1"), x: "1" }), true)!);
  parking.accept(parking.propose(collectionOf({ ...many("2"), x: "2" }), true)!);
  const again = parking.propose(collectionOf({ ...many("1"), x: "1" }), true);
  assertEquals(plain(again?.collection), { ...many("2"), x: "2" });
});

Deno.test("parking: what is held back shares its leaves with the target", () => {
  const contents = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`s/n${i}`, "1"]));
  const parking = new Parking();
  const first = collectionOf(contents);
  parking.accept({ target: first, collection: first });
  const bad = first.patch(collectionOf({ "s/n7": "bad" }), []);
  refuse(parking, parking.propose(bad, true)!);
  const target = bad.patch(collectionOf({ "s/n4000": "2" }), []);
  const { collection } = parking.propose(target, true)!;
  assertEquals(plain(collection.diff(first).to), { ...contents, "s/n4000": "2" });
  const shared = new Set(target.pieces("mcp"));
  const own = collection.pieces("mcp").filter((piece) => !shared.has(piece));
  assertEquals(own.length, 1);
});

Deno.test("parking: a form that only the peer knows is not held back in a full push", () => {
  const parking = new Parking();
  const target = collectionOf({ a: "2", b: "1" });
  parking.told(target.patch([unknownResource("a", "1")], []));
  refuse(parking, parking.propose(target, false)!);
  const next = collectionOf({ a: "2", b: "2" });
  assertEquals(plain(parking.propose(next, false)?.collection), { a: "1", b: "2" });
  assertEquals(plain(parking.propose(next, true)?.collection), { a: "2", b: "2" });
  assertEquals(plain(parking.propose(target, false)?.collection), { a: "1", b: "1" });
  assertEquals(parking.propose(target, true), undefined);
});

Deno.test("parking: what is named is left out at once, ten times in a row at most", () => {
  const parking = new Parking();
  parking.told(NOTHING);
  const names = Array.from({ length: 15 }, (_, i) => `n${i}`);
  const target = collectionOf(Object.fromEntries(names.map((name) => [name, "1"])));
  for (let i = 0; i < 10; i++) {
    const proposal = parking.propose(target, true)!;
    assertEquals(proposal.collection.size, 15 - i);
    parking.refuse(proposal, proposal.collection.diff(NOTHING), [target.get(names[i]!)!]);
  }
  const last = parking.propose(target, true)!;
  parking.refuse(last, last.collection.diff(NOTHING), [target.get("n10")!]);
  assertEquals(parking.propose(target, true)?.collection.size, 0);
});

Deno.test("named: words of a message that are names of what changed", () => {
  const from = collectionOf({ same: "1", "o|80||a": "1" });
  const to = collectionOf({ same: "1", "o|80||a": "2", "o|80||a.b": "1", "x.": "1" });
  const names = (message: string) => named(message, to.diff(from)).map(({ name }) => name);
  assertEquals(names("Error adding/updating listener(s) o|80||a: cannot bind"), ["o|80||a"]);
  assertEquals(names("[o|80||a.b] and 'o|80||a'; o|80||a"), ["o|80||a.b", "o|80||a"]);
  assertEquals(names("same, other and o|80||a.b.c"), []);
  assertEquals(names("x. is wrong, x is not"), ["x."]);
  assertEquals(names(""), []);
});
