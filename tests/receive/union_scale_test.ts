/** That a change costs what it changes, however much there is. */
import { assert, assertEquals } from "@std/assert";
import { formatFinding } from "../../lib/model/finding.ts";
import { MCP_RESOURCE_TYPE_URL } from "../../lib/model/kind.ts";
import type { Resource } from "../../lib/model/resource.ts";
import { Union } from "../../lib/receive/union.ts";
import { Collection } from "../../lib/snapshot/collection.ts";
import { decoded, entries, entry } from "./entries.ts";
import { at, served, shared } from "./unions.ts";

/** The same, but counts how often its bytes are looked at. */
function counted(one: Resource, count: () => void): Resource {
  const { name, version, bytes } = one;
  return {
    name,
    version,
    get bytes() {
      count();
      return bytes;
    },
  };
}

Deno.test("union: a change among 20,000 entries of one host looks at that entry and at those in its group", () => {
  let looks = 0;
  const count = () => void looks++;
  const one = (index: number, address: string) =>
    counted(entry(`b/e-${index}`, { hosts: ["h"], ...at(address) }), count);
  const many = Collection.of(
    MCP_RESOURCE_TYPE_URL,
    Array.from({ length: 20_000 }, (_, index) => one(index, "10.0.0.1")),
  );
  for (const merge of ["refuse", "endpoints"] as const) {
    const union = new Union({ merge });
    union.allow("b", ["a", "b"]);
    union.set("a", entries(entry("a/first", { hosts: ["h"] })));
    union.set("b", new Map([["ServiceEntry", many]]));
    looks = 0;
    let next = many;
    const started = performance.now();
    for (let index = 0; index < 20; index++) {
      next = next.patch([one(index, `10.0.1.${index}`)], []);
      union.set("b", new Map([["ServiceEntry", next]]));
    }
    const each = (performance.now() - started) / 20;
    // Once over 1,000 ms for each, since all were decided and decoded anew.
    assert(each < 500, `${merge}: ${each} ms`);
    assert(looks < 20 * 25_000, `${merge}: ${looks} looks, at lengths above all`);
    assertEquals(union.collections.get("ServiceEntry")!.size, 1);
  }
});

Deno.test("union: a change in one of two parts of 5,000 touches few", () => {
  let looks = 0;
  const count = () => void looks++;
  // Every tenth host is contested.
  const many = (part: string) =>
    Collection.of(
      MCP_RESOURCE_TYPE_URL,
      Array.from({ length: 5000 }, (_, i) => {
        const host = i % 10 === 0 ? `shared-${i}` : `${part}-${i}`;
        return counted(entry(`${part}/e-${i}`, { hosts: [host], ...at("10.0.0.1") }), count);
      }),
    );
  const [a, b] = [many("a"), many("b")];
  const union = new Union({ merge: "endpoints" });
  union.set("a", new Map([["ServiceEntry", a]]));
  union.set("b", new Map([["ServiceEntry", b]]));
  assertEquals(union.collections.get("ServiceEntry")!.size, 9500);
  assert(looks >= 10_000, "each was decoded once");
  const patch = (resources: readonly Resource[]) => {
    const next = b.patch(resources, []);
    looks = 0;
    union.set("b", new Map([["ServiceEntry", next]]));
    return looks;
  };
  const alone = patch([counted(entry("b/e-1", { hosts: ["b-1"], ...at("10.0.0.2") }), count)]);
  assert(alone < 1500, `${alone} looks: at one entry, and at lengths in its leaf`);
  const shared = patch([
    counted(entry("b/e-10", { hosts: ["shared-10"], ...at("10.0.0.2") }), count),
  ]);
  assert(shared < 3000, `${shared} looks`);
  const merged = decoded(union.collections.get("ServiceEntry")!.get("a/e-10"));
  assertEquals(merged.endpoints.map(({ address }) => address), ["10.0.0.1", "10.0.0.2"]);
});

Deno.test("union, merging: what is merged into one entry is bounded, by number and by size", () => {
  const others = (count: number, address: string) =>
    Array.from({ length: count }, (_, i) => shared(`n/y-${`${i}`.padStart(4, "0")}`, [address]));
  const few = { entries: 3, bytes: 10_000 };
  const union = new Union({ merge: "endpoints", bounds: few });
  union.set("a", entries(shared("n/x", ["10.0.0.1"])));
  union.set("b", entries(...others(5, "10.0.0.2")));
  union.set("c", entries(shared("n/a", ["10.0.0.3"])));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b"], "those of b come before c's");
  const [found, ...more] = union.findings();
  assertEquals(more.length, 2);
  assertEquals(
    formatFinding(found!),
    'error: n/y-0003: n/y-0003 of source "b" is not served: its host "h" is that of n/x of source "a" ' +
      "already, and it has the endpoints of as many others as it may (3 entries, 10 KiB); put the " +
      "endpoints into fewer entries, or give some of them another host [receive/contested-host]",
  );
  union.set("b", entries(...others(2, "10.0.0.2")));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.2@b 10.0.0.3@c"]);
  assertEquals(union.findings(), []);
  const large = shared(
    "n/y-0000",
    Array.from({ length: 800 }, (_, i) => `10.1.${i >> 8}.${i & 255}`),
  );
  union.set("b", entries(large));
  assertEquals(served(union), ["n/x a: 10.0.0.1@a 10.0.0.3@c"], "a small one after it has room");
  assertEquals(union.findings().map(({ subject }) => subject), ["n/y-0000"]);
});
