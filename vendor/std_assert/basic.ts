import { AssertionError, withReason } from "./assertion_error.ts";
import { formatShort } from "./format.ts";

/**
 * Fails unless the expression is truthy.
 *
 * @param expr what must hold
 * @param msg the whole message on failure
 */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** Whatever counts as false. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

/** Fails unless the expression is falsy. */
export function assertFalse(expr: unknown, msg = ""): asserts expr is Falsy {
  if (expr) throw new AssertionError(msg);
}

/** Fails on null and undefined. */
export function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(
    withReason(`Expected actual: "${actual}" to not be null or undefined`, msg),
  );
}

/** Any class. */
// deno-lint-ignore no-explicit-any -- a constructor's parameters are nobody's business here
export type AnyConstructor = new (...args: any[]) => any;

/** What a class makes. */
export type GetConstructorType<T extends AnyConstructor> = InstanceType<T>;

/** Fails unless the value is an instance of the class. */
export function assertInstanceOf<T extends AnyConstructor>(
  actual: unknown,
  expectedType: T,
  msg = "",
): asserts actual is GetConstructorType<T> {
  if (actual instanceof expectedType) return;
  const wanted = `Expected object to be an instance of "${expectedType.name}"`;
  throw new AssertionError(
    withReason(`${wanted} but was "${className(actual)}"`, msg),
  );
}

function className(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "object" ? value.constructor?.name ?? "Object" : typeof value;
}

/** Fails unless the expression matches the text somewhere. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  if (expected.test(actual)) return;
  throw new AssertionError(
    withReason(
      `Expected actual: ${formatShort(actual)} to match: ${expected}`,
      msg,
    ),
  );
}

/** Fails if the expression matches the text anywhere. */
export function assertNotMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  if (!expected.test(actual)) return;
  throw new AssertionError(
    withReason(
      `Expected actual: ${formatShort(actual)} to not match: ${expected}`,
      msg,
    ),
  );
}

/** Fails unless the text contains the other. */
export function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(
    withReason(
      `Expected actual: ${formatShort(actual)} to contain: ${formatShort(expected)}`,
      msg,
    ),
  );
}

/** Fails always. */
export function fail(msg?: string): never {
  throw new AssertionError(withReason("Failed assertion", msg));
}

/** For the branch that can't be reached: fails if it is. */
export function unreachable(reason?: string): never {
  throw new AssertionError(withReason("Unreachable", reason));
}

/** For what isn't written: fails when called. */
export function unimplemented(msg?: string): never {
  throw new AssertionError(withReason("Unimplemented", msg));
}
