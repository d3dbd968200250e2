import { isDeepStrictEqual } from "node:util";

/**
 * Deep equality, as the assertions of this package understand it: by value, whatever the order of
 * keys, map entries and set members; `NaN` equals `NaN`, `0` equals `-0`; a key that is missing
 * differs from a key that is `undefined`; objects of different classes differ, though an object
 * without a prototype equals a plain one. Instances of a class are compared by their getters too,
 * since what they hold may be private; errors by their stack too. Cycles are followed once.
 *
 * @param a one value
 * @param b the other
 * @returns whether they are equal
 * @throws {TypeError} on two WeakMaps or two WeakSets, whose contents nobody can see
 */
export function equal(a: unknown, b: unknown): boolean {
  return same(a, b, new Map());
}

type Seen = Map<object, Set<object>>;

function same(a: unknown, b: unknown, seen: Seen): boolean {
  if (a === b || Object.is(a, b)) return true;
  if (
    typeof a !== "object" || typeof b !== "object" || a === null || b === null
  ) return false;
  if (!sameClass(a, b)) return false;
  const special = sameSpecial(a, b, seen);
  if (special !== undefined) return special;
  const partners = seen.get(a) ?? new Set<object>();
  if (partners.has(b)) return true;
  seen.set(a, partners.add(b));
  const equal = sameContents(a, b, seen) && sameProperties(a, b, seen);
  // A pair that differs must not pass for equal when a search through a set meets it again.
  if (!equal) partners.delete(b);
  return equal;
}

function sameContents(a: object, b: object, seen: Seen): boolean {
  if (a instanceof Map && b instanceof Map) return sameMap(a, b, seen);
  if (a instanceof Set && b instanceof Set) return sameSet(a, b, seen);
  return true;
}

function sameClass(a: object, b: object): boolean {
  return (Object.getPrototypeOf(a) ?? Object.prototype) ===
    (Object.getPrototypeOf(b) ?? Object.prototype);
}

/** Kinds whose value is not in their properties; undefined for all others. */
function sameSpecial(a: object, b: object, seen: Seen): boolean | undefined {
  if (a instanceof Date && b instanceof Date) {
    return Object.is(a.getTime(), b.getTime());
  }
  if (a instanceof RegExp && b instanceof RegExp) {
    return String(a) === String(b);
  }
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (a instanceof URLSearchParams && b instanceof URLSearchParams) return String(a) === String(b);
  if (a instanceof WeakRef && b instanceof WeakRef) {
    return same(a.deref(), b.deref(), seen) && sameProperties(a, b, seen);
  }
  if (a instanceof WeakMap && b instanceof WeakMap) {
    throw new TypeError("the contents of two WeakMaps can't be compared");
  }
  if (a instanceof WeakSet && b instanceof WeakSet) {
    throw new TypeError("the contents of two WeakSets can't be compared");
  }
  if (isBoxed(a) && isBoxed(b)) return same(a.valueOf(), b.valueOf(), seen);
  if (a instanceof ArrayBuffer && b instanceof ArrayBuffer) {
    return isDeepStrictEqual(a, b);
  }
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return sameView(a, b);
  if (a instanceof Error && b instanceof Error) {
    return a.name === b.name && a.message === b.message && a.stack === b.stack &&
      same(a.cause, b.cause, seen) &&
      sameProperties(a, b, seen);
  }
  return undefined;
}

function isBoxed(value: object): boolean {
  return value instanceof Number || value instanceof String ||
    value instanceof Boolean;
}

function sameView(a: ArrayBufferView, b: ArrayBufferView): boolean {
  // Floats are compared one by one because 0 and -0, which differ in bytes, are equal here.
  if (a instanceof Float32Array || a instanceof Float64Array) {
    const c = b as typeof a;
    return a.length === c.length &&
      a.every((x, i) => x === c[i] || Object.is(x, c[i]));
  }
  return isDeepStrictEqual(a, b);
}

function sameMap(
  a: Map<unknown, unknown>,
  b: Map<unknown, unknown>,
  seen: Seen,
): boolean {
  if (a.size !== b.size) return false;
  const left = new Map(b);
  for (const [key, value] of a) {
    if (left.has(key) && same(value, left.get(key), seen)) {
      left.delete(key);
      continue;
    }
    const found = [...left].find(([k, v]) => same(key, k, seen) && same(value, v, seen));
    if (!found) return false;
    left.delete(found[0]);
  }
  return true;
}

function sameSet(a: Set<unknown>, b: Set<unknown>, seen: Seen): boolean {
  if (a.size !== b.size) return false;
  const left = new Set(b);
  for (const value of a) {
    if (left.delete(value)) continue;
    let found = false;
    for (const other of left) {
      if (!same(value, other, seen)) continue;
      found = left.delete(other);
      break;
    }
    if (!found) return false;
  }
  return true;
}

function sameProperties(a: object, b: object, seen: Seen): boolean {
  const keys = comparedKeys(a);
  if (keys.length !== comparedKeys(b).length) return false;
  return keys.every((key) =>
    Object.hasOwn(b, key) && same(Reflect.get(a, key), Reflect.get(b, key), seen)
  ) && getters(a).every((key) => same(Reflect.get(a, key), Reflect.get(b, key), seen));
}

/** Of plain objects and arrays what can be enumerated; of others every property of their own. */
function comparedKeys(value: object): PropertyKey[] {
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype ||
    prototype === Array.prototype;
  if (!isPlain) return Reflect.ownKeys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  if (symbols.length === 0) return Object.keys(value);
  const enumerable = Object.prototype.propertyIsEnumerable;
  return [...Object.keys(value), ...symbols.filter((key) => enumerable.call(value, key))];
}

/** What an instance of a class of the program's own shows through its class. */
function getters(value: object): PropertyKey[] {
  const found: PropertyKey[] = [];
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && !BUILT_IN.has(prototype)) {
    for (const key of Reflect.ownKeys(prototype)) {
      if (Object.getOwnPropertyDescriptor(prototype, key)?.get !== undefined) found.push(key);
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  return found;
}

/** Their contents are compared in ways of their own. */
const BUILT_IN: ReadonlySet<object> = new Set(
  [Object, Array, Map, Set, WeakRef, Error, Date, RegExp, URL, ArrayBuffer].map((one) =>
    one.prototype
  ),
);
