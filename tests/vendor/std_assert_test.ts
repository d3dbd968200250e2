import {
  assert,
  assertAlmostEquals,
  assertArrayIncludes,
  assertEquals,
  assertExists,
  assertFalse,
  assertGreater,
  assertGreaterOrEqual,
  assertInstanceOf,
  AssertionError,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertNotEquals,
  assertNotMatch,
  assertNotStrictEquals,
  assertObjectMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  equal,
  fail,
  unimplemented,
  unreachable,
} from "@std/assert";

// The assertions can't be tested with themselves alone: this one knows nothing of them.
function refuses(what: string, fn: () => void, ...parts: string[]): void {
  try {
    fn();
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    for (const part of parts) {
      if (!error.message.includes(part)) {
        throw new Error(`${what}: "${part}" is not in the message:\n${error.message}`);
      }
    }
    return;
  }
  throw new Error(`${what}: passed, but must be refused`);
}

function holds(what: string, value: boolean): void {
  if (!value) throw new Error(`does not hold: ${what}`);
}

class Point {
  constructor(readonly x: number) {}
}
class Hidden {
  readonly #x: number;
  constructor(x: number) {
    this.#x = x;
  }
  get x(): number {
    return this.#x;
  }
}
class Pixel {
  constructor(readonly x: number) {}
}

function concealing(x: number): object {
  return Object.defineProperty(new Point(1), "hidden", { value: x });
}

function ring(name: string): Record<string, unknown> {
  const made: Record<string, unknown> = { name };
  made.self = made;
  return made;
}

Deno.test("assert package: equal goes by value", () => {
  const pairs: [string, unknown, unknown][] = [
    ["NaN", NaN, NaN],
    ["zeros", [0, { a: -0 }], [-0, { a: 0 }]],
    ["keys in any order", { a: 1, b: [2] }, { b: [2], a: 1 }],
    ["no prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["dates", new Date(5), new Date(5)],
    ["broken dates", new Date("x"), new Date("y")],
    ["expressions", /a/g, /a/g],
    ["URLs", new URL("http://a/b"), new URL("http://a/b")],
    ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 2])],
    ["buffers", new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2]).buffer],
    ["floats", new Float64Array([0, NaN]), new Float64Array([-0, NaN])],
    ["maps in any order", new Map([["a", 1], ["b", 2]]), new Map([["b", 2], ["a", 1]])],
    ["maps with objects as keys", new Map([[{ a: 1 }, "x"]]), new Map([[{ a: 1 }, "x"]])],
    ["sets of objects", new Set([{ a: 1 }, { a: 2 }]), new Set([{ a: 2 }, { a: 1 }])],
    ["private state seen through a getter", new Hidden(1), new Hidden(1)],
    ["instances", new Point(1), new Point(1)],
    ["cycles", ring("a"), ring("a")],
    ["symbols as keys", { [Symbol.for("a")]: 1 }, { [Symbol.for("a")]: 1 }],
  ];
  for (const [what, a, b] of pairs) {
    holds(`${what} are equal`, equal(a, b) && equal(b, a));
    assertEquals(a, b);
    refuses(what, () => assertNotEquals(a, b), "not to be");
  }
});

Deno.test("assert package: equal tells apart what differs", () => {
  const shared = { x: 1 };
  const pairs: [string, unknown, unknown][] = [
    ["types", 1, "1"],
    ["null and undefined", null, undefined],
    ["a missing key and an undefined one", { a: 1, b: undefined }, { a: 1 }],
    ["an undefined key and another", { a: undefined }, { b: undefined }],
    ["length", [1, 2], [1, 2, undefined]],
    ["order in arrays", [1, 2], [2, 1]],
    ["array and object", [1], { 0: 1 }],
    ["classes", new Point(1), new Pixel(1)],
    ["dates", new Date(5), new Date(6)],
    ["a date and nothing", new Date("x"), new Date(0)],
    ["flags", /a/g, /a/i],
    ["bytes", new Uint8Array([1, 2]), new Uint8Array([1, 3])],
    ["kinds of bytes", new Uint8Array([1]), new Int8Array([1])],
    ["floats", new Float64Array([1]), new Float64Array([2])],
    ["map values", new Map([["a", 1]]), new Map([["a", 2]])],
    ["map keys", new Map([[{ a: 1 }, 1]]), new Map([[{ a: 2 }, 1]])],
    ["private state seen through a getter", new Hidden(1), new Hidden(2)],
    ["what an instance doesn't enumerate", concealing(1), concealing(2)],
    ["private state deep inside", [{ a: new Hidden(1) }], [{ a: new Hidden(2) }]],
    ["sets", new Set([{ a: 1 }, { a: 3 }]), new Set([{ a: 1 }, { a: 2 }])],
    ["errors made in two places", new Error("a"), new Error("a")],
    ["sets that share what differs", new Set([shared, { y: 1 }]), new Set([{ x: 2 }, { x: 3 }])],
    ["messages of errors", new Error("a"), new Error("b")],
    ["causes of errors", new Error("a", { cause: 1 }), new Error("a", { cause: 2 })],
    ["cycles", ring("a"), ring("b")],
    ["functions", () => 1, () => 1],
    ["an object and a primitive", {}, 1],
  ];
  for (const [what, a, b] of pairs) {
    holds(`${what} differ`, !equal(a, b) && !equal(b, a));
    assertNotEquals(a, b);
    refuses(what, () => assertEquals(a, b), "Values are not equal.");
  }
});

Deno.test("assert package: no member of a set stands for two", () => {
  const twins = new Set([{ a: 1 }, { a: 1 }]);
  const others = new Set([{ a: 1 }, { a: 2 }]);
  holds("they differ", !equal(twins, others) && !equal(others, twins));
});

Deno.test("assert package: what nobody can look into is not compared", () => {
  assertThrows(() => equal(new WeakMap(), new WeakMap()), TypeError, "WeakMap");
  assertThrows(() => equal(new WeakSet(), new WeakSet()), TypeError, "WeakSet");
});

Deno.test("assert package: the message shows the lines that differ, and no more", () => {
  const big = Array.from({ length: 50 }, (_, i) => `line ${i}`);
  const other = big.with(25, "changed");
  refuses(
    "arrays",
    () => assertEquals(big, other),
    "-     'line 25',",
    "+     'changed',",
    "equal",
  );
  try {
    assertEquals(big, other);
  } catch (error) {
    holds("far lines are left out", !(error as Error).message.includes("line 5'"));
  }
  refuses("texts", () => assertEquals("a\nb\nc", "a\nx\nc"), "-   b", "+   x", "    a");
  refuses("own words", () => assertEquals(1, 2, "the count"), "the count", "-   1", "+   2");
  const huge = Array.from({ length: 100_000 }, (_, i) => i);
  refuses(
    "huge values",
    () => assertEquals(huge, huge.with(99_000, -1)),
    "-     99000",
    "+     -1",
  );
});

Deno.test("assert package: strict equality goes by identity", () => {
  const one = { a: 1 };
  assertStrictEquals(one, one);
  assertStrictEquals(NaN, NaN);
  assertNotStrictEquals(one, { a: 1 });
  refuses("copies", () => assertStrictEquals(one, { a: 1 }), "same structure");
  refuses("values", () => assertStrictEquals(1, 2, "why"), "not strictly equal", "why");
  refuses("zeros", () => assertStrictEquals(0, -0));
  refuses("the same", () => assertNotStrictEquals(one, one), "not be strictly equal");
});

Deno.test("assert package: truth, presence, class", () => {
  assert(1);
  assertFalse(0);
  assertExists("");
  assertInstanceOf(new Date(), Date);
  refuses("0", () => assert(0, "because"), "because");
  refuses("1", () => assertFalse(1));
  refuses("null", () => assertExists(null), "null");
  refuses("undefined", () => assertExists(undefined, "why"), "why");
  refuses("class", () => assertInstanceOf(new Date(), Map), '"Map"', '"Date"');
  refuses("primitive", () => assertInstanceOf(null, Map), '"null"');
  refuses("fail", () => fail("now"), "Failed assertion: now");
  refuses("unreachable", () => unreachable(), "Unreachable.");
  refuses("unimplemented", () => unimplemented("later"), "Unimplemented: later");
});

Deno.test("assert package: texts", () => {
  assertMatch("a1", /\d/);
  assertNotMatch("a", /\d/);
  assertStringIncludes("abc", "b");
  refuses("match", () => assertMatch("a", /\d/), "'a'", "/\\d/");
  refuses("not match", () => assertNotMatch("a1", /\d/), "not match");
  refuses("includes", () => assertStringIncludes("abc", "x"), "'abc'", "'x'");
});

Deno.test("assert package: numbers", () => {
  assertGreater(2, 1);
  assertGreaterOrEqual(2, 2);
  assertLess(1, 2);
  assertLessOrEqual(2n, 2n);
  assertAlmostEquals(0.1 + 0.2, 0.3);
  assertAlmostEquals(1, 1.5, 0.5);
  refuses("greater", () => assertGreater(1, 1), "1 > 1");
  refuses("greater or equal", () => assertGreaterOrEqual(1, 2), "1 >= 2");
  refuses("less", () => assertLess(1, 1), "1 < 1");
  refuses("less or equal", () => assertLessOrEqual(2, 1), "2 <= 1");
  refuses("NaN", () => assertLessOrEqual(NaN, 1));
  refuses("close", () => assertAlmostEquals(1, 1.001), "close to");
  refuses("NaN", () => assertAlmostEquals(NaN, 1));
});

Deno.test("assert package: parts of arrays and objects", () => {
  assertArrayIncludes([1, { a: 1 }, 3], [{ a: 1 }, 1]);
  refuses(
    "missing",
    () => assertArrayIncludes([1, { a: 1 }], [{ a: 2 }, 1]),
    "missing: [ { a: 2 } ]",
  );
  const actual = {
    a: 1,
    list: [{ x: 1, y: 2 }, 2, 3],
    map: new Map([["k", { v: 1, w: 2 }], ["l", { v: 3, w: 4 }]]),
    set: new Set([1, 2]),
    re: /a/,
    point: new Point(1),
    none: null as null | number,
  };
  assertObjectMatch(actual, {
    list: [{ x: 1 }],
    map: new Map([["k", { v: 1 }]]),
    set: new Set([2]),
    re: /a/,
    point: { x: 1 },
    none: null,
  });
  refuses("a value", () => assertObjectMatch(actual, { a: 2 }), "-     a: 1", "+     a: 2");
  refuses("a missing key", () => assertObjectMatch(actual, { b: 1 }));
  refuses("an element", () => assertObjectMatch(actual, { list: [{ x: 2 }] }));
  refuses("too short an array", () => assertObjectMatch(actual, { list: [{}, 2, 3, 4] }));
  refuses("a map's value", () => assertObjectMatch(actual, { map: new Map([["k", { v: 2 }]]) }));
  refuses("a set's member", () => assertObjectMatch(actual, { set: new Set([3]) }));
  refuses("an expression", () => assertObjectMatch(actual, { re: /b/ }));
  refuses("nothing for something", () => assertObjectMatch(actual, { none: {} }));
  const circle = { ...ring("a"), more: 1 };
  assertObjectMatch(circle, ring("a"));
});

Deno.test("assert package: what is thrown comes back, what isn't is refused", () => {
  const error = new RangeError("too far out");
  const throwing = () => {
    throw error;
  };
  holds("the error comes back", assertThrows(throwing) === error);
  holds("typed too", assertThrows(throwing, RangeError, "far").message === "too far out");
  refuses("no throw", () => assertThrows(() => 1, Error, "", "why"), "to throw: why");
  refuses(
    "class",
    () => assertThrows(throwing, TypeError),
    '"TypeError"',
    '"RangeError"',
    "too far",
  );
  refuses("message", () => assertThrows(throwing, RangeError, "near"), '"near"', '"too far out"');
  refuses("no error", () =>
    assertThrows(() => {
      throw "text";
    }, Error), "non-Error");
});

Deno.test("assert package: what is rejected comes back, what isn't is refused", async () => {
  const error = new RangeError("too far out");
  const rejecting = () => Promise.reject(error);
  holds("the error comes back", await assertRejects(rejecting) === error);
  holds("typed too", (await assertRejects(rejecting, RangeError, "far")) === error);
  const refusal = async (fn: () => Promise<unknown>, part: string) => {
    const refused = await fn().then(() => undefined, (error) => error);
    holds(`${part}: ${refused?.message}`, refused instanceof AssertionError);
    holds(`${part}: ${refused.message}`, refused.message.includes(part));
  };
  await refusal(() => assertRejects(() => Promise.resolve(1), "why"), "to reject: why");
  await refusal(() => assertRejects(rejecting, TypeError), '"TypeError"');
  await refusal(() => assertRejects(rejecting, RangeError, "near"), '"near"');
  await refusal(() => assertRejects(() => Promise.reject("text"), Error), "non-Error");
  await refusal(() =>
    assertRejects(() => {
      throw error;
    }), "throws when expected to reject");
});
