import { AssertionError, withReason } from "./assertion_error.ts";
import { formatShort } from "./format.ts";

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (actual > expected) return;
  throw new AssertionError(
    withReason(`Expect ${shown(actual)} > ${shown(expected)}`, msg),
  );
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (actual >= expected) return;
  throw new AssertionError(
    withReason(`Expect ${shown(actual)} >= ${shown(expected)}`, msg),
  );
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (actual < expected) return;
  throw new AssertionError(
    withReason(`Expect ${shown(actual)} < ${shown(expected)}`, msg),
  );
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (actual <= expected) return;
  throw new AssertionError(
    withReason(`Expect ${shown(actual)} <= ${shown(expected)}`, msg),
  );
}

/**
 * Fails unless the two numbers are within `tolerance` of each other: by default a ten-millionth of
 * `expected`.
 */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ??
    (Number.isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7);
  const distance = Math.abs(expected - actual);
  if (distance <= allowed) return;
  throw new AssertionError(
    withReason(
      `Expected actual: "${actual}" to be close to "${expected}": ` +
        `delta "${distance}" is greater than "${allowed}"`,
      msg,
    ),
  );
}

function shown(value: unknown): string {
  return formatShort(value);
}
