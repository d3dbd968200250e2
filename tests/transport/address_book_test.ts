import { assert, assertEquals } from "@std/assert";
import { AddressBook } from "../../lib/transport/address_book.ts";
import { SharedLookUps } from "../../lib/transport/shared_look_ups.ts";
import { FakeClock, settle } from "../rollout/fake_clock.ts";

/** An address book whose resolver is the test. */
class Desk implements AsyncDisposable {
  readonly clock = new FakeClock();
  /** What each name stands for; an Error is thrown; a name that is not here hangs. */
  readonly zone = new Map<string, readonly string[] | Error>();
  readonly asked: { readonly host: string; readonly at: number }[] = [];
  readonly told: string[][] = [];
  readonly failed: string[] = [];
  tried = 0;
  readonly hanging = new Map<string, PromiseWithResolvers<readonly string[]>>();
  random = 0.5;
  readonly book: AddressBook;

  constructor(most?: number) {
    this.book = new AddressBook({
      resolve: (host) => this.#resolve(host),
      clock: this.clock,
      random: () => this.random,
      onChange: (names) => this.told.push([...names].sort()),
      onFailure: (host) => this.failed.push(host),
      onTried: () => this.tried++,
      ...(most === undefined ? {} : { most }),
    });
  }

  /** When a name was asked for, in milliseconds from the beginning. */
  times(host: string): number[] {
    return this.asked.filter((one) => one.host === host).map(({ at }) => at - 1_000_000);
  }

  async [Symbol.asyncDispose]() {
    await this.book[Symbol.asyncDispose]();
    assertEquals(this.clock.sleeping, 0);
  }

  async #resolve(host: string): Promise<readonly string[]> {
    this.asked.push({ host, at: this.clock.now() });
    const known = this.zone.get(host);
    if (known instanceof Error) throw known;
    if (known !== undefined) return known;
    const hanging = Promise.withResolvers<readonly string[]>();
    this.hanging.set(host, hanging);
    return await hanging.promise;
  }
}

Deno.test("address book: a wanted name is looked up at once; its addresses are sorted, each once", async () => {
  await using desk = new Desk();
  desk.zone.set("a.example", [
    "192.0.2.9",
    "2001:db8::1",
    "192.0.2.10",
    "192.0.2.9",
    "fe80::1%eth0",
  ]);
  assertEquals(desk.book.get("a.example"), undefined);
  assertEquals(desk.book.want(["a.example"]), 0);
  await settle();
  assertEquals(desk.book.get("a.example"), ["192.0.2.10", "192.0.2.9", "2001:db8::1"]);
  assertEquals([desk.book.get("b.example"), desk.book.status("b.example")], [undefined, undefined]);
  assertEquals(desk.told, [["a.example"]]);
});

Deno.test("address book: names are looked up again every 30 s, and only what changed is told, once", async () => {
  await using desk = new Desk();
  for (const name of ["a", "b", "c"]) desk.zone.set(name, ["192.0.2.1"]);
  desk.book.want(["a", "b", "c"]);
  await settle();
  desk.zone.set("a", ["192.0.2.2"]);
  desk.zone.set("c", ["192.0.2.3", "192.0.2.4"]);
  await desk.clock.advance(29_999);
  assertEquals(desk.told, [["a", "b", "c"]]);
  await desk.clock.advance(500);
  assertEquals(desk.told, [["a", "b", "c"], ["a", "c"]]);
  await desk.clock.advance(90_000);
  assertEquals(desk.told.length, 2);
  for (const name of ["a", "b", "c"]) assertEquals(desk.times(name).length, 5);
});

Deno.test("address book: the time between look-ups is a tenth more or less", async () => {
  for (const [random, least, most] of [[0, 27_000, 27_500], [1, 33_000, 33_500]] as const) {
    await using desk = new Desk();
    desk.random = random;
    desk.zone.set("a", ["192.0.2.1"]);
    desk.book.want(["a"]);
    await desk.clock.advance(40_000);
    const [, again] = desk.times("a");
    assert(again! >= least && again! <= most, `${again}`);
  }
});

Deno.test("address book: a name that is not found is looked up again sooner, each time later, and keeps its last addresses", async () => {
  await using desk = new Desk();
  desk.random = 0; // the whole delay
  desk.zone.set("a", ["192.0.2.1"]);
  desk.book.want(["a", "b"]);
  desk.zone.set("b", new Error("ENOTFOUND"));
  await settle();
  assertEquals(desk.book.status("b"), { failure: "ENOTFOUND" });
  desk.zone.set("a", new Error("EAI_AGAIN"));
  await desk.clock.advance(27_500);
  assertEquals(desk.book.status("a"), { addresses: ["192.0.2.1"], failure: "EAI_AGAIN" });
  const times = desk.times("b");
  const gaps = times.slice(1).map((at, i) => Math.round((at - times[i]!) / 1000));
  assertEquals(gaps, [1, 2, 4, 8]);
  desk.zone.set("b", []);
  await desk.clock.advance(200_000);
  assertEquals(desk.book.status("b"), { failure: "no address is behind that name" });
  const later = desk.times("b").slice(-2);
  assertEquals(Math.round((later[1]! - later[0]!) / 1000), 30);
  assertEquals(desk.told, [["a"]]);
  desk.zone.set("b", ["192.0.2.7"]);
  await desk.clock.advance(31_000);
  assertEquals(desk.told, [["a"], ["b"]]);
  assertEquals(desk.book.status("b"), { addresses: ["192.0.2.7"] });
});

Deno.test("address book: a name that fails is told once until it is found, and listed with the reason", async () => {
  await using desk = new Desk();
  desk.zone.set("a.example", ["192.0.2.1"]).set("b.example", new Error("no such name"));
  desk.book.want(["a.example", "b.example"]);
  await settle();
  assertEquals(desk.book.failing(), [["b.example", { failure: "no such name" }]]);
  await desk.clock.advance(5000);
  assertEquals(desk.failed, ["b.example"]);
  desk.zone.set("b.example", ["192.0.2.2"]);
  await desk.clock.advance(60_000);
  assertEquals([desk.book.failing(), desk.failed], [[], ["b.example"]]);
  desk.zone.set("b.example", new Error("gone"));
  await desk.clock.advance(40_000);
  const status = { addresses: ["192.0.2.2"], failure: "gone" };
  assertEquals([desk.book.failing(), desk.failed.length], [[["b.example", status]], 2]);
});

Deno.test("address book: what is not wanted any more is forgotten, also while it is looked up", async () => {
  await using desk = new Desk();
  desk.zone.set("a", ["192.0.2.1"]);
  desk.book.want(["a", "hangs"]);
  await settle();
  desk.book.want(["b"]);
  desk.zone.set("b", ["192.0.2.2"]);
  desk.hanging.get("hangs")!.resolve(["192.0.2.3"]);
  await desk.clock.advance(100_000);
  assertEquals([desk.book.get("a"), desk.book.get("hangs")], [undefined, undefined]);
  assertEquals(desk.times("a").length, 1);
  assertEquals(desk.told, [["b"]]);
});

Deno.test("address book: of more names than it takes those known stay, and it says how many are left out", async () => {
  await using desk = new Desk(3);
  for (const name of ["a", "b", "c", "d", "e"]) desk.zone.set(name, ["192.0.2.1"]);
  assertEquals(desk.book.want(["a", "b"]), 0);
  await settle();
  assertEquals(desk.book.want(["e", "d", "c", "b"]), 1);
  await desk.clock.advance(1000);
  assertEquals(["a", "b", "c", "d", "e"].filter((name) => desk.book.get(name)), ["b", "d", "e"]);
});

Deno.test("address book: a few look-ups run at once, and names that hang hold up no others", async () => {
  await using desk = new Desk();
  const hanging = Array.from({ length: 20 }, (_, i) => `hangs-${i}`);
  desk.zone.set("good", ["192.0.2.1"]);
  desk.book.want([...hanging, "good"]);
  await settle();
  assertEquals(desk.asked.length, 8);
  await desk.clock.advance(10_000);
  assertEquals(desk.book.get("good"), ["192.0.2.1"]);
  assertEquals(desk.hanging.size, 20);
  await desk.clock.advance(100_000);
  for (const name of hanging) assertEquals(desk.times(name).length, 1);
  assert(desk.times("good").length >= 4);
});

Deno.test("address book: of hundreds of names that hang some wait, and all are looked up once others are given up", async () => {
  await using desk = new Desk();
  const hanging = Array.from({ length: 300 }, (_, i) => `hangs-${i}`);
  desk.book.want(hanging);
  let most = 0;
  for (
    let seconds = 0;
    seconds < 600 && new Set(desk.asked.map((a) => a.host)).size < 300;
    seconds++
  ) {
    await desk.clock.advance(1000);
    most = Math.max(most, desk.hanging.size);
    if (seconds % 20 !== 19) continue;
    const given = [...desk.hanging.values()];
    desk.hanging.clear();
    for (const { reject } of given) reject(new Error("EAI_AGAIN"));
    await settle();
  }
  assertEquals(most, 72);
  for (const name of hanging) assert(desk.times(name).length >= 1, name);
});

Deno.test("address book: ten thousand names are told in a few batches, and cost little while nothing is due", async () => {
  await using desk = new Desk();
  const names = Array.from({ length: 10_000 }, (_, i) => `s${i}.example`);
  for (const name of names) desk.zone.set(name, ["192.0.2.1"]);
  assertEquals(desk.book.want(names), 0);
  for (let i = 0; i < 40 && desk.told.flat().length < names.length; i++) {
    await desk.clock.advance(250);
  }
  assertEquals(desk.told.flat().length, names.length);
  assert(desk.told.length <= 40, `${desk.told.length} batches`);
});

Deno.test("address book: after its end nothing is looked up or told", async () => {
  const desk = new Desk();
  desk.book.want(["hangs"]);
  await settle();
  await desk.book[Symbol.asyncDispose]();
  desk.hanging.get("hangs")!.resolve(["192.0.2.1"]);
  desk.book.want(["a"]);
  await desk.clock.advance(100_000);
  assertEquals([desk.asked.length, desk.told], [1, []]);
});

Deno.test("address book: with the look-ups of the process an address is its own", async () => {
  const clock = new FakeClock();
  const lookUps = new SharedLookUps(() => Promise.reject(new Error("not asked for")), clock);
  const told: string[] = [];
  await using book = new AddressBook({
    resolve: (host) => lookUps.find(host),
    clock,
    random: Math.random,
    onChange: (names) => told.push(...names),
  });
  book.want(["192.0.2.1", "2001:db8::1"]);
  await settle();
  assertEquals([book.get("192.0.2.1"), book.get("2001:db8::1")], [["192.0.2.1"], ["2001:db8::1"]]);
  assertEquals(told, ["192.0.2.1", "2001:db8::1"]);
});

Deno.test("address book: a name is pending until something came of it, 5 s at most, which is told", async () => {
  await using desk = new Desk();
  const pending = () => ["found", "lost", "hangs"].filter((name) => desk.book.pending(name));
  desk.zone.set("found", ["192.0.2.1"]);
  desk.book.want(["found", "hangs"]);
  assertEquals(pending(), ["found", "hangs"]);
  await desk.clock.advance(300);
  assertEquals([pending(), desk.told.length, desk.tried], [["hangs"], 1, 0]);
  desk.zone.set("lost", new Error("ENOTFOUND"));
  desk.book.want(["found", "hangs", "lost"]);
  assertEquals(pending(), ["lost", "hangs"]);
  await desk.clock.advance(300);
  assertEquals([pending(), desk.told.length, desk.tried], [["hangs"], 1, 1]);
  await desk.clock.advance(4300);
  assertEquals(pending(), ["hangs"]);
  await desk.clock.advance(500);
  assertEquals([pending(), desk.told.length, desk.tried], [[], 1, 2]);
  desk.hanging.get("hangs")!.resolve(["192.0.2.2"]);
  await desk.clock.advance(300);
  assertEquals([desk.told.at(-1), desk.tried], [["hangs"], 2]);
});
