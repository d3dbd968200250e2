import { stripVTControlCharacters } from "node:util";
import { AssertionError, withReason } from "./assertion_error.ts";

/** A class of errors. */
// deno-lint-ignore no-explicit-any -- a constructor's parameters are nobody's business here
type ErrorClass<E extends Error> = new (...args: any[]) => E;

/**
 * Fails unless the value is an error, of the class if one is given, with the text in its message
 * (or matched by the expression).
 */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any -- a constructor's parameters are nobody's business here
  ErrorClass?: abstract new (...args: any[]) => E,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) {
    throw new AssertionError(
      withReason(`Expected "error" to be an Error object`, msg),
    );
  }
  if (ErrorClass && !(error instanceof ErrorClass)) {
    const text = `Expected error to be instance of "${ErrorClass.name}", but was "${
      (error as Error).constructor?.name
    }" (${(error as Error).message})`;
    throw new AssertionError(withReason(text, msg), { cause: error });
  }
  if (msgMatches === undefined || messageMatches(error.message, msgMatches)) {
    return;
  }
  const wanted = msgMatches instanceof RegExp ? `${msgMatches}` : JSON.stringify(msgMatches);
  const text = `Expected error message to include ${wanted}, but got ${
    JSON.stringify(error.message)
  }`;
  throw new AssertionError(withReason(text, msg), { cause: error });
}

function messageMatches(message: string, wanted: string | RegExp): boolean {
  const plain = stripVTControlCharacters(message);
  return typeof wanted === "string"
    ? plain.includes(stripVTControlCharacters(wanted))
    : wanted.test(plain);
}

/** Fails unless the function throws; gives back what it threw. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless the function throws an error of the class with the text in its message. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: ErrorClass<E> | string,
  includesOrMsg?: string,
  msg?: string,
): unknown {
  const expected = expectation(classOrMsg, includesOrMsg, msg);
  let thrown: { readonly error: unknown } | undefined;
  try {
    fn();
  } catch (error) {
    thrown = { error };
  }
  if (!thrown) {
    throw new AssertionError(
      withReason("Expected function to throw", expected.msg),
    );
  }
  check(thrown.error, expected, "thrown");
  return thrown.error;
}

/** Fails unless the function's promise rejects; resolves to what it was rejected with. */
export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
/** Fails unless the promise rejects with an error of the class with the text in its message. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorClass<E> | string,
  includesOrMsg?: string,
  msg?: string,
): Promise<unknown> {
  const expected = expectation(classOrMsg, includesOrMsg, msg);
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
    if (typeof promise?.then !== "function") {
      throw new TypeError("no promise was returned");
    }
  } catch (cause) {
    // Thrown at once, or no promise at all: neither is a rejection.
    const text = withReason(
      "Function throws when expected to reject",
      expected.msg,
    );
    throw new AssertionError(text, { cause });
  }
  let rejected: { readonly error: unknown } | undefined;
  try {
    await promise;
  } catch (error) {
    rejected = { error };
  }
  if (!rejected) {
    throw new AssertionError(
      withReason("Expected function to reject", expected.msg),
    );
  }
  check(rejected.error, expected, "rejected");
  return rejected.error;
}

interface Expectation<E extends Error> {
  readonly ErrorClass?: ErrorClass<E> | undefined;
  readonly includes?: string | undefined;
  readonly msg?: string | undefined;
}

function expectation<E extends Error>(
  classOrMsg: ErrorClass<E> | string | undefined,
  includesOrMsg: string | undefined,
  msg: string | undefined,
): Expectation<E> {
  if (typeof classOrMsg === "string") return { msg: classOrMsg };
  if (classOrMsg === undefined) return { msg };
  return { ErrorClass: classOrMsg, includes: includesOrMsg, msg };
}

function check<E extends Error>(
  error: unknown,
  expected: Expectation<E>,
  how: string,
): void {
  if (!expected.ErrorClass) return;
  if (!(error instanceof Error)) {
    throw new AssertionError(
      withReason(`A non-Error object was ${how}`, expected.msg),
    );
  }
  assertIsError(
    error,
    expected.ErrorClass,
    expected.includes || undefined,
    expected.msg,
  );
}
