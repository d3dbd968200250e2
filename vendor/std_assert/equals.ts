import { AssertionError } from "./assertion_error.ts";
import { equal } from "./equal.ts";
import { format, formatDifference, formatShort } from "./format.ts";

/** Fails unless the two are deeply equal (`equal`); the message shows where they differ. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  const head = msg ? `Values are not equal: ${msg}` : "Values are not equal.";
  throw new AssertionError(`${head}\n\n${difference(actual, expected)}\n`);
}

/** Fails if the two are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  const end = msg ? `: ${msg}` : ".";
  throw new AssertionError(
    `Expected actual: ${formatShort(actual)} not to be: ${formatShort(expected)}${end}`,
  );
}

/** Fails unless the two are the same value (`Object.is`). */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const end = msg ? `: ${msg}` : "";
  if (format(actual) === format(expected)) {
    const shown = format(actual).split("\n").map((line) => `    ${line}`).join(
      "\n",
    );
    throw new AssertionError(
      `Values have the same structure but are not reference-equal${end}\n\n${shown}\n`,
    );
  }
  throw new AssertionError(
    `Values are not strictly equal${end || "."}\n\n${difference(actual, expected)}\n`,
  );
}

/** Fails if the two are the same value (`Object.is`). */
export function assertNotStrictEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!Object.is(actual, expected)) return;
  const end = msg ? `: ${msg}` : ".";
  throw new AssertionError(
    `Expected "actual" to not be strictly equal to: ${formatShort(actual)}${end}`,
  );
}

function difference(actual: unknown, expected: unknown): string {
  if (format(actual) !== format(expected)) {
    return formatDifference(actual, expected);
  }
  // The same to the eye: say at least what kind each one is.
  const kind = (value: unknown) => Object.prototype.toString.call(value);
  return `    Both are shown as ${formatShort(actual)}; actual is ${kind(actual)}, expected ${
    kind(expected)
  }.`;
}
