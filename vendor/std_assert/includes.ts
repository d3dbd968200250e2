import { AssertionError, withReason } from "./assertion_error.ts";
import { equal } from "./equal.ts";
import { assertEquals } from "./equals.ts";
import { formatShort } from "./format.ts";

/** Something with a length and numbered elements that is no string. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

/** Fails unless each expected element deeply equals one of the actual ones, in whatever order. */
export function assertArrayIncludes<T>(
  actual: ArrayLikeArg<T>,
  expected: ArrayLikeArg<T>,
  msg?: string,
): void {
  const there = Array.from(actual);
  const missing = Array.from(expected).filter((item) => !there.some((one) => equal(one, item)));
  if (missing.length === 0) return;
  const text = `Expected actual: ${formatShort(there)} to include: ${
    formatShort(Array.from(expected))
  }`;
  throw new AssertionError(
    `${withReason(text, msg)}\nmissing: ${formatShort(missing)}`,
  );
}

/**
 * Fails unless the actual object has everything that the expected one has, deeply: objects may have
 * more keys, maps more entries, sets more members; an array's elements are matched by place, and it
 * may have more of them.
 */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- as the published signature has it: any object fits
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  if (actual === null || typeof actual !== "object") {
    throw new TypeError(
      `Cannot assertObjectMatch ${actual === null ? null : `type ${typeof actual}`}`,
    );
  }
  assertEquals(
    project(actual, expected, new Map()),
    project(expected, expected, new Map()),
    msg,
  );
}

/** Of a value only the part that the pattern speaks of, classes dropped. */
function project(
  value: unknown,
  pattern: unknown,
  seen: Map<object, Map<object, unknown>>,
): unknown {
  if (!isObject(value) || !isObject(pattern)) return value;
  if (isAtom(value) || isAtom(pattern)) return value;
  if (Array.isArray(value) !== Array.isArray(pattern)) return value;
  const made = seen.get(value)?.get(pattern);
  if (made !== undefined) return made;
  const remember = <T>(part: T): T => {
    const of = seen.get(value) ?? new Map<object, unknown>();
    seen.set(value, of.set(pattern, part));
    return part;
  };
  if (value instanceof Map && pattern instanceof Map) {
    const part = remember(new Map());
    for (const [key, one] of value) {
      if (pattern.has(key)) part.set(key, project(one, pattern.get(key), seen));
    }
    return part;
  }
  if (value instanceof Set && pattern instanceof Set) {
    return remember(new Set([...value].filter((one) => pattern.has(one))));
  }
  // Arrays become plain objects too, so that a longer one can match by its first elements.
  const part = remember({} as Record<PropertyKey, unknown>);
  for (const key of Reflect.ownKeys(value)) {
    if (!(key in pattern) || (key === "length" && Array.isArray(value))) {
      continue;
    }
    part[key] = project(
      Reflect.get(value, key),
      Reflect.get(pattern, key),
      seen,
    );
  }
  return part;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Objects that are one value, not a bag of keys. */
function isAtom(value: object): boolean {
  return value instanceof RegExp || value instanceof Date ||
    ArrayBuffer.isView(value);
}
